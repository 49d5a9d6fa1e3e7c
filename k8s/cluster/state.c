/* SPDX-License-Identifier: Apache-2.0 */
/* state - small operations on the state of a cluster, for all files of this directory. */
#include "k8s/cluster/internal.h"
#include "k8s/util/clock.h"

uint64_t cluster_earlier(uint64_t a, uint64_t b)
{
    if (a == 0 || b == 0)
        return a + b;
    return a < b ? a : b;
}

void cluster_notify(const struct cluster *cluster, const struct cluster_event *event)
{
    if (cluster->options.on_event != NULL)
        cluster->options.on_event(cluster->options.event_context, event);
}

void cluster_mark_dirty(struct cluster *cluster)
{
    if (!cluster->dirty)
        cluster->dirty_msec = clock_msec();
    cluster->dirty = true;
}

bool cluster_ready(const struct cluster *cluster)
{
    return atomic_load_explicit(&cluster->shared.ready, memory_order_acquire);
}
