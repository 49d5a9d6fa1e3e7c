/* SPDX-License-Identifier: Apache-2.0 */
/* review_print - prints a report as tables, and reports what was not read or not kept. */

#include <assert.h>
#include <errno.h>
#include <stdio.h>

#include "planner/base/buffer.h"
#include "webhook/cli/output.h"
#include "webhook/commands/review.h"
#include "webhook/commands/unreadable.h"
#include "webhook/util/clean.h"

#define MAX_CELL_BYTES ((size_t)64 * 1024)
#define MAX_CELL_CHARACTERS 100
#define SHOWN_CODES 2 /* in one cell; the others are counted */
#define TIME_BYTES 19 /* of a time in a table, without fraction and zone */

static enum output_colour colour_of(enum event_verdict verdict)
{
    switch (verdict) {
    case EVENT_DENIED:
        return COLOUR_BAD;
    case EVENT_VIOLATES:
    case EVENT_UNKNOWN:
        return COLOUR_WARN;
    case EVENT_ALLOWED:
        break;
    }
    return COLOUR_GOOD;
}

/* `2026-03-01T12:00:00Z` without the fraction; another zone or form is printed unchanged. */
static struct str short_time(struct str time, struct arena *arena)
{
    if (time.len > TIME_BYTES + 1 && time.ptr[TIME_BYTES] == '.' && time.ptr[time.len - 1] == 'Z')
        return arena_format(arena, "%.*sZ", TIME_BYTES, time.ptr);
    return time.len > 0 ? time : STR("-");
}

/* A long name is cut, so that the columns stay narrow; -o json has the whole name. */
static struct str cell_text(struct str s, struct arena *arena)
{
    struct str cut = clean_cut_characters(s, MAX_CELL_CHARACTERS);

    return cut.len < s.len ? arena_format(arena, "%.*s…", (int)cut.len, cut.ptr) : s;
}

static struct str object_text(const struct event *e, struct arena *arena)
{
    struct str name = e->workload.len > 0 ? e->workload : e->name;

    struct str text =
        arena_format(arena, "%.*s/%.*s/%.*s", (int)e->namespace_name.len,
                     str_present(e->namespace_name) ? e->namespace_name.ptr : "",
                     (int)e->object_kind.len, str_present(e->object_kind) ? e->object_kind.ptr : "",
                     (int)name.len, str_present(name) ? name.ptr : "");

    return cell_text(text, arena);
}

static struct str codes_text(const struct event *e, struct arena *arena)
{
    struct buffer b = buffer_make(arena, MAX_CELL_BYTES);
    size_t shown = 0, more = 0;

    buffer_add(&b, STR(""));
    for (size_t i = 0; i < e->finding_count; i++) {
        if (i > 0 && str_equal(e->findings[i].code, e->findings[i - 1].code))
            continue;
        if (shown == SHOWN_CODES) {
            more++;
            continue;
        }
        if (shown++ > 0)
            buffer_add(&b, STR(", "));
        buffer_add(&b, cell_text(e->findings[i].code, arena));
    }
    if (more > 0)
        buffer_add_format(&b, " and %zu more", more);
    return buffer_text(&b);
}

static struct str user_text(const struct report_texts *users, struct arena *arena)
{
    struct str first = {0};

    if (users->count == 0)
        return STR("-");
    if (users->count == 1 && users->left_out == 0)
        return cell_text(users->items[0], arena);
    first = cell_text(users->items[0], arena);
    return arena_format(arena, "%.*s and %zu more", (int)first.len, first.ptr,
                        users->count - 1 + users->left_out);
}

static struct str number_text(uint64_t number, struct arena *arena)
{
    return arena_format(arena, "%llu", (unsigned long long)number);
}

static int print_table(struct table *table)
{
    int r = table_print(table, stdout);

    fputc('\n', stdout);
    return r;
}

static int print_rows(const struct report *report, struct arena *arena)
{
    struct table table = table_make(arena, 7);

    if (report->row_count == 0)
        return 0;
    table_add(&table, (struct table_cell[]){{STR("LAST"), COLOUR_FAINT},
                                            {STR("COUNT"), COLOUR_FAINT},
                                            {STR("VERDICT"), COLOUR_FAINT},
                                            {STR("OBJECT"), COLOUR_FAINT},
                                            {STR("OUTCOME"), COLOUR_FAINT},
                                            {STR("USER"), COLOUR_FAINT},
                                            {STR("FINDINGS"), COLOUR_FAINT}});
    for (size_t i = 0; i < report->row_count; i++) {
        const struct report_row *row = report->rows[i];
        const struct event *e = &row->event;
        struct table_cell cells[] = {
            {.text = short_time(row->last_text, arena)},
            {.text = number_text(row->count, arena)},
            {str_of(event_verdict_text(e->verdict)), colour_of(e->verdict)},
            {.text = object_text(e, arena)},
            {.text = e->outcome},
            {.text = user_text(&row->users, arena)},
            {.text = codes_text(e, arena)},
        };

        table_add(&table, cells);
    }
    return print_table(&table);
}

