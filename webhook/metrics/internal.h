/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_METRICS_INTERNAL_H
#define WEBHOOK_METRICS_INTERNAL_H

/*
 * internal - shared by the files of metrics/: counting, and the parts of the text.
 *
 * Errors     those of the buffer.
 */

#include <inttypes.h>

#include "planner/base/buffer.h"
#include "webhook/metrics/metrics.h"

static inline void metrics_add(_Atomic uint64_t *counter, uint64_t by)
{
    (void)atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

static inline uint64_t metrics_load(_Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* reviews.c */
void metrics_write_reviews(struct metrics *metrics, struct buffer *b);
/* evidence.c; NULL: writes nothing */
void metrics_write_evidence(const struct metrics_evidence *evidence, struct buffer *b);

#endif
