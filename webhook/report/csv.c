/* SPDX-License-Identifier: Apache-2.0 */
/* csv - writes rows for spreadsheets, and protects fields that would be run as formulas. */

#include <errno.h>

#include "webhook/report/internal.h"

#define MAX_CSV_ROW_BYTES ((size_t)8 << 20)

/* Characters that a spreadsheet can remove before it looks for a formula: blanks and invisible
 * ones. */
static bool is_blank(uint32_t c)
{
    return c <= ' ' || c == 0x7f || (c >= 0x80 && c <= 0xa0) || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200f) || (c >= 0x2028 && c <= 0x202f) ||
           (c >= 0x205f && c <= 0x206f) || c == 0x3000 || c == 0xfeff;
}

/* A spreadsheet takes a field that begins so for a formula, also in quotes; East Asian versions
 * accept the full-width signs too. */
static bool is_formula(struct str s)
{
    static const uint32_t signs[] = {'=', '+', '-', '@', 0xff1d, 0xff0b, 0xff0d, 0xff20};
    uint32_t c = 0;
    size_t n = str_utf8_next(s, &c);

    if (c == '\t' || c == '\r' || c == '\n')
        return true;
    while (n > 0 && is_blank(c)) {
        s.ptr += n;
        s.len -= n;
        n = str_utf8_next(s, &c);
    }
    for (size_t i = 0; n > 0 && i < sizeof(signs) / sizeof(signs[0]); i++) {
        if (c == signs[i])
            return true;
    }
    return false;
}

static void add_field(struct buffer *b, struct str s, bool first)
{
    if (!first)
        buffer_add_char(b, ',');
    buffer_add_char(b, '"');
    if (is_formula(s))
        buffer_add_char(b, '\'');
    for (size_t i = 0; i < s.len;) {
        uint32_t c = 0;
        size_t n = str_utf8_next((struct str){s.ptr + i, s.len - i}, &c);

        if (n == 0 || text_is_control(c) || text_is_bidi_control(c))
            buffer_add_format(b, "\\u{%x}", n == 0 ? (unsigned)(unsigned char)s.ptr[i] : c);
        else if (c == '"')
            buffer_add(b, STR("\"\""));
        else
            buffer_add(b, (struct str){s.ptr + i, n});
        i += n > 0 ? n : 1;
    }
    buffer_add_char(b, '"');
}

static void add_number(struct buffer *b, uint64_t number)
{
    buffer_add_format(b, ",%llu", (unsigned long long)number);
}

static struct str joined(struct arena *arena, const struct report_texts *texts)
{
    struct buffer b = buffer_make(arena, MAX_CSV_ROW_BYTES);

    buffer_add(&b, STR(""));
    for (size_t i = 0; i < texts->count; i++) {
        if (i > 0)
            buffer_add_char(&b, ' ');
        buffer_add(&b, texts->items[i]);
    }
    return buffer_text(&b);
}

/* `code place: message` of each finding, or the codes alone. */
static struct str findings(struct arena *arena, const struct event *event, bool with_messages)
{
    struct buffer b = buffer_make(arena, MAX_CSV_ROW_BYTES);

    buffer_add(&b, STR(""));
    for (size_t i = 0; i < event->finding_count; i++) {
        const struct event_finding *f = &event->findings[i];

        if (i > 0)
            buffer_add(&b, with_messages ? STR("; ") : STR(" "));
        buffer_add(&b, f->code);
        if (with_messages && f->place.len > 0) {
            buffer_add_char(&b, ' ');
            buffer_add(&b, f->place);
        }
        if (with_messages && f->message.len > 0) {
            buffer_add(&b, STR(": "));
            buffer_add(&b, f->message);
        }
    }
    return buffer_text(&b);
}

/* `environment=open filesystem=held …`; empty where the pod's own spec was not read. */
static struct str states(struct arena *arena, const struct event_boundary *boundary)
{
    struct buffer b = buffer_make(arena, MAX_CSV_ROW_BYTES);

    buffer_add(&b, STR(""));
    for (int i = 0; boundary->state == EVENT_BOUNDARY_READ && i < BOUNDARY_CONTROL_COUNT; i++)
        buffer_add_format(&b, "%s%s=%s", i > 0 ? " " : "",
                          boundary_control_text((enum boundary_control)i),
                          boundary_state_text(boundary->states[i]));
    return buffer_text(&b);
}

int report_csv_head(FILE *stream)
{
    return fputs(
               "verdict,outcome,dryRun,namespace,kind,name,workload,count,first,last,users,images,"
               "level,findings,details,packetSha256,evidence,exemption,violations,replay,source,"
               "id,boundary\n",
               stream) < 0
               ? -EIO
               : 0;
}

int report_csv_row(const struct report_row *row, FILE *stream)
{
    const struct event *e = &row->event;
    struct arena cleanup_arena arena = {0};
    struct buffer b = buffer_make(&arena, MAX_CSV_ROW_BYTES);
    struct str text = {0};

    add_field(&b, str_of(event_verdict_text(e->verdict)), true);
    add_field(&b, e->outcome, false);
    add_field(&b, e->dry_run ? STR("true") : STR("false"), false);
    add_field(&b, e->namespace_name, false);
    add_field(&b, e->object_kind, false);
    add_field(&b, e->name, false);
    add_field(&b, e->workload, false);
    add_number(&b, row->count);
    add_field(&b, row->first_text, false);
    add_field(&b, row->last_text, false);
    add_field(&b, joined(&arena, &row->users), false);
    add_field(&b, joined(&arena, &row->images), false);
    add_field(&b, e->level, false);
    add_field(&b, findings(&arena, e, false), false);
    add_field(&b, findings(&arena, e, true), false);
    add_field(&b, e->packet_sha256, false);
    add_field(&b, e->evidence, false);
    add_field(&b, e->exemption, false);
    add_field(&b, e->violations, false);
    add_field(&b, str_of(replay_state_text(row->replay)), false);
    add_field(&b, e->kind == EVENT_AUDIT ? STR("audit") : STR("decisionLog"), false);
    add_field(&b, e->id, false);
    add_field(&b, states(&arena, &e->boundary), false);
    buffer_add_char(&b, '\n');
    text = buffer_text(&b);
    if (!str_present(text))
        return -ENOMEM;
    return fwrite(text.ptr, 1, text.len, stream) == text.len ? 0 : -EIO;
}

int report_csv(const struct report *report, FILE *stream)
{
    int r = report_csv_head(stream);

    for (size_t i = 0; r == 0 && i < report->row_count; i++)
        r = report_csv_row(report->rows[i], stream);
    return r;
}
