/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_METRICS_WATCH_H
#define WEBHOOK_METRICS_WATCH_H

/* watch - what is known of the cluster and how fresh it is, as text for Prometheus. */

#include "k8s/cluster/cluster.h"
#include "planner/base/buffer.h"

void metrics_write_watch(const struct cluster_status *status, struct buffer *b);

#endif
