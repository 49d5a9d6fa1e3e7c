/* SPDX-License-Identifier: Apache-2.0 */
/* waiter - ends the waits of requests; used by everything that they wait for. */
#include <assert.h>
#include <errno.h>

#include "k8s/cluster/internal.h"

void cluster_waiter_end(struct cluster *cluster, struct cluster_waiter *waiter, int result)
{
    struct cluster_waiter **at = &cluster->waiters;

    while (*at != NULL && *at != waiter)
        at = &(*at)->next;
    assert(*at == waiter);
    *at = waiter->next;
    if (result == -EBUSY)
        (void)atomic_fetch_add_explicit(&cluster->shared.refused, 1, memory_order_relaxed);
    waiter->done(waiter, result);
}

bool cluster_waiter_needs(const struct cluster_waiter *waiter, const struct cluster_read *read)
{
    return waiter->reads[0] == read || waiter->reads[1] == read;
}

/* Whether all its reads have ended; the next snapshot has the answer. */
bool cluster_waiter_answered(const struct cluster_waiter *waiter)
{
    return waiter->reads[0] == NULL && waiter->reads[1] == NULL && !waiter->refresh;
}

/* Objects that arrived before the failure can have the answer: the waiter waits for their snapshot.
 */
void cluster_waiter_fail(struct cluster *cluster, struct cluster_waiter *waiter, int error)
{
    bool is_pending = cluster->dirty && cluster_ready(cluster);

    if (!is_pending) {
        cluster_waiter_end(cluster, waiter, error);
        return;
    }
    waiter->reads[0] = waiter->reads[1] = NULL;
    waiter->refresh = false;
    waiter->failed = error;
}

bool cluster_snapshot_wanted(const struct cluster *cluster)
{
    for (const struct cluster_waiter *waiter = cluster->waiters; waiter != NULL;
         waiter = waiter->next) {
        if (cluster_waiter_answered(waiter))
            return true;
    }
    return false;
}
