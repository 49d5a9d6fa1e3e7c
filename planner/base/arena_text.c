/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena_text - copies of texts and formatted texts in an arena.
 *
 * A file of its own, so that a test can replace arena_alloc_text() and let an allocation made here
 * fail.
 */
#include "planner/base/arena.h"

#include <stdarg.h>
#include <stdio.h>

#define SHORT_TEXT_BYTES 256 /* most texts are shorter; a longer one is formatted twice */

char *arena_copy(struct arena *arena, struct str s)
{
    char *copy = NULL;

    if (s.len == SIZE_MAX)
        return NULL;
    copy = arena_alloc_text(arena, s.len + 1);
    if (copy != NULL && s.len > 0)
        memcpy(copy, s.ptr, s.len);
    return copy;
}

struct str arena_format(struct arena *arena, const char *format, ...)
{
    char first[SHORT_TEXT_BYTES];
    va_list args;
    char *text = NULL;
    int n = 0;

    va_start(args, format);
    n = vsnprintf(first, sizeof(first), format, args);
    va_end(args);
    if (n < 0)
        return (struct str){0};
    text = arena_alloc_text(arena, (size_t)n + 1);
    if (text == NULL)
        return (struct str){0};
    if ((size_t)n < sizeof(first)) {
        memcpy(text, first, (size_t)n);
    } else {
        va_start(args, format);
        n = vsnprintf(text, (size_t)n + 1, format, args);
        va_end(args);
        if (n < 0)
            return (struct str){0};
    }
    return (struct str){.ptr = text, .len = (size_t)n};
}