static int print_namespaces(const struct report *report, struct arena *arena)
{
    struct table table = table_make(arena, 5);

    if (report->namespaces.count == 0)
        return 0;
    table_add(&table, (struct table_cell[]){{STR("NAMESPACE"), COLOUR_FAINT},
                                            {STR("DENIED"), COLOUR_FAINT},
                                            {STR("VIOLATES"), COLOUR_FAINT},
                                            {STR("OTHER"), COLOUR_FAINT},
                                            {STR("ROWS"), COLOUR_FAINT}});
    for (size_t i = 0; i < report->namespaces.count; i++) {
        const struct report_sum *s = &report->namespaces.items[i];
        struct table_cell cells[] = {
            {.text = cell_text(s->name, arena)},
            {number_text(s->denied, arena), s->denied > 0 ? COLOUR_BAD : COLOUR_PLAIN},
            {.text = number_text(s->violates, arena)},
            {.text = number_text(s->other, arena)},
            {.text = number_text(s->rows, arena)},
        };

        table_add(&table, cells);
    }
    return print_table(&table);
}

static int print_findings(const struct report *report, struct arena *arena)
{
    struct table table = table_make(arena, 4);

    if (report->codes.count == 0)
        return 0;
    table_add(&table, (struct table_cell[]){{STR("FINDING"), COLOUR_FAINT},
                                            {STR("EVENTS"), COLOUR_FAINT},
                                            {STR("ROWS"), COLOUR_FAINT},
                                            {STR("WHAT TO DO"), COLOUR_FAINT}});
    for (size_t i = 0; i < report->codes.count; i++) {
        const struct report_sum *s = &report->codes.items[i];
        const char *hint = report_hint(s->name);
        struct table_cell cells[] = {
            {.text = cell_text(s->name, arena)},
            {.text = number_text(s->denied + s->violates + s->other, arena)},
            {.text = number_text(s->rows, arena)},
            {.text = hint != NULL ? str_of(hint) : STR("-")},
        };

        table_add(&table, cells);
    }
    return print_table(&table);
}

static int print_expiries(const struct report *report, struct arena *arena)
{
    struct table table = table_make(arena, 4);

    if (report->expiry_count == 0)
        return 0;
    table_add(&table, (struct table_cell[]){{STR("ENDS"), COLOUR_FAINT},
                                            {STR("WHAT"), COLOUR_FAINT},
                                            {STR("NAME"), COLOUR_FAINT},
                                            {STR("LAST USED"), COLOUR_FAINT}});
    for (size_t i = 0; i < report->expiry_count; i++) {
        const struct report_expiry *l = &report->expiries[i];
        char at[MOMENT_TEXT_BYTES] = "";
        struct table_cell cells[4] = {{.colour = COLOUR_WARN}};

        moment_write(l->at, at);
        cells[0].text = str_of(at);
        cells[1].text = l->kind;
        cells[2].text = l->name;
        cells[3].text = short_time(l->last_text, arena);
        table_add(&table, cells);
    }
    return print_table(&table);
}

/* `new` or `gone`; NULL if it is in both reports. */
static const char *change_text(const struct report_change *c)
{
    if (c->before == 0)
        return "new";
    return c->now == 0 ? "gone" : NULL;
}

static int print_changes(const struct report *report, struct arena *arena)
{
    struct table table = table_make(arena, 5);
    size_t shown = 0;

    if (!report->changes.compared)
        return 0;
    table_add(&table, (struct table_cell[]){{STR("CHANGE"), COLOUR_FAINT},
                                            {STR("BEFORE"), COLOUR_FAINT},
                                            {STR("NOW"), COLOUR_FAINT},
                                            {STR("WORKLOAD"), COLOUR_FAINT},
                                            {STR("FINDING"), COLOUR_FAINT}});
    for (size_t i = 0; i < report->changes.count; i++) {
        const struct report_change *c = &report->changes.items[i];
        const struct event e = {
            .namespace_name = c->namespace_name, .object_kind = c->kind, .workload = c->workload};
        bool of_all = !str_present(c->workload);
        const char *change = of_all ? "total" : change_text(c);
        struct table_cell cells[] = {
            {str_of(change), c->before == 0 ? COLOUR_BAD
                             : of_all       ? COLOUR_PLAIN
                                            : COLOUR_GOOD},
            {.text = number_text(c->before, arena)},
            {.text = number_text(c->now, arena)},
            {.text = of_all ? STR("-") : object_text(&e, arena)},
            {.text = c->code.len > 0 ? c->code : STR("-")},
        };

        if (change == NULL || (of_all && c->before == c->now))
            continue;
        table_add(&table, cells);
        shown++;
    }
    if (shown > 0)
        return print_table(&table);
    printf("No changes since the earlier report.\n\n");
    return 0;
}

