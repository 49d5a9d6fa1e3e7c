/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reads - the confirmation reads that requests wait for: begins them as share.c permits, and merges
 * what they bring.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "k8s/cluster/internal.h"
#include "k8s/util/clock.h"
#include "k8s/util/http_status.h"
#include "k8s/util/percent.h"

/* Adds it at the end of the list, so that reads begin in the order of their questions. */
static void append(struct cluster *cluster, struct cluster_read *read)
{
    struct cluster_read **at = &cluster->reads;

    while (*at != NULL)
        at = &(*at)->next;
    read->next = NULL;
    *at = read;
}

static void take_out(struct cluster *cluster, const struct cluster_read *read)
{
    struct cluster_read **at = &cluster->reads;

    while (*at != NULL && *at != read)
        at = &(*at)->next;
    assert(*at == read);
    *at = read->next;
}

static void free_read(struct cluster *cluster, struct cluster_read *read)
{
    take_out(cluster, read);
    reflector_merge_free(read->merge);
    free(read);
}

void cluster_reads_free(struct cluster *cluster)
{
    while (cluster->reads != NULL)
        free_read(cluster, cluster->reads);
}

/* Ends a read for all its waiters, with an answer or an error. */
static void end_read(struct cluster *cluster, struct cluster_read *read, int result)
{
    struct cluster_waiter *next = NULL;

    for (struct cluster_waiter *waiter = cluster->waiters; waiter != NULL; waiter = next) {
        next = waiter->next;
        if (!cluster_waiter_needs(waiter, read))
            continue;
        for (size_t i = 0; i < 2; i++) {
            if (waiter->reads[i] == read)
                waiter->reads[i] = NULL;
        }
        if (result < 0)
            cluster_waiter_fail(cluster, waiter, result);
    }
    free_read(cluster, read);
}

/* Only reads that have not begun: one in progress can predate this question. */
struct cluster_read *cluster_read_find(const struct cluster *cluster,
                                       const struct cluster_feed *feed, struct str namespace_name)
{
    struct cluster_read *read = cluster->reads;

    while (read != NULL && (read->call != NULL || !cluster_read_is_of(read, feed, namespace_name)))
        read = read->next;
    return read;
}

struct cluster_read *cluster_read_add(struct cluster *cluster, struct cluster_feed *feed,
                                      struct str namespace_name)
{
    struct cluster_read *read = calloc(1, sizeof(*read) + namespace_name.len);

    if (read == NULL)
        return NULL;
    read->feed = feed;
    read->namespace_len = namespace_name.len;
    memcpy(read->namespace_name, namespace_name.ptr, namespace_name.len);
    read->slow = cluster_share_is_slow(cluster, feed, namespace_name);
    append(cluster, read);
    return read;
}

/* Rate-limited. The only place that shows the reason of the server: clients are not given it. */
static void report_failure(struct cluster *cluster, const struct cluster_read *read,
                           const struct api_reply *reply)
{
    uint64_t now_msec = clock_msec();
    const struct cluster_event event = {
        .kind = CLUSTER_FAILED,
        .what = read->feed->what,
        .reason = str_present(reply->reason) ? reply->reason : STR("the response cannot be used"),
    };

    cluster->read_failures++;
    if (cluster->read_reported_msec != 0 &&
        now_msec - cluster->read_reported_msec < CLUSTER_NOTIFY_SEC * 1000)
        return;
    cluster->read_reported_msec = now_msec;
    cluster_notify(cluster, &event);
}

static int take_bytes(void *context, const char *bytes, size_t count)
{
    struct cluster_read *read = context;

    read->error = reflector_merge_bytes(read->merge, (struct str){.ptr = bytes, .len = count});
    return read->error;
}

/* The read waits again, until the list that it overlapped is complete. */
static void wait_again(struct cluster_read *read)
{
    reflector_merge_free(read->merge);
    read->merge = NULL;
    read->error = 0;
    read->call = NULL;
}

