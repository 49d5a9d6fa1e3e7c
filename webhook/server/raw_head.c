/* SPDX-License-Identifier: Apache-2.0 */
/* raw_head - follows the texts of a head through the buffer of libmicrohttpd. See raw_head.h. */

#include "webhook/server/raw_head.h"

#define LINE_END_BYTES 2 /* CR LF */
#define KNOWN_VERSIONS STR("0.9.")

struct str raw_head_uri(const char *uri)
{
    struct str text = str_of(uri);

    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~')
            return (struct str){0};
    }
    return text;
}

struct raw_head raw_head_begin(const char *method, struct str uri, const char *version)
{
    struct raw_head head = {.begin = method, .at = version + strlen(version)};

    /* one blank between the parts */
    head.broken = !str_present(uri) || method + strlen(method) + 1 != uri.ptr ||
                  uri.ptr + uri.len + 1 != version;
    return head;
}

/* Between name and value: a colon, which is NUL by now, and blanks. */
static bool is_separator(const char *from, const char *to)
{
    if (from >= to || *from != '\0')
        return false;
    for (const char *at = from + 1; at < to; at++) {
        if (*at != ' ' && *at != '\t')
            return false;
    }
    return true;
}

void raw_head_add(struct raw_head *head, struct str name, struct str value)
{
    /* the first comparison comes first: a text that is elsewhere says nothing about this buffer */
    if (head->broken || name.ptr != head->at + LINE_END_BYTES || value.ptr <= name.ptr ||
        (size_t)(value.ptr - name.ptr) <= name.len ||
        !is_separator(name.ptr + name.len, value.ptr)) {
        head->broken = true;
        return;
    }
    head->at = value.ptr + value.len;
}

bool raw_head_is_whole(const struct raw_head *head, size_t head_bytes)
{
    /* the last line, and the empty line */
    return !head->broken &&
           (size_t)(head->at - head->begin) + (size_t)2 * LINE_END_BYTES == head_bytes;
}

bool raw_head_is_known(const char *library_version)
{
    return str_starts_with(str_of(library_version), KNOWN_VERSIONS);
}
