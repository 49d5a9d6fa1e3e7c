/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_REPORT_JSON_H
#define WEBHOOK_REPORT_JSON_H

/*
 * json - what the writers of JSON share (safe.c): JSON that is safe to print. No control or
 * bidirectional-control character reaches a terminal, and no `<` can open a tag in a page.
 *
 * Errors     sticky in the buffer.
 */

#include "planner/base/buffer.h"

/* s as a JSON string. */
void report_add_safe(struct buffer *b, struct str s);
/* JSON that is already written, with the same escapes inside its strings. */
void report_add_safe_json(struct buffer *b, struct str json);

#endif
