/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text - writes members of a record, and makes a line safe to display.
 */

#include "webhook/record/text.h"

#include <errno.h>

#include "webhook/record/record.h"

#define LINE_SEPARATOR 0x2028
#define PARAGRAPH_SEPARATOR 0x2029
#define FIRST_UNSAFE 0x7F /* JSON already escapes the control characters below */

void record_add_value(struct record_text *line, struct str text)
{
    struct str kept = str_cut(text, RECORD_MAX_TEXT_BYTES);

    line->shortened |= kept.len < text.len;
    buffer_add_json(&line->b, kept);
}

static void add_name(struct record_text *line, const char *name)
{
    buffer_add(&line->b, STR(",\""));
    buffer_add(&line->b, str_of(name));
    buffer_add(&line->b, STR("\":"));
}

void record_add_text(struct record_text *line, const char *name, struct str text)
{
    if (!str_present(text))
        return;
    add_name(line, name);
    record_add_value(line, text);
}

void record_add_raw(struct record_text *line, const char *name, struct str json)
{
    if (!str_present(json))
        return;
    add_name(line, name);
    buffer_add(&line->b, json);
}

void record_add_bool(struct record_text *line, const char *name, bool value)
{
    record_add_raw(line, name, value ? STR("true") : STR("false"));
}

static bool must_be_escaped(uint32_t c)
{
    return (c >= FIRST_UNSAFE && text_is_control(c)) || text_is_bidi_control(c) ||
           c == LINE_SEPARATOR || c == PARAGRAPH_SEPARATOR;
}

static size_t ascii_run(struct str s)
{
    size_t n = 0;

    while (n < s.len && (unsigned char)s.ptr[n] < FIRST_UNSAFE)
        n++;
    return n;
}

struct str record_make_plain(struct str json, size_t max_bytes, struct arena *arena,
                             bool *ret_too_long)
{
    struct buffer b = buffer_make(arena, max_bytes);
    struct str plain = {0};

    for (size_t i = 0; i < json.len;) {
        struct str rest = {.ptr = json.ptr + i, .len = json.len - i};
        size_t n = ascii_run(rest);
        uint32_t c = 0;

        if (n == 0) {
            n = str_utf8_next(rest, &c);
            if (n == 0 || must_be_escaped(c)) {
                buffer_add_format(&b, "\\u%04x", n == 0 ? 0xFFFDU : c);
                i += n == 0 ? 1 : n;
                continue;
            }
        }
        buffer_add(&b, (struct str){.ptr = rest.ptr, .len = n});
        i += n;
    }
    plain = buffer_text(&b);
    *ret_too_long = b.error == -E2BIG;
    return plain;
}
