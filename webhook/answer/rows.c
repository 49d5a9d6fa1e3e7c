/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows - orders the findings of a decision, and decides which of them follow from others.
 */

#include "webhook/answer/rows.h"

#include <errno.h>
#include <inttypes.h>

#include "planner/base/buffer.h"
#include "planner/base/tree.h"
#include "webhook/answer/hint.h"

/* The codes of gate and planner in one range. */
#define GATE(name) ((int)GATE_CODE_##name)
#define PLAN(name) ((int)GATE_CODE_COUNT + (int)PLAN_CODE_##name)
#define CODE_COUNT ((size_t)GATE_CODE_COUNT + (size_t)PLAN_CODE_COUNT)
#define SECONDS_PER_HOUR INT64_C(3600)
#define NO_CAUSE (-1)
#define MAX_CAUSES 5

/*
 * What follows from what. A finding follows from any one of its causes: as long as the cause is
 * there the finding is there too, and it says nothing of its own.
 *
 *   without an annotation there is no identity;
 *   a malformed identity is that of no document: the same rule is applied to what is signed;
 *   without exactly one identity no evidence is searched for, and without evidence in use there are
 *   no requirements: their time and provenance are absent then, and nothing lists an image.
 *
 * Expired evidence still lists images, so an unlisted image is a finding of its own beside it.
 */
static const struct {
    int code;
    int causes[MAX_CAUSES];
} consequences[] = {
    {GATE(EVIDENCE_MISSING), {PLAN(WORKLOAD_SKILL_REF), PLAN(WORKLOAD_DIGEST), NO_CAUSE}},
    {GATE(IMAGE_UNLISTED),
     {GATE(ANNOTATION_MISSING), PLAN(WORKLOAD_IDENTITY), GATE(EVIDENCE_MISSING),
      GATE(EVIDENCE_CONFLICT), NO_CAUSE}},
    {PLAN(WORKLOAD_IDENTITY), {GATE(ANNOTATION_MISSING), NO_CAUSE}},
    {PLAN(TIME_MISSING),
     {GATE(ANNOTATION_MISSING), PLAN(WORKLOAD_IDENTITY), GATE(EVIDENCE_MISSING),
      GATE(EVIDENCE_EXPIRED), GATE(EVIDENCE_CONFLICT)}},
    {PLAN(REQUIREMENTS_PROVENANCE),
     {GATE(ANNOTATION_MISSING), PLAN(WORKLOAD_IDENTITY), GATE(EVIDENCE_MISSING),
      GATE(EVIDENCE_EXPIRED), GATE(EVIDENCE_CONFLICT)}},
};

/* The state of one call of answer_rows_make(). */
struct rows_writer {
    const struct decision *decision;
    struct arena *arena;
    bool found[CODE_COUNT]; /* the codes of all findings */
    bool states_image;      /* the identity is an image, which is known without evidence */
    struct answer_row *items;
    size_t count;
};

static bool states_image(const struct decision *d)
{
    const cJSON *workload = d->planned ? tree_get(d->plan_input, "workload") : NULL;

    return !str_present(tree_get_text(workload, "skill_ref")) &&
           str_is_sha256(tree_get_text(workload, "image_digest"));
}

static bool follows(const struct rows_writer *w, int code)
{
    if (code == GATE(IMAGE_UNLISTED) && w->states_image)
        return false;
    for (size_t i = 0; i < sizeof(consequences) / sizeof(consequences[0]); i++) {
        const int *causes = consequences[i].causes;

        if (consequences[i].code != code)
            continue;
        for (size_t c = 0; c < MAX_CAUSES && causes[c] != NO_CAUSE; c++) {
            if (w->found[causes[c]])
                return true;
        }
    }
    return false;
}

/* From a to b, in whole seconds; the fraction is dropped. */
static int64_t seconds_between(struct moment a, struct moment b)
{
    return b.sec - a.sec - (b.nsec < a.nsec ? 1 : 0);
}

/* Not exact: retries of one pod should give the same message for a while. */
static struct str duration_text(int64_t seconds, struct arena *arena)
{
    bool in_days = seconds >= MOMENT_SECONDS_PER_DAY;
    int64_t number = seconds / (in_days ? MOMENT_SECONDS_PER_DAY : SECONDS_PER_HOUR);

    if (number == 0)
        return STR("less than an hour");
    return arena_format(arena, "%" PRId64 " %s%s", number, in_days ? "day" : "hour",
                        number == 1 ? "" : "s");
}

/* The planner has one finding for requirements that are too old and for those of the future. Its
 * message is fixed by the planner contract, and stays where the input cannot be read. Otherwise the
 * row says which of the two, and by how much. */
