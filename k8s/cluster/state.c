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

void cluster_note_read(struct cluster *cluster, bool succeeded)
{
    struct cluster_shared *shared = &cluster->shared;

    if (succeeded) {
        atomic_store_explicit(&shared->failed_reads, 0, memory_order_relaxed);
        return;
    }
    atomic_store_explicit(&shared->failed_read_msec, clock_age_msec(), memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&shared->failed_reads, 1, memory_order_relaxed);
}

bool cluster_is_out_of_reach(const struct cluster *cluster)
{
    return atomic_load_explicit(&cluster->shared.failed_reads, memory_order_relaxed) >=
           CLUSTER_MAX_FAILED_READS;
}

bool cluster_is_old(const struct cluster *cluster, uint64_t event_msec)
{
    uint64_t max_stale_sec =
        atomic_load_explicit(&cluster->shared.max_stale_sec, memory_order_relaxed);

    return clock_age_msec() > event_msec + max_stale_sec * 1000;
}

bool cluster_is_stale(const struct cluster *cluster)
{
    return cluster_is_old(
        cluster, atomic_load_explicit(&cluster->shared.last_event_msec, memory_order_relaxed));
}

bool cluster_ready(const struct cluster *cluster)
{
    return atomic_load_explicit(&cluster->shared.ready, memory_order_acquire);
}
