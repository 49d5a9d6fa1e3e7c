/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_RECORD_TEXT_H
#define WEBHOOK_RECORD_TEXT_H

/*
 * text - the members of a line while it is written: names and texts, bounded, and safe to
 * show.
 *
 * Errors     sticky, as buffer's.
 */

#include <stdbool.h>

#include "planner/base/buffer.h"

struct record_text {
    struct buffer b;
    bool shortened;
};

/* All writers of members begin with a comma: the first member is there already. Absent texts are
 * left out. */
void record_add_text(struct record_text *line, const char *name, struct str text);
/* JSON of ours. */
void record_add_raw(struct record_text *line, const char *name, struct str json);
void record_add_bool(struct record_text *line, const char *name, bool value);

/* A text alone, cut to RECORD_MAX_TEXT_BYTES. */
void record_add_value(struct record_text *line, struct str text);

/*
 * JSON with \u escapes in place of all that moves a terminal or ends a line for some reader:
 * U+007F to U+009F, bidirectional controls, U+2028, U+2029; what is no UTF-8 becomes \ufffd. Since
 * such characters stand only inside of strings, it says the same. An absent text where that takes
 * more than max_bytes or there is no memory (*ret_too_long tells which).
 */
struct str record_make_plain(struct str json, size_t max_bytes, struct arena *arena,
                             bool *ret_too_long) __attribute__((nonnull));

#endif
