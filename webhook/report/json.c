/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json - writes a report as JSON.
 *
 * cJSON's printer is not used: rows are written one at a time, so that a large report is never in
 * memory as one text, and some characters need escapes that cJSON does not write (json.h).
 */

#include "webhook/report/json.h"

#include <errno.h>

#include "webhook/report/internal.h"

#define MAX_ROW_JSON_BYTES ((size_t)8 << 20)
#define MAX_PART_JSON_BYTES ((size_t)32 << 20)

/* A member with its comma; nothing if the text is absent or empty. */
static void add_text(struct buffer *b, const char *name, struct str text)
{
    if (!str_present(text) || text.len == 0)
        return;
    buffer_add_format(b, ",\"%s\":", name);
    report_add_safe(b, text);
}

static void add_number(struct buffer *b, const char *name, uint64_t number)
{
    buffer_add_format(b, ",\"%s\":%llu", name, (unsigned long long)number);
}

static void add_texts(struct buffer *b, const char *name, const struct report_texts *texts)
{
    buffer_add_format(b, ",\"%s\":[", name);
    for (size_t i = 0; i < texts->count; i++) {
        if (i > 0)
            buffer_add_char(b, ',');
        report_add_safe(b, texts->items[i]);
    }
    buffer_add_char(b, ']');
    if (texts->left_out > 0)
        buffer_add_format(b, ",\"%sLeftOut\":%zu", name, texts->left_out);
}

static void add_findings(struct buffer *b, const struct event *event)
{
    buffer_add(b, STR(",\"findings\":["));
    for (size_t i = 0; i < event->finding_count; i++) {
        const struct event_finding *f = &event->findings[i];

        buffer_add(b, i > 0 ? STR(",{\"code\":") : STR("{\"code\":"));
        report_add_safe(b, f->code);
        add_text(b, "place", f->place);
        add_text(b, "message", f->message);
        add_text(b, "source", f->of_planner ? STR("planner") : STR("gate"));
        buffer_add_char(b, '}');
    }
    buffer_add_char(b, ']');
    if (event->findings_left_out > 0)
        add_number(b, "findingsLeftOut", event->findings_left_out);
}

static void add_json(struct buffer *b, const char *name, struct str json)
{
    if (!str_present(json))
        return;
    buffer_add_format(b, ",\"%s\":", name);
    report_add_safe_json(b, json);
}

static void add_flag(struct buffer *b, const char *name, bool flag)
{
    if (flag)
        buffer_add_format(b, ",\"%s\":true", name);
}

static void add_plan(struct buffer *b, const struct report_row *row)
{
    const struct event *e = &row->event;

    add_json(b, "packet", e->packet);
    add_text(b, "packetSha256", e->packet_sha256);
    add_flag(b, "packetTruncated", e->packet_truncated);
    add_json(b, "input", e->input);
    add_json(b, "boundary", e->boundary_json);
    if (row->replay != REPLAY_NO_PLAN)
        add_text(b, "replay", str_of(replay_state_text(row->replay)));
    add_text(b, "replayDiffers", row->replay_where);
    add_text(b, "advice", row->advice);
    add_text(b, "obstacle", row->obstacle);
}

static void add_row(struct buffer *b, const struct report_row *row)
{
    const struct event *e = &row->event;

    buffer_add_format(b, "{\"verdict\":\"%s\"", event_verdict_text(e->verdict));
    if (e->verdict != EVENT_UNKNOWN)
        buffer_add(b, e->verdict == EVENT_DENIED ? STR(",\"allowed\":false")
                                                 : STR(",\"allowed\":true"));
    add_text(b, "outcome", e->outcome);
    add_flag(b, "dryRun", e->dry_run);
    add_text(b, "namespace", e->namespace_name);
    add_text(b, "kind", e->object_kind);
    add_text(b, "name", e->name);
    add_text(b, "workload", e->workload);
    add_number(b, "count", row->count);
    add_text(b, "first", row->first_text);
    add_text(b, "last", row->last_text);
    add_texts(b, "users", &row->users);
    add_texts(b, "images", &row->images);
    add_text(b, "operation", e->operation);
    add_text(b, "level", e->level);
    add_findings(b, e);
    add_text(b, "message", e->message);
    add_plan(b, row);
    add_text(b, "evidence", e->evidence);
    add_text(b, "exemption", e->exemption);
    add_text(b, "violations", e->violations);
    add_text(b, "error", e->error);
    add_text(b, "source", e->kind == EVENT_AUDIT ? STR("audit") : STR("decisionLog"));
    add_text(b, "webhook", e->webhook);
    add_text(b, "id", e->id);
    add_flag(b, "withoutDetails", row->without_details);
    buffer_add_char(b, '}');
}

