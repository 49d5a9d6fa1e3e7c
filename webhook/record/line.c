/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line - a line of the decision log in shared memory.
 */

#include "webhook/record/line.h"

#include <stdlib.h>

struct record_line *record_line_new(struct str text)
{
    struct record_line *line = malloc(sizeof(*line) + 1 + text.len);

    if (line == NULL)
        return NULL;
    refcount_init(&line->count);
    line->len = text.len;
    line->bytes[0] = '\n';
    memcpy(line->bytes + 1, text.ptr, text.len);
    return line;
}

struct record_line *record_line_ref(struct record_line *line)
{
    refcount_take(&line->count);
    return line;
}

void record_line_unref(struct record_line *line)
{
    if (line != NULL && refcount_drop(&line->count))
        free(line);
}
