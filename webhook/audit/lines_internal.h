/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_AUDIT_LINES_INTERNAL_H
#define WEBHOOK_AUDIT_LINES_INTERNAL_H

/*
 * lines_internal - what lines.c, lines_input.c and lines_walk.c share.
 *
 * Errors     as in lines.h.
 */

#include "webhook/audit/lines.h"

/* lines_input.c: reads bytes of the file, decompressed, to `end`. 1: there are more bytes; 0: end
 * of file. Bytes before `begin` may be dropped. -ENOBUFS: the buffer is full and at its limit. */
int lines_fill(struct lines *lines) __attribute__((warn_unused_result));
void lines_inflate_free(struct lines_inflate *inflate);
/* Forgets everything that was read: the next read is at the beginning of a file. */
void lines_input_reset(struct lines *lines);

static inline void lines_count_too_long(struct lines *lines)
{
    if (lines->too_long++ == 0)
        lines->first_too_long = lines->next_line;
}

static inline void lines_count_torn(struct lines *lines)
{
    if (lines->torn++ == 0)
        lines->first_torn = lines->next_line;
}

/* lines_walk.c */
/* Recognises a list of events, or an object over several lines, at `begin`; then walk.on is set. */
int lines_walk_begins(struct lines *lines) __attribute__((warn_unused_result));
/* As lines_next(). At the end of the list or object it returns 0 with walk.on unset. */
int lines_walk_next(struct lines *lines, struct str *ret_text) __attribute__((warn_unused_result));

#endif
