/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_METRICS_FORMAT_H
#define WEBHOOK_METRICS_FORMAT_H

/*
 * format - lines of the text format of Prometheus, version 0.0.4.
 *
 * Errors     those of the buffer.
 */

#include <stdint.h>

#include "planner/base/buffer.h"

/* The lines # HELP and # TYPE, which precede the samples of a metric. */
void metrics_write_head(struct buffer *b, const char *name, const char *type, const char *help);

/* A whole metric with one sample and no labels. */
void metrics_write_gauge(struct buffer *b, const char *name, const char *help, int64_t value);
void metrics_write_counter(struct buffer *b, const char *name, const char *help, uint64_t value);

#endif