static int explain_stale(const struct rows_writer *w, struct answer_row *row)
{
    const cJSON *input = w->decision->plan_input;
    const cJSON *requirements = tree_get(tree_get(input, "workload"), "requirements");
    struct moment as_of = {0}, observed_at = {0};
    int days = PLAN_DEFAULT_AGE_DAYS; /* where max_age_days is out of range, as in the planner */
    struct str by = {0}, allowed = {0};
    bool in_future = false;

    (void)plan_read_max_age(tree_get(input, "max_age_days"), &days);
    if (!moment_read(tree_get_text(input, "as_of"), &as_of) ||
        !moment_read(str_trim(tree_get_text(requirements, "observed_at")), &observed_at))
        return 0;
    allowed = duration_text(days * MOMENT_SECONDS_PER_DAY, w->arena);
    in_future = moment_compare(observed_at, as_of) > 0;
    by = duration_text(in_future
                           ? seconds_between(as_of, observed_at)
                           : seconds_between(observed_at, as_of) - days * MOMENT_SECONDS_PER_DAY,
                       w->arena);
    if (!str_present(allowed) || !str_present(by))
        return -ENOMEM;
    row->message =
        in_future ? arena_format(w->arena, "observed_at is %.*s in the future", (int)by.len, by.ptr)
                  : arena_format(w->arena, "observed_at is %.*s older than the allowed %.*s",
                                 (int)by.len, by.ptr, (int)allowed.len, allowed.ptr);
    if (in_future)
        row->hint = "check the clock of the machine that signs, and sign the requirements again";
    return str_present(row->message) ? 0 : -ENOMEM;
}

/* Adds the findings that follow, or those that do not. */
static int add_rows(struct rows_writer *w, bool wanted)
{
    const struct decision *d = w->decision;

    for (size_t i = 0; i < d->finding_count; i++) {
        const struct gate_finding *f = &d->findings[i];

        if (follows(w, (int)f->code) == wanted)
            w->items[w->count++] = (struct answer_row){
                .code = str_of(gate_code_text(f->code)), .place = f->place, .message = f->message};
    }
    for (size_t i = 0; d->planned && i < d->plan.finding_count; i++) {
        const struct plan_finding *f = &d->plan.findings[i];
        struct answer_row *row = &w->items[w->count];

        if (follows(w, (int)GATE_CODE_COUNT + (int)f->code) != wanted)
            continue;
        *row = (struct answer_row){.code = str_of(plan_code_text(f->code)),
                                   .message = f->message,
                                   .hint = answer_hint(f->code)};
        w->count++;
        if (f->code == PLAN_CODE_REQUIREMENTS_STALE) {
            int r = explain_stale(w, row);

            if (r < 0)
                return r;
        }
    }
    return 0;
}

int answer_rows_make(const struct decision *d, struct arena *arena, struct answer_rows *ret_rows)
{
    size_t plan_count = d->planned ? d->plan.finding_count : 0;
    struct rows_writer w = {.decision = d, .arena = arena, .states_image = states_image(d)};
    size_t causes = 0;
    int r = 0;

    w.items = arena_alloc(arena, d->finding_count + plan_count, sizeof(*w.items));
    if (w.items == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < d->finding_count; i++)
        w.found[d->findings[i].code] = true;
    for (size_t i = 0; i < plan_count; i++)
        w.found[(size_t)GATE_CODE_COUNT + d->plan.findings[i].code] = true;
    r = add_rows(&w, false);
    causes = w.count;
    if (r == 0)
        r = add_rows(&w, true);
    if (r < 0)
        return r;
    *ret_rows = (struct answer_rows){.items = w.items, .cause_count = causes, .count = w.count};
    return 0;
}

/* Equal codes are next to each other. */
int answer_consequences(const struct answer_rows *rows, struct arena *arena, struct str *ret_text)
{
    struct buffer b = buffer_make(arena, SIZE_MAX / 2);
    struct str text = {0};

    if (rows->cause_count == rows->count) {
        *ret_text = (struct str){0};
        return 0;
    }
    for (size_t i = rows->cause_count; i < rows->count; i++) {
        struct str code = rows->items[i].code;

        if (i > rows->cause_count && str_equal(code, rows->items[i - 1].code))
            continue;
        buffer_add(&b, i == rows->cause_count ? STR("also, as a consequence: ") : STR(", "));
        buffer_add(&b, code);
    }
    text = buffer_text(&b);
    if (!str_present(text))
        return -ENOMEM;
    *ret_text = text;
    return 0;
}
