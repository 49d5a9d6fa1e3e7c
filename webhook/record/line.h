/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_RECORD_LINE_H
#define WEBHOOK_RECORD_LINE_H

/*
 * line - a finished line of record.h that outlives its request: the decision log and the denials in
 * memory share one copy.
 *
 * Ownership  counted references; record_line_unref(NULL) is allowed.
 * Threads    any: immutable, and the count is atomic.
 */

#include <stdatomic.h>
#include <stddef.h>

#include "k8s/util/refcount.h"
#include "planner/base/text.h"

struct record_line {
    struct refcount count;
    size_t len;   /* of the line, including its line feed */
    char bytes[]; /* a line feed, then the line: the line feed is written only after an incomplete
                     line */
};

/* A copy; the caller owns the reference. NULL: out of memory. */
struct record_line *record_line_new(struct str line) __attribute__((warn_unused_result));
struct record_line *record_line_ref(struct record_line *line);
void record_line_unref(struct record_line *line);

static inline struct str record_line_text(const struct record_line *line)
{
    return (struct str){.ptr = line->bytes + 1, .len = line->len};
}

#endif
