/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_AUDIT_LINES_INTERNAL_H
#define WEBHOOK_AUDIT_LINES_INTERNAL_H

/*
 * lines_internal - what the files lines*.c share.
 *
 * Errors     as in lines.h.
 */

#include "webhook/audit/lines.h"

/* lines_input.c: bytes of the file, unpacked. More behind `end`; 1: some came, 0: the end. What is
 * before `begin` may go; -ENOBUFS where the room is full and may not grow. */
int lines_fill(struct lines *lines) __attribute__((warn_unused_result));
void lines_inflate_free(struct lines_inflate *inflate);
/* Begins the unpacking anew, at a file's beginning. */
void lines_input_reset(struct lines *lines);

/* lines_walk.c */
/* Whether what begins at `begin` is no line of its own but holds events; then the walk is on. */
int lines_walk_begins(struct lines *lines) __attribute__((warn_unused_result));
/* As lines_next(); 0 also where the walk is over, and then `walk.on` is false. */
int lines_walk_next(struct lines *lines, struct str *ret_text) __attribute__((warn_unused_result));

#endif