static int write_buffer(struct buffer *b, FILE *stream)
{
    struct str text = buffer_text(b);

    if (!str_present(text))
        return -ENOMEM;
    return fwrite(text.ptr, 1, text.len, stream) == text.len ? 0 : -EIO;
}

static int write_row(const struct report_row *row, struct str before, struct str after,
                     FILE *stream)
{
    struct arena cleanup_arena arena = {0};
    struct buffer b = buffer_make(&arena, MAX_ROW_JSON_BYTES);

    buffer_add(&b, before);
    add_row(&b, row);
    buffer_add(&b, after);
    return write_buffer(&b, stream);
}

int report_json_row(const struct report_row *row, FILE *stream)
{
    return write_row(row, STR(""), STR("\n"), stream);
}

static void add_places(struct buffer *b, const struct unread *unread)
{
    static const char *const names[UNREAD_KIND_COUNT] = {
        [UNREAD_BROKEN] = "firstBroken",
        [UNREAD_TORN] = "firstTorn",
        [UNREAD_TOO_LONG] = "firstTooLong",
        [UNREAD_FOREIGN] = "firstForeign",
        [UNREAD_BARE_ENTRY] = "firstWithoutLabels",
    };
    struct arena cleanup_arena arena = {0};

    for (size_t i = 0; i < UNREAD_KIND_COUNT; i++) {
        const struct unread_part *part = &unread->parts[i];

        if (part->number > 0)
            add_text(b, names[i],
                     arena_format(&arena, "%s:%llu", part->path, (unsigned long long)part->line));
    }
}

static void add_summary(struct buffer *b, const struct report *report)
{
    const struct report_totals *t = &report->totals;
    const struct {
        const char *name;
        uint64_t number;
    } numbers[] = {
        {"bytes", t->bytes},
        {"texts", t->texts},
        {"auditEvents", t->audit_events},
        {"decisions", t->decisions},
        {"repeated", t->repeated},
        {"filteredOut", t->filtered_out},
        {"denied", t->denied},
        {"violates", t->violates},
        {"unknown", t->unknown},
        {"allowed", t->allowed},
        {"rows", report->row_count},
        {"blank", t->blank},
        {"broken", t->unread.parts[UNREAD_BROKEN].number},
        {"foreign", t->unread.parts[UNREAD_FOREIGN].number},
        {"withoutLabels", t->unread.parts[UNREAD_BARE_ENTRY].number},
        {"tooLong", t->unread.parts[UNREAD_TOO_LONG].number},
        {"torn", t->unread.parts[UNREAD_TORN].number},
        {"untimed", t->untimed},
        {"logTruncated", t->log_truncated},
        {"withoutBodies", t->without_bodies},
        {"rowsLeftOut", t->rows_left_out},
        {"detailsLeftOut", t->details_left_out},
        {"lapsesLeftOut", t->expiries_left_out},
        {"changesLeftOut", report->changes.left_out},
    };

    buffer_add_format(b, "{\"schema\":\"" REPORT_SCHEMA "\",\n\"summary\":{\"files\":%llu",
                      (unsigned long long)t->files);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        add_number(b, numbers[i].name, numbers[i].number);
    add_places(b, &t->unread);
    buffer_add_char(b, '}');
}

static void add_sums(struct buffer *b, const char *name, const char *member,
                     const struct report_sums *sums, bool with_hints)
{
    buffer_add_format(b, ",\n\"%s\":[", name);
    for (size_t i = 0; i < sums->count; i++) {
        const struct report_sum *s = &sums->items[i];

        buffer_add_format(b, "%s{\"%s\":", i > 0 ? ",\n" : "", member);
        report_add_safe(b, s->name);
        add_number(b, "denied", s->denied);
        add_number(b, "violates", s->violates);
        add_number(b, "other", s->other);
        add_number(b, "rows", s->rows);
        if (with_hints)
            add_text(b, "whatToDo", str_of(report_hint(s->name)));
        buffer_add_char(b, '}');
    }
    buffer_add_char(b, ']');
}

