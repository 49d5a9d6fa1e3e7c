/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message - writes the message of a denial, and the warnings of an allowed request, for the user
 * who sent it.
 */

#include "webhook/answer/internal.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

#include "planner/advice.h"
#include "webhook/answer/expiry.h"
#include "webhook/answer/rows.h"
#include "webhook/util/clean.h"

#define MAX_TITLE_BYTES 400 /* in a message; the audit annotation has the complete subject */
#define MAX_SUBJECT_IN_WARNING_BYTES 100 /* where the rest of the warning must be shown too */
#define MAX_LINE_BYTES 1024              /* so that the first finding always fits */
#define ADVICE_PREFIX "the plan would be ready: "
#define MORE_BYTES 32 /* "… and 18446744073709551615 more" */

/* The reason of a denial, as the end of a sentence. */
static const char *why(const struct decision *d)
{
    switch (d->outcome) {
    case OUTCOME_NEEDS_MORE_EVIDENCE:
        return "its sandbox plan needs more evidence";
    case OUTCOME_REFUSED:
        return "its sandbox plan asks for more than is allowed";
    case OUTCOME_UNSUPPORTED_RUNTIME_SHAPE:
        return "its sandbox plan asks for something that a Runx sandbox cannot express";
    case OUTCOME_BLOCKED:
        return "its sandbox plan is ready, but the pod does not meet it";
    case OUTCOME_UNUSABLE:
        return "it cannot be judged";
    case OUTCOME_UNDECIDED:
    case OUTCOME_READY:
    case OUTCOME_EXEMPT:
    case OUTCOME_UNMANAGED:
    case OUTCOME_UNCHANGED:
    case OUTCOME_NOT_EVALUATED:
    case OUTCOME_LEFT_UNDECIDED:
        break;
    }
    return "it was not decided";
}

/* Replaces control characters in the part of the buffer that was added after `start`. */
static void clean_from(struct buffer *b, size_t start)
{
    if (b->ptr != NULL && b->error == 0)
        b->len = start + clean_text(b->ptr + start, b->len - start);
}

/* `code at place: message; what to do`, without a line feed, cut at MAX_LINE_BYTES. */
static int make_line(const struct answer_row *row, struct arena *arena, struct str *ret_line)
{
    struct str place = str_cut(row->place, MAX_LINE_BYTES);
    struct buffer b = buffer_make(arena, 8 * MAX_LINE_BYTES);
    struct str line = {0};

    buffer_add(&b, row->code);
    if (str_present(place)) {
        buffer_add(&b, STR(" at "));
        buffer_add(&b, place);
    }
    buffer_add(&b, STR(": "));
    buffer_add(&b, str_cut(row->message, MAX_LINE_BYTES));
    if (row->hint != NULL) {
        buffer_add(&b, STR("; "));
        buffer_add(&b, str_of(row->hint));
    }
    clean_from(&b, 0);
    line = buffer_text(&b);
    if (!str_present(line))
        return -ENOMEM;
    *ret_line = str_cut(line, MAX_LINE_BYTES);
    return 0;
}

/* As many lines as fit, the number of the others, and what follows from them. */
static int add_lines(struct buffer *b, const struct decision *d, struct arena *arena)
{
    struct answer_rows rows = {0};
    struct str also = {0};
    size_t reserved = 0;
    int r = answer_rows_make(d, arena, &rows);

    if (r == 0)
        r = answer_consequences(&rows, arena, &also);
    if (r < 0)
        return r;
    reserved = str_present(also) ? also.len + 1 : 0;
    for (size_t i = 0; i < rows.cause_count; i++) {
        size_t left = ANSWER_MAX_MESSAGE_BYTES - reserved - b->len;
        struct str line = {0};

        r = make_line(&rows.items[i], arena, &line);
        if (r < 0)
            return r;
        if (line.len + 1 + (i + 1 < rows.cause_count ? MORE_BYTES + 1 : 0) > left) {
            buffer_add_format(b, "\n… and %zu more", rows.cause_count - i + d->finding_more);
            break;
        }
        buffer_add_char(b, '\n');
        buffer_add(b, line);
    }
    if (str_present(also)) {
        buffer_add_char(b, '\n');
        buffer_add(b, also);
    }
    return 0;
}

int answer_advice(const struct decision *decision, struct arena *arena, struct str *ret_advice)
{
    struct advice advice = {0};
    int r = 0;

    *ret_advice = (struct str){0};
    if (!decision->planned || plan_admits(&decision->plan))
        return 0;
    r = advice_make(decision->plan_input, arena, &advice);
    return r == 0 ? advice_text(&advice, arena, ret_advice) : r;
}

