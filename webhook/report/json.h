/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_REPORT_JSON_H
#define WEBHOOK_REPORT_JSON_H

/*
 * json - writes JSON that is safe to print: no control or bidirectional-control character reaches a
 * terminal, and no `<` can open a tag in a page.
 *
 * Errors     sticky in the buffer.
 */

#include "planner/base/buffer.h"

/* s as a JSON string. */
void report_add_safe(struct buffer *b, struct str s);

#endif
