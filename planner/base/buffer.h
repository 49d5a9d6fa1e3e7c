/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_BASE_BUFFER_H
#define PLANNER_BASE_BUFFER_H

/*
 * buffer - text that grows in an arena, up to a limit.
 *
 * Errors     sticky: after the first append that exceeds the limit or the memory nothing more is
 *            appended, and buffer_text() returns an absent text. A series of appends is checked
 *            once, at its end.
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
    size_t capacity;
    size_t max_bytes; /* set by buffer_make() */
    int error;        /* 0; -ENOMEM; -E2BIG max_bytes was reached */
};

struct buffer buffer_make(struct arena *arena, size_t max_bytes) __attribute__((nonnull));

void buffer_add(struct buffer *b, struct str s);
void buffer_add_char(struct buffer *b, char c);
void buffer_add_format(struct buffer *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * s as a JSON string with its quotes. Only `"`, `\` and U+0000 to U+001F are escaped: as \b, \f,
 * \n, \r or \t, the others as \u00xx in lower case. s must be UTF-8.
 */
void buffer_add_json(struct buffer *b, struct str s);

/* The text so far, with a NUL after it; an absent text after an error. */
struct str buffer_text(struct buffer *b);

/* How many bytes s takes in a JSON string of the API server's audit log, without the quotes. There
 * `<`, `>`, `&`, U+2028 and U+2029 are escaped too, as six bytes each. */
size_t buffer_audit_size(struct str s);

/* Whether that is at most max_bytes. A text short enough in any case is not examined. */
bool buffer_audit_fits(struct str s, size_t max_bytes);

#endif
