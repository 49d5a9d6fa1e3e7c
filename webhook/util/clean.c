/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clean - makes text safe to display.
 */

#include "webhook/util/clean.h"

#include <assert.h>

static struct str skip(struct str s, size_t at)
{
    assert(at <= s.len);
    return (struct str){.ptr = s.ptr + at, .len = s.len - at};
}

size_t clean_text(char *text, size_t len)
{
    const struct str whole = {.ptr = text, .len = len};
    size_t kept = 0;

    for (size_t i = 0; i < len;) {
        uint32_t c = 0;
        size_t n = str_utf8_next(skip(whole, i), &c);

        if (n == 0)
            break;
        if (text_is_control(c) || text_is_bidi_control(c)) {
            text[kept++] = '?';
        } else {
            if (kept != i)
                memmove(text + kept, text + i, n);
            kept += n;
        }
        i += n;
    }
    return kept;
}

struct str clean_cut_characters(struct str s, size_t max_characters)
{
    uint32_t c = 0;
    size_t kept = 0, n = 0;

    for (size_t i = 0; i < max_characters && kept < s.len; i++) {
        n = str_utf8_next(skip(s, kept), &c);
        if (n == 0)
            break;
        kept += n;
    }
    return (struct str){.ptr = s.ptr, .len = kept};
}