/* After the findings, if the whole advice fits: a part of it would be wrong. */
static int add_advice(struct buffer *b, const struct decision *d, struct arena *arena)
{
    struct str advice = {0};
    size_t start = b->len;
    int r = answer_advice(d, arena, &advice);

    assert(start <= ANSWER_MAX_MESSAGE_BYTES);
    if (r < 0 || !str_present(advice) ||
        start + sizeof(ADVICE_PREFIX) + advice.len > ANSWER_MAX_MESSAGE_BYTES)
        return r;
    buffer_add(b, STR("\n" ADVICE_PREFIX));
    buffer_add(b, advice);
    clean_from(b, start + 1);
    return 0;
}

int answer_message(const struct decision *decision, struct arena *arena, struct str *ret_message)
{
    struct buffer b = buffer_make(arena, ANSWER_MAX_MESSAGE_BYTES);
    struct str message = {0};
    int r = 0;

    buffer_add(&b, str_cut(decision->title, MAX_TITLE_BYTES));
    buffer_add_format(&b, " is refused: %s", why(decision));
    clean_from(&b, 0);
    r = add_lines(&b, decision, arena);
    if (r == 0)
        r = add_advice(&b, decision, arena);
    if (r < 0)
        return r;
    message = buffer_text(&b);
    if (!str_present(message))
        return -ENOMEM;
    *ret_message = message;
    return 0;
}

/* Adds a warning without control characters, cut at ANSWER_MAX_WARNING_CHARS. */
static int add_warning(struct arena *arena, struct str text, struct str *warnings, size_t *count)
{
    char *copy = arena_copy(arena, text);
    struct str s = {.ptr = copy, .len = text.len};
    struct str cut = {0};

    assert(*count < ANSWER_MAX_WARNINGS);
    if (copy == NULL)
        return -ENOMEM;
    s.len = clean_text(copy, s.len);
    cut = clean_cut_characters(s, ANSWER_MAX_WARNING_CHARS);
    if (cut.len < s.len) {
        cut = clean_cut_characters(s, ANSWER_MAX_WARNING_CHARS - 1);
        cut = arena_format(arena, "%.*s…", (int)cut.len, cut.ptr);
        if (!str_present(cut))
            return -ENOMEM;
    }
    warnings[(*count)++] = cut;
    return 0;
}

