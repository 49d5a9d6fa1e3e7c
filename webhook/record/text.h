/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_RECORD_TEXT_H
#define WEBHOOK_RECORD_TEXT_H

/*
 * text - writes the members of a line: texts within a limit, and safe to display.
 *
 * Errors     sticky, as in buffer.h: check once, at the end.
 */

#include <stdbool.h>

#include "planner/base/buffer.h"

struct record_text {
    struct buffer b;
    bool shortened;
};

/* Each of these writes a comma first, so the first member must already be there. Absent texts are
 * left out. */
void record_add_text(struct record_text *line, const char *name, struct str text);
/* json must be valid JSON that this program made. */
void record_add_raw(struct record_text *line, const char *name, struct str json);
void record_add_bool(struct record_text *line, const char *name, bool value);

/* A text alone, cut to RECORD_MAX_TEXT_BYTES. */
void record_add_value(struct record_text *line, struct str text);

/*
 * Replaces characters that control a terminal, or end a line for some readers, with \u escapes:
 * U+007F to U+009F, bidirectional controls, U+2028 and U+2029. Invalid UTF-8 becomes \ufffd. In
 * JSON such characters are only inside strings, so the meaning does not change. Absent if the
 * result is longer than max_bytes (*ret_too_long is true), or if there is no memory.
 */
struct str record_make_plain(struct str json, size_t max_bytes, struct arena *arena,
                             bool *ret_too_long) __attribute__((nonnull));

#endif
