/* SPDX-License-Identifier: Apache-2.0 */
/* safe - writes JSON without characters that control a terminal or open a tag. */

#include <errno.h>

#include "webhook/report/json.h"

#define MAX_TEXT_JSON_BYTES ((size_t)8 << 20)

static bool is_risky(uint32_t c)
{
    return text_is_control(c) || text_is_bidi_control(c) || c == '<' || c == '>' || c == '&' ||
           c == 0x2028 || c == 0x2029;
}

/* In valid JSON such characters, except line ends and tabs, occur only inside of strings. */
void report_add_safe_json(struct buffer *b, struct str json)
{
    size_t from = 0, i = 0;

    while (i < json.len) {
        uint32_t c = 0;
        size_t n = str_utf8_next((struct str){json.ptr + i, json.len - i}, &c);

        if (n == 0 || !is_risky(c)) {
            i += n > 0 ? n : 1;
            continue;
        }
        buffer_add(b, (struct str){json.ptr + from, i - from});
        if (c == '\n' || c == '\r' || c == '\t')
            buffer_add_char(b, ' '); /* a blank between members */
        else
            buffer_add_format(b, "\\u%04x", (unsigned)c);
        i += n;
        from = i;
    }
    if (from < json.len)
        buffer_add(b, (struct str){json.ptr + from, json.len - from});
}

void report_add_safe(struct buffer *b, struct str s)
{
    struct arena cleanup_arena arena = {0};
    struct buffer plain = buffer_make(&arena, MAX_TEXT_JSON_BYTES);
    struct str text = {0};

    buffer_add_json(&plain, s);
    text = buffer_text(&plain);
    if (!str_present(text))
        b->error = b->error != 0 ? b->error : -ENOMEM;
    else
        report_add_safe_json(b, text);
}