static void take_end(void *context, int result, const struct api_reply *reply)
{
    struct cluster_read *read = context;
    struct cluster *cluster = read->feed->cluster;
    bool is_none = result == 0 && reply->status == HTTP_NOT_FOUND;
    int r = read->error;

    if (r == 0 && result == 0 && reply->status == HTTP_OK)
        r = reflector_merge_end(read->merge);
    else if (r == 0 && !is_none)
        r = -EIO;
    cluster_note_read(cluster,
                      r == -EAGAIN || (result == 0 && (is_none || reply->status == HTTP_OK)));
    if (r == -EAGAIN) {
        wait_again(read);
        return;
    }
    if (r == 0 && clock_msec() < read->begun_msec + CLUSTER_LONG_READ_MSEC)
        cluster_share_note_fast(cluster, read);
    if (r < 0)
        report_failure(cluster, read, reply);
    end_read(cluster, read, r < 0 && r != -ENOMEM ? -EIO : r);
}

static int begin_read(struct cluster *cluster, struct cluster_read *read, uint64_t now_msec)
{
    cleanup_arena struct arena arena = {0};
    struct api_request request = {
        .method = API_GET,
        .deadline_msec = now_msec + CLUSTER_READ_SEC * 1000,
        .on_bytes = take_bytes,
        .context = read,
    };
    struct str name = percent_encode(&arena, cluster_read_name(read));
    int r = 0;

    if (!str_present(name))
        return -ENOMEM;
    request.path = arena_format(
        &arena, "/api/v1/namespaces/%.*s%s", (int)name.len, name.ptr,
        read->feed->kind == CLUSTER_CONFIG_MAPS ? "/configmaps?" CLUSTER_SELECTOR : "");
    if (!str_present(request.path))
        return -ENOMEM;
    r = reflector_merge_new(read->feed->reflector, &read->merge);
    if (r == 0)
        r = api_loop_start(cluster->loop, &request, take_end, &read->call);
    if (r < 0)
        return r;
    read->begun_msec = now_msec;
    cluster_share_note_begin(cluster, read, now_msec);
    (void)atomic_fetch_add_explicit(&cluster->shared.confirmations, 1, memory_order_relaxed);
    return 0;
}

static bool is_wanted(const struct cluster *cluster, const struct cluster_read *read)
{
    for (const struct cluster_waiter *waiter = cluster->waiters; waiter != NULL;
         waiter = waiter->next) {
        if (cluster_waiter_needs(waiter, read))
            return true;
    }
    return false;
}

/* Ends the call of a slow read, which waits again behind the others; with another read of the same
 * namespace that waits already, if there is one. Where too many slow reads wait, it ends. */
static void put_back(struct cluster *cluster, struct cluster_read *read)
{
    struct cluster_read *other = cluster_read_find(cluster, read->feed, cluster_read_name(read));

    api_loop_drop(cluster->loop, read->call);
    wait_again(read);
    if (other == NULL && cluster_reads_remaining(cluster, true) == 0) {
        end_read(cluster, read, -EBUSY);
        return;
    }
    for (struct cluster_waiter *w = cluster->waiters; other != NULL && w != NULL; w = w->next) {
        for (size_t i = 0; i < 2; i++) {
            if (w->reads[i] == read)
                w->reads[i] = other;
        }
    }
    take_out(cluster, read);
    append(cluster, read); /* without a waiter, it is freed when its turn comes */
}

void cluster_reads_run(struct cluster *cluster, uint64_t now_msec)
{
    struct cluster_read *next = NULL;
    struct cluster_read *long_read = NULL;

    cluster_share_note_slow(cluster, now_msec);
    while ((long_read = cluster_share_find_surplus(cluster)) != NULL)
        put_back(cluster, long_read);
    for (struct cluster_read *read = cluster->reads; read != NULL; read = next) {
        int r = 0;

        next = read->next;
        if (read->call != NULL)
            continue;
        if (!is_wanted(cluster, read)) {
            free_read(cluster, read);
            continue;
        }
        if (!cluster_share_has_slot(cluster, read) ||
            now_msec < cluster_share_begin_msec(cluster, read))
            continue;
        r = begin_read(cluster, read, now_msec);
        if (r < 0)
            end_read(cluster, read, r);
    }
}