static int warn_of_expiries(const struct decision *d, struct arena *arena, struct str *warnings,
                            size_t *count)
{
    for (size_t i = 0; i < d->expiry_count; i++) {
        const struct answer_expiry expiry = {
            .kind = str_of(d->expiries[i].kind),
            .name = str_cut(d->expiries[i].name, MAX_LINE_BYTES),
            .at = d->expiries[i].at,
        };
        struct str text = {0};
        int r = answer_expiry_write(&expiry, arena, &text);

        if (r == 0)
            r = add_warning(arena, text, warnings, count);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Only if the whole advice fits into a warning. */
static int warn_with_advice(const struct decision *d, struct arena *arena, struct str *warnings,
                            size_t *count)
{
    struct str advice = {0}, text = {0};
    int r = answer_advice(d, arena, &advice);

    if (r < 0 || !str_present(advice) ||
        sizeof("sandgate: " ADVICE_PREFIX) + advice.len > ANSWER_MAX_WARNING_CHARS)
        return r;
    text = arena_format(arena, "sandgate: " ADVICE_PREFIX "%.*s", (int)advice.len, advice.ptr);
    return str_present(text) ? add_warning(arena, text, warnings, count) : -ENOMEM;
}

/* One warning for each finding that fits, the number of the others, and what follows from them. */
static int warn_of_rows(const struct decision *d, struct arena *arena, struct str *warnings,
                        size_t *count)
{
    struct answer_rows rows = {0};
    struct str also = {0}, text = {0};
    int r = answer_rows_make(d, arena, &rows);

    if (r == 0)
        r = answer_consequences(&rows, arena, &also);
    for (size_t i = 0; r == 0 && i < rows.cause_count; i++) {
        size_t reserved = str_present(also) ? 1 : 0;

        if (*count + 1 + reserved == ANSWER_MAX_WARNINGS && i + 1 < rows.cause_count) {
            text = arena_format(arena, "sandgate: … and %zu more",
                                rows.cause_count - i + d->finding_more);
            r = str_present(text) ? add_warning(arena, text, warnings, count) : -ENOMEM;
            break;
        }
        r = make_line(&rows.items[i], arena, &text);
        if (r == 0)
            r = add_warning(arena, text, warnings, count);
    }
    return r == 0 && str_present(also) ? add_warning(arena, also, warnings, count) : r;
}

/* Whether the user is warned of what blocks. */
static bool warns_of_findings(const struct decision *d)
{
    return d->violates_warn || d->would_deny_enforce;
}

static int warn_of_findings(const struct decision *d, struct arena *arena, struct str *warnings,
                            size_t *count)
{
    struct str title = str_cut(d->title, MAX_TITLE_BYTES);
    struct str text =
        arena_format(arena,
                     d->would_deny_enforce ? "sandgate: pods of %.*s will be refused: %s"
                                           : "sandgate: %.*s would not be admitted: %s",
                     (int)title.len, title.ptr, why(d));
    int r = str_present(text) ? add_warning(arena, text, warnings, count) : -ENOMEM;

    if (r == 0)
        r = warn_of_rows(d, arena, warnings, count);
    return r == 0 && *count < ANSWER_MAX_WARNINGS ? warn_with_advice(d, arena, warnings, count) : r;
}

/* Whether a finding of the boundary is a warning: it contradicts the declaration, and is not among
 * the findings that the user is warned of already. */
static bool warns(const struct decision *d, const struct boundary_finding *f)
{
    return boundary_code_state(f->code) == BOUNDARY_CONTRADICTED &&
           !(warns_of_findings(d) && gate_boundary_blocks(d, f));
}

static int warn_of_boundary(const struct decision *d, struct arena *arena, struct str *warnings,
                            size_t *count)
{
    size_t left = 0;
    int r = 0;

    for (size_t i = 0; i < d->boundary.finding_count; i++)
        left += warns(d, &d->boundary.findings[i]) ? 1 : 0;
    for (int i = 0; i < BOUNDARY_CODE_COUNT; i++)
        left += warns(d, &(struct boundary_finding){.code = (enum boundary_code)i})
                    ? d->boundary.more[i]
                    : 0;
    for (size_t i = 0; r == 0 && left > 0 && *count < ANSWER_MAX_WARNINGS; i++) {
        const struct boundary_finding *f = &d->boundary.findings[i];
        struct answer_row row = {.code = str_of(boundary_code_text(f->code)),
                                 .place = f->place.len > 0 ? f->place : (struct str){0}};
        struct str text = {0};

        if (!warns(d, f))
            continue;
        if (left > 1 && *count + 1 == ANSWER_MAX_WARNINGS) {
            text = arena_format(arena, "sandgate: … and %zu more", left);
            r = str_present(text) ? add_warning(arena, text, warnings, count) : -ENOMEM;
            break;
        }
        r = boundary_message(f, arena, &row.message);
        if (r == 0)
            r = make_line(&row, arena, &text);
        if (r == 0)
            r = add_warning(arena, text, warnings, count);
        left--;
    }
    return r;
}

/* The one warning of a request that was allowed without a decision. */
static int warn_of_no_decision(const struct decision *d, struct arena *arena, struct str *warnings,
                               size_t *count)
{
    struct str subject = str_cut(d->subject, MAX_SUBJECT_IN_WARNING_BYTES);
    struct str text = arena_format(
        arena,
        "sandgate: %.*s was not evaluated: the gate cannot learn the present state from the API "
        "server; by what it knows, nothing denies this request",
        (int)subject.len, subject.ptr);

    return str_present(text) ? add_warning(arena, text, warnings, count) : -ENOMEM;
}

int answer_warnings(const struct decision *decision, struct arena *arena,
                    struct str ret_warnings[static ANSWER_MAX_WARNINGS], size_t *ret_count)
{
    size_t count = 0;
    int r = 0;

    if (decision->allowed)
        r = warn_of_expiries(decision, arena, ret_warnings, &count);
    if (r == 0 && decision->allowed && warns_of_findings(decision))
        r = warn_of_findings(decision, arena, ret_warnings, &count);
    if (r == 0 && decision->allowed && decision->boundary_read &&
        decision->levels.boundary >= BOUNDARY_LEVEL_WARN && decision->exemption == NULL)
        r = warn_of_boundary(decision, arena, ret_warnings, &count);
    if (r == 0 && decision->allowed && decision->outcome == OUTCOME_LEFT_UNDECIDED)
        r = warn_of_no_decision(decision, arena, ret_warnings, &count);
    if (r == 0)
        *ret_count = count;
    return r;
}