static void add_expiries(struct buffer *b, const struct report *report)
{
    buffer_add(b, STR(",\n\"lapses\":["));
    for (size_t i = 0; i < report->expiry_count; i++) {
        const struct report_expiry *l = &report->expiries[i];
        char at[MOMENT_TEXT_BYTES] = "";

        moment_write(l->at, at);
        buffer_add(b, i > 0 ? STR(",\n{\"kind\":") : STR("{\"kind\":"));
        report_add_safe(b, l->kind);
        add_text(b, "name", l->name);
        add_text(b, "endsAt", str_of(at));
        add_text(b, "lastSeen", l->last_text);
        add_number(b, "count", l->count);
        buffer_add_char(b, '}');
    }
    buffer_add_char(b, ']');
}

static void add_change_list(struct buffer *b, const char *name, const struct report *report,
                            bool (*is_one)(const struct report_change *))
{
    bool first = true;

    buffer_add_format(b, ",\n \"%s\":[", name);
    for (size_t i = 0; i < report->changes.count; i++) {
        const struct report_change *c = &report->changes.items[i];

        if (!is_one(c))
            continue;
        buffer_add_format(b, "%s{\"before\":%llu,\"now\":%llu", first ? "" : ",\n  ",
                          (unsigned long long)c->before, (unsigned long long)c->now);
        add_text(b, "namespace", c->namespace_name);
        add_text(b, "kind", c->kind);
        add_text(b, "workload", c->workload);
        add_text(b, "code", c->code);
        buffer_add_char(b, '}');
        first = false;
    }
    buffer_add_char(b, ']');
}

static void add_changes(struct buffer *b, const struct report *report)
{
    if (!report->changes.compared)
        return;
    buffer_add(b, STR(",\n\"changes\":{\"since\":"));
    report_add_safe(b, report->changes.since);
    add_change_list(b, "newFindings", report, report_change_is_new_finding);
    add_change_list(b, "goneFindings", report, report_change_is_gone_finding);
    add_change_list(b, "newWorkloads", report, report_change_is_new_workload);
    add_change_list(b, "goneWorkloads", report, report_change_is_gone_workload);
    add_change_list(b, "counts", report, report_change_is_count);
    buffer_add_char(b, '}');
}

static void add_bars(struct buffer *b, const char *name, const uint64_t *bars, size_t count)
{
    buffer_add_format(b, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++)
        buffer_add_format(b, i > 0 ? ",%llu" : "%llu", (unsigned long long)bars[i]);
    buffer_add_char(b, ']');
}

static void add_times(struct buffer *b, const struct report *report)
{
    const struct report_times *t = &report->times;
    char from[MOMENT_TEXT_BYTES] = "", made_at[MOMENT_TEXT_BYTES] = "";
    size_t count = REPORT_MAX_BARS;

    if (report->made_at.sec > 0) {
        moment_write(report->made_at, made_at);
        buffer_add_format(b, ",\n\"madeAt\":\"%s\"", made_at);
    }
    if (!t->begun)
        return;
    while (count > 1 && t->denied[count - 1] + t->violates[count - 1] == 0)
        count--;
    moment_write((struct moment){.sec = t->from_sec}, from);
    buffer_add_format(b, ",\n\"timeline\":{\"from\":\"%s\",\"widthSeconds\":%lld", from,
                      (long long)t->width_sec);
    add_bars(b, "denied", t->denied, count);
    add_bars(b, "violates", t->violates, count);
    buffer_add_char(b, '}');
}

int report_json(const struct report *report, FILE *stream)
{
    struct arena cleanup_arena arena = {0};
    struct buffer b = buffer_make(&arena, MAX_PART_JSON_BYTES);
    int r = 0;

    add_summary(&b, report);
    add_sums(&b, "namespaces", "namespace", &report->namespaces, false);
    add_sums(&b, "findings", "code", &report->codes, true);
    add_expiries(&b, report);
    add_changes(&b, report);
    add_times(&b, report);
    r = write_buffer(&b, stream);
    if (r == 0)
        r = report_boundary_json(&report->boundary, stream);
    if (r == 0 && fputs(",\n\"rows\":[", stream) < 0)
        r = -EIO;
    for (size_t i = 0; r == 0 && i < report->row_count; i++)
        r = write_row(report->rows[i], i > 0 ? STR(",\n") : STR("\n"), STR(""), stream);
    if (r == 0 && fputs("\n]}\n", stream) < 0)
        r = -EIO;
    return r;
}
