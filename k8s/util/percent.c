/* SPDX-License-Identifier: Apache-2.0 */
/* percent - percent-encoding for the URLs of the API server. */
#include "k8s/util/percent.h"

static bool is_unreserved(char c)
{
    return text_is_alnum(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

void percent_add(struct buffer *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.ptr[i];

        if (is_unreserved(c))
            buffer_add_char(out, c);
        else
            buffer_add_format(out, "%%%02X", (unsigned)(unsigned char)c);
    }
}

struct str percent_encode(struct arena *arena, struct str text)
{
    struct buffer out = buffer_make(arena, PERCENT_MAX_BYTES);

    percent_add(&out, text);
    return buffer_text(&out);
}
