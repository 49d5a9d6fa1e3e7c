/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_BASE_BUFFER_H
#define PLANNER_BASE_BUFFER_H

/*
 * buffer - text that grows, in an arena, up to a limit.
 *
 * Errors are sticky: after the first append that does not fit (limit or memory) nothing more is
 * appended, and buffer_text() gives an absent text. So a series of appends is checked once.
 *
 * Units      bytes.
 */

#include <stdbool.h>
#include <stddef.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"

struct buffer {
    struct arena *arena; /* borrowed */
    char *ptr;
    size_t len;
    size_t room;
    size_t max_bytes; /* given at creation */
    int error;        /* 0, -ENOMEM, or -E2BIG where max_bytes was reached */
};

struct buffer buffer_make(struct arena *arena, size_t max_bytes) __attribute__((nonnull));

void buffer_add(struct buffer *b, struct str s);
void buffer_add_char(struct buffer *b, char c);
void buffer_add_format(struct buffer *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * s as a JSON string with its quotes. Escaped are only `"`, `\` and U+0000 to U+001F
 * (\b \f \n \r \t, else \u00xx in lower case). s must be UTF-8.
 */
void buffer_add_json(struct buffer *b, struct str s);

/* What was appended, with a NUL behind it; an absent text once anything failed. */
struct str buffer_text(struct buffer *b);

/* Bytes that s takes inside a JSON string of the API server's audit log: escaped as above, and
 * `<`, `>`, `&`, U+2028 and U+2029 as six bytes each. Without quotes. */
size_t buffer_audit_size(struct str s);

/* Whether that is at most max_bytes; a short text is not looked at for that. */
bool buffer_audit_fits(struct str s, size_t max_bytes);

#endif
