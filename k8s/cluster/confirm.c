/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confirm - the questions of waiting requests: plans the reads of objects that a snapshot misses
 * (reads.c), or a refresh when it is stale (fresh.c).
 *
 * A question has its answer when its reads, or the refresh, have ended and a snapshot was built
 * from them. Waiters that need the same read share it.
 */
#include <errno.h>

#include "k8s/cluster/internal.h"
#include "k8s/util/clock.h"

static void refuse(struct cluster *cluster, struct cluster_waiter *waiter, int result)
{
    if (result == -EBUSY)
        (void)atomic_fetch_add_explicit(&cluster->shared.refused, 1, memory_order_relaxed);
    waiter->done(waiter, result);
}

/* The namespace of the first or second read of a question. */
static struct str name_of_read(const struct cluster *cluster, const struct cluster_waiter *waiter,
                               size_t index)
{
    return index == 0 ? waiter->namespace_name : cluster->options.own_namespace;
}

/* Plans the one or two reads of a question: all of them or none. */
static int plan_reads(struct cluster *cluster, struct cluster_waiter *waiter)
{
    enum cluster_kind kind =
        waiter->question == CLUSTER_NAMESPACE ? CLUSTER_NAMESPACES : CLUSTER_CONFIG_MAPS;
    bool own = str_equal(waiter->namespace_name, cluster->options.own_namespace);
    size_t count = kind == CLUSTER_NAMESPACES || own ? 1 : 2;
    size_t wanted = 0, slow = 0;
    struct cluster_feed *feeds[2] = {0};

    for (size_t i = 0; i < count; i++) {
        struct str name = name_of_read(cluster, waiter, i);

        feeds[i] = cluster_feed_find(cluster, kind, name);
        if (feeds[i] == NULL)
            return -EIO;
        waiter->reads[i] = cluster_read_find(cluster, feeds[i], name);
        if (waiter->reads[i] != NULL)
            continue;
        wanted++;
        slow += cluster_share_is_slow(cluster, feeds[i], name);
    }
    if (wanted > cluster_reads_remaining(cluster, false) ||
        (slow > 0 && slow > cluster_reads_remaining(cluster, true)))
        return -EBUSY;
    for (size_t i = 0; i < count; i++) {
        if (waiter->reads[i] == NULL)
            waiter->reads[i] =
                cluster_read_add(cluster, feeds[i], name_of_read(cluster, waiter, i));
        if (waiter->reads[i] == NULL)
            return -ENOMEM; /* a first read without waiter is freed by cluster_reads_run() */
    }
    return 0;
}

/* While the API server is out of reach, a client learns so at once instead of at its deadline: it
 * repeats the request, and all its waits add up. The read goes on without it. */
static void limit_wait(const struct cluster *cluster, struct cluster_waiter *waiter)
{
    uint64_t last_msec = clock_msec() + CLUSTER_OUT_OF_REACH_MSEC;

    waiter->late = -ETIMEDOUT;
    if (!cluster_is_out_of_reach(cluster) || waiter->deadline_msec <= last_msec)
        return;
    waiter->deadline_msec = last_msec;
    waiter->late = -EIO;
}

void cluster_take_waiter(struct cluster *cluster, struct cluster_waiter *waiter)
{
    int r = 0;

    waiter->reads[0] = waiter->reads[1] = NULL;
    waiter->failed = 0;
    waiter->refresh = waiter->question == CLUSTER_FRESH;
    limit_wait(cluster, waiter);
    if (!waiter->refresh)
        r = plan_reads(cluster, waiter);
    if (r < 0) {
        refuse(cluster, waiter, r);
        return;
    }
    waiter->next = cluster->waiters;
    cluster->waiters = waiter;
}

void cluster_confirm_run(struct cluster *cluster, uint64_t now_msec)
{
    struct cluster_waiter *next = NULL;
    bool is_built = !cluster->dirty && cluster_ready(cluster);

    for (struct cluster_waiter *waiter = cluster->waiters; waiter != NULL; waiter = next) {
        next = waiter->next;
        if (is_built && cluster_waiter_answered(waiter))
            cluster_waiter_end(cluster, waiter, waiter->failed);
        else if (now_msec >= waiter->deadline_msec)
            cluster_waiter_end(cluster, waiter, waiter->failed < 0 ? waiter->failed : waiter->late);
    }
    cluster_refresh_run(cluster, now_msec);
    cluster_reads_run(cluster, now_msec);
}

uint64_t cluster_confirm_next(const struct cluster *cluster)
{
    uint64_t next_msec = 0;

    for (const struct cluster_waiter *waiter = cluster->waiters; waiter != NULL;
         waiter = waiter->next)
        next_msec = cluster_earlier(next_msec, waiter->deadline_msec);
    next_msec = cluster_earlier(next_msec, cluster_refresh_next(cluster));
    return cluster_earlier(next_msec, cluster_reads_next(cluster));
}

void cluster_confirm_end(struct cluster *cluster, int result)
{
    while (cluster->waiters != NULL)
        cluster_waiter_end(cluster, cluster->waiters, result);
}