static void print_totals(const struct report *report)
{
    const struct report_totals *t = &report->totals;

    printf("%llu denied, %llu violating, %llu unknown, %llu allowed; "
           "%llu decisions in %llu lines of %llu %s",
           (unsigned long long)t->denied, (unsigned long long)t->violates,
           (unsigned long long)t->unknown, (unsigned long long)t->allowed,
           (unsigned long long)t->decisions, (unsigned long long)t->texts,
           (unsigned long long)t->files, t->files == 1 ? "file" : "files");
    if (t->repeated > 0)
        printf("; %llu repeated, counted once", (unsigned long long)t->repeated);
    if (t->filtered_out > 0)
        printf("; %llu filtered out", (unsigned long long)t->filtered_out);
    fputc('\n', stdout);
}

static int print_page(const struct report *report)
{
    struct arena cleanup_arena arena = {0};
    int r = print_rows(report, &arena);

    if (r == 0)
        r = print_namespaces(report, &arena);
    if (r == 0)
        r = print_findings(report, &arena);
    if (r == 0)
        r = print_expiries(report, &arena);
    if (r == 0)
        r = review_print_boundary(&report->boundary, &arena);
    if (r == 0)
        r = print_changes(report, &arena);
    if (r == 0)
        print_totals(report);
    return r;
}

int review_print(const struct log_review *review)
{
    switch (review->output) {
    case REVIEW_OUTPUT_JSON:
        return review->streaming ? 0 : report_json(&review->report, stdout);
    case REVIEW_OUTPUT_CSV:
        return review->streaming ? 0 : report_csv(&review->report, stdout);
    case REVIEW_OUTPUT_HTML:
        return report_html(&review->report, stdout);
    case REVIEW_OUTPUT_TABLE:
        break;
    }
    if (review->streaming)
        fputc('\n', stdout);
    return print_page(&review->report);
}

static int print_line(const struct event *event)
{
    struct arena cleanup_arena arena = {0};
    struct str texts[] = {
        short_time(event->time_text, &arena),
        str_of(event_verdict_text(event->verdict)),
        object_text(event, &arena),
        event->outcome,
        event->user,
        codes_text(event, &arena),
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct str shown = output_visible(&arena, texts[i]);

        if (!str_present(shown))
            return -ENOMEM;
        if (i > 0)
            fputs("  ", stdout);
        output_print(stdout, i == 1 ? colour_of(event->verdict) : COLOUR_PLAIN, shown);
    }
    fputc('\n', stdout);
    return 0;
}

int review_print_event(const struct log_review *review, const struct event *event,
                       const struct report_row *row)
{
    switch (review->output) {
    case REVIEW_OUTPUT_JSON:
        return row != NULL ? report_json_row(row, stdout) : 0;
    case REVIEW_OUTPUT_CSV:
        return row != NULL ? report_csv_row(row, stdout) : 0;
    case REVIEW_OUTPUT_HTML:
        assert(false); /* the options exclude it */
        return -EINVAL;
    case REVIEW_OUTPUT_TABLE:
        break;
    }
    return print_line(event);
}

void review_print_losses(const struct report *report)
{
    const struct report_totals *t = &report->totals;
    const struct {
        uint64_t number;
        const char *what;
    } losses[] = {
        {t->log_truncated, "events truncated by the API server"},
        {t->without_bodies, "events read without their objects, which are not valid JSON"},
        {t->untimed, "decisions without a valid time"},
        {t->rows_left_out, "decisions over the limit of rows, counted in the totals only"},
        {t->details_left_out, "rows without packet, input and messages: over the memory limit"},
        {t->expiries_left_out, "expiries of evidence over the limit"},
        {report->namespaces.left_out, "decisions in namespaces over the limit"},
        {report->changes.left_out, "changes over the limit"},
        {report->boundary.broken, "readings of a pod's own spec that cannot be understood"},
        {report->boundary.workloads_left_out,
         "admissions over the limit of workloads, not counted by control"},
        {report->boundary.namespaces_left_out,
         "readings of a pod's own spec in namespaces over the limit"},
    };

    unreadable_print(&t->unread);
    for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
        if (losses[i].number > 0)
            output_error("%llu %s", (unsigned long long)losses[i].number, losses[i].what);
    }
}
