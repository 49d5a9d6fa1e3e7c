/* SPDX-License-Identifier: Apache-2.0 */
/* fresh - lists everything again when the snapshot is stale, once for all requests that wait. */
#include <errno.h>

#include "k8s/cluster/internal.h"

static bool is_wanted(const struct cluster *cluster)
{
    const struct cluster_waiter *waiter = cluster->waiters;

    while (waiter != NULL && !waiter->refresh)
        waiter = waiter->next;
    return waiter != NULL;
}

static void end_refresh(struct cluster *cluster, int result)
{
    struct cluster_waiter *next = NULL;

    cluster->refreshing = false;
    for (struct cluster_waiter *waiter = cluster->waiters; waiter != NULL; waiter = next) {
        next = waiter->next;
        if (!waiter->refresh)
            continue;
        waiter->refresh = false;
        if (result < 0)
            cluster_waiter_fail(cluster, waiter, result);
    }
}

static bool is_refreshed(const struct cluster_feed *feed)
{
    return reflector_list_count(feed->reflector) > feed->refresh_lists;
}

/* Only until its list is complete: the watch after it is not part of the refresh. */
static bool has_refresh_failed(const struct cluster_feed *feed)
{
    return !is_refreshed(feed) && reflector_failure_count(feed->reflector) > feed->refresh_failures;
}

void cluster_refresh_check(struct cluster *cluster)
{
    size_t refreshed = 0;
    bool has_failed = false;

    for (size_t i = 0; i < cluster->feed_count; i++) {
        refreshed += is_refreshed(&cluster->feeds[i]);
        has_failed |= has_refresh_failed(&cluster->feeds[i]);
    }
    if (cluster->refreshing && (has_failed || refreshed == cluster->feed_count))
        end_refresh(cluster, has_failed ? -EIO : 0);
}

void cluster_refresh_run(struct cluster *cluster, uint64_t now_msec)
{
    if (cluster->refreshing || !is_wanted(cluster) ||
        now_msec < cluster->refresh_msec + CLUSTER_REFRESH_MSEC)
        return;
    cluster->refreshing = true;
    cluster->refresh_msec = now_msec;
    for (size_t i = 0; i < cluster->feed_count; i++) {
        struct cluster_feed *feed = &cluster->feeds[i];

        feed->refresh_lists = reflector_list_count(feed->reflector);
        feed->refresh_failures = reflector_failure_count(feed->reflector);
        if (feed->call == NULL || feed->task.step != REFLECTOR_LIST)
            cluster_feed_relist(feed, REFLECTOR_LATEST);
    }
}

uint64_t cluster_refresh_next(const struct cluster *cluster)
{
    return is_wanted(cluster) && !cluster->refreshing ? cluster->refresh_msec + CLUSTER_REFRESH_MSEC
                                                      : 0;
}
