/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_METRICS_WATCH_H
#define WEBHOOK_METRICS_WATCH_H

/* watch - how fresh the view of a watched cluster is, and what it holds, as text for Prometheus.
 * Errors: those of the buffer. */

#include "k8s/cluster/cluster.h"
#include "planner/base/buffer.h"

void metrics_write_watch(const struct cluster_status *status, struct buffer *b);

#endif
