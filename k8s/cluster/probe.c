/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe - while the snapshot is stale, reads the gate's own Namespace again and again, so that the
 * gate knows by itself whether the API server is in reach, and lists as soon as it is.
 *
 * The pauses of the lists grow up to a minute, and requests that wait for a list can have left the
 * gate for another replica. One small read each few seconds costs an overloaded server little.
 */
#include <assert.h>

#include "k8s/cluster/internal.h"
#include "k8s/util/clock.h"
#include "k8s/util/http_status.h"
#include "k8s/util/percent.h"

/* A list that got no byte since the last failure may wait for a connection that is dead. */
static bool is_listing(const struct cluster_feed *feed)
{
    uint64_t failed_msec =
        atomic_load_explicit(&feed->cluster->shared.failed_read_msec, memory_order_relaxed);

    return feed->call != NULL && feed->task.step == REFLECTOR_LIST && feed->byte_msec > failed_msec;
}

/* The API server answers: lists what is stale and not being listed. */
static void list_again(struct cluster *cluster)
{
    for (size_t i = 0; i < cluster->feed_count; i++) {
        struct cluster_feed *feed = &cluster->feeds[i];

        if (cluster_is_old(cluster, reflector_last_event_msec(feed->reflector)) &&
            !is_listing(feed))
            cluster_feed_relist(feed, REFLECTOR_LATEST);
    }
}

static void take_end(void *context, int result, const struct api_reply *reply)
{
    struct cluster *cluster = context;
    struct cluster_probe *probe = &cluster->probe;
    bool succeeded = result == 0 && (reply->status == HTTP_OK || reply->status == HTTP_NOT_FOUND);

    probe->call = NULL;
    probe->next_msec = clock_msec() + probe->pause_msec;
    cluster_note_read(cluster, succeeded);
    if (succeeded)
        list_again(cluster);
}

static void begin(struct cluster *cluster, uint64_t now_msec)
{
    cleanup_arena struct arena arena = {0};
    struct cluster_probe *probe = &cluster->probe;
    struct str name = percent_encode(&arena, cluster->options.own_namespace);
    struct api_request request = {
        .method = API_GET,
        .deadline_msec = now_msec + CLUSTER_PROBE_SEC * 1000,
        .context = cluster,
    };

    assert(probe->call == NULL);
    probe->pause_msec = probe->pause_msec == 0 ? CLUSTER_PROBE_MIN_MSEC : 2 * probe->pause_msec;
    if (probe->pause_msec > CLUSTER_PROBE_MAX_MSEC)
        probe->pause_msec = CLUSTER_PROBE_MAX_MSEC;
    probe->next_msec = now_msec + probe->pause_msec;
    if (str_present(name))
        request.path = arena_format(&arena, "/api/v1/namespaces/%.*s", (int)name.len, name.ptr);
    if (!str_present(request.path) ||
        api_loop_start(cluster->loop, &request, take_end, &probe->call) < 0)
        probe->call = NULL;
}

static bool is_needed(const struct cluster *cluster)
{
    return !cluster->once && cluster_ready(cluster) && cluster_is_stale(cluster);
}

void cluster_probe_run(struct cluster *cluster, uint64_t now_msec)
{
    struct cluster_probe *probe = &cluster->probe;

    if (!is_needed(cluster)) {
        probe->pause_msec = 0;
        probe->next_msec = 0;
    } else if (probe->call == NULL && now_msec >= probe->next_msec) {
        begin(cluster, now_msec);
    }
}

uint64_t cluster_probe_next(const struct cluster *cluster)
{
    return cluster->probe.call == NULL && is_needed(cluster) ? cluster->probe.next_msec : 0;
}
