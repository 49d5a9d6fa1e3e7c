/* SPDX-License-Identifier: Apache-2.0 */
#include "webhook/record/line.h"

#include <stdlib.h>

struct record_line *record_line_new(struct str text)
{
    struct record_line *line = malloc(sizeof(*line) + 1 + text.len);

    if (line == NULL)
        return NULL;
    atomic_init(&line->count, 1);
    line->len = text.len;
    line->bytes[0] = '\n';
    memcpy(line->bytes + 1, text.ptr, text.len);
    return line;
}

struct record_line *record_line_ref(struct record_line *line)
{
    (void)atomic_fetch_add_explicit(&line->count, 1, memory_order_relaxed);
    return line;
}

void record_line_unref(struct record_line *line)
{
    if (line != NULL && atomic_fetch_sub_explicit(&line->count, 1, memory_order_acq_rel) == 1)
        free(line);
}
