/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share - limits confirmation reads in number and rate (section 4), and gives each namespace its
 * share, so that requests for missing objects cannot overload the API server, and those of one
 * namespace cannot hold up those of the others.
 *
 * Each namespace has at most one read that waits and one in progress, and reads begin in the order
 * of their questions: so namespaces take turns. What one of them can use beyond that is bounded:
 * its reads in a second, and, where they take long (a namespace full of evidence), the number of
 * slots. Every question about evidence needs the gate's own namespace too, so its read is exempt
 * from these two bounds.
 */
#include <assert.h>
#include <limits.h>

#include "k8s/cluster/internal.h"

struct str cluster_read_name(const struct cluster_read *read)
{
    return (struct str){.ptr = read->namespace_name, .len = read->namespace_len};
}

bool cluster_read_is_of(const struct cluster_read *read, const struct cluster_feed *feed,
                        struct str namespace_name)
{
    return read->feed == feed && str_equal(cluster_read_name(read), namespace_name);
}

static bool is_own(const struct cluster *cluster, struct str namespace_name)
{
    return str_equal(namespace_name, cluster->options.own_namespace);
}

/* ---- what is remembered of a namespace ---- */

static bool is_mark_of(const struct cluster_mark *mark, const struct cluster_feed *feed,
                       struct str namespace_name)
{
    return mark->feed == feed &&
           str_equal((struct str){.ptr = mark->name, .len = mark->len}, namespace_name);
}

static void set_mark(struct cluster_mark *mark, const struct cluster_read *read, uint64_t now_msec)
{
    assert(read->namespace_len <= sizeof(mark->name));
    mark->feed = read->feed;
    mark->len = read->namespace_len;
    mark->msec = now_msec;
    memcpy(mark->name, read->namespace_name, read->namespace_len);
}

static struct cluster_mark *find_slow(struct cluster_share *share, const struct cluster_feed *feed,
                                      struct str namespace_name)
{
    for (size_t i = 0; i < CLUSTER_MAX_SLOW_KNOWN; i++) {
        if (is_mark_of(&share->slow[i], feed, namespace_name))
            return &share->slow[i];
    }
    return NULL;
}

bool cluster_share_is_slow(struct cluster *cluster, const struct cluster_feed *feed,
                           struct str namespace_name)
{
    return !is_own(cluster, namespace_name) &&
           find_slow(&cluster->share, feed, namespace_name) != NULL;
}

/* The oldest entry is replaced: the namespace is found slow again by its next read. */
static void remember_slow(struct cluster_share *share, const struct cluster_read *read,
                          uint64_t now_msec)
{
    struct cluster_mark *mark = find_slow(share, read->feed, cluster_read_name(read));

    for (size_t i = 0; mark == NULL && i < CLUSTER_MAX_SLOW_KNOWN; i++) {
        if (share->slow[i].feed == NULL)
            mark = &share->slow[i];
    }
    if (mark == NULL) {
        mark = &share->slow[0];
        for (size_t i = 1; i < CLUSTER_MAX_SLOW_KNOWN; i++) {
            if (share->slow[i].msec < mark->msec)
                mark = &share->slow[i];
        }
    }
    set_mark(mark, read, now_msec);
}

void cluster_share_note_fast(struct cluster *cluster, const struct cluster_read *read)
{
    struct cluster_mark *mark = find_slow(&cluster->share, read->feed, cluster_read_name(read));

    if (mark != NULL)
        *mark = (struct cluster_mark){0};
}

/* ---- slots ---- */

static size_t count_in_progress(const struct cluster *cluster, bool only_slow)
{
    size_t count = 0;

    for (const struct cluster_read *read = cluster->reads; read != NULL; read = read->next)
        count += read->call != NULL && (read->slow || !only_slow);
    return count;
}

static bool is_in_progress(const struct cluster *cluster, const struct cluster_read *read)
{
    for (const struct cluster_read *other = cluster->reads; other != NULL; other = other->next) {
        if (other->call != NULL && cluster_read_is_of(other, read->feed, cluster_read_name(read)))
            return true;
    }
    return false;
}

/* Whether the read could begin if a slot were free. It waits for the end of a list, which it must
 * not overlap. */
static bool waits_for_slot(const struct cluster *cluster, const struct cluster_read *read)
{
    return read->call == NULL && !reflector_listing(read->feed->reflector) &&
           !is_in_progress(cluster, read) &&
           (!read->slow || count_in_progress(cluster, true) < CLUSTER_MAX_SLOW_CONFIRMING);
}

bool cluster_share_has_slot(const struct cluster *cluster, const struct cluster_read *read)
{
    return waits_for_slot(cluster, read) &&
           count_in_progress(cluster, false) < CLUSTER_MAX_CONFIRMING;
}

void cluster_share_note_slow(struct cluster *cluster, uint64_t now_msec)
{
    for (struct cluster_read *read = cluster->reads; read != NULL; read = read->next) {
        if (read->call == NULL || read->slow || is_own(cluster, cluster_read_name(read)) ||
            now_msec < read->begun_msec + CLUSTER_LONG_READ_MSEC)
            continue;
        read->slow = true;
        remember_slow(&cluster->share, read, now_msec);
    }
}

static bool is_slot_wanted(const struct cluster *cluster)
{
    if (count_in_progress(cluster, false) < CLUSTER_MAX_CONFIRMING)
        return false;
    for (const struct cluster_read *read = cluster->reads; read != NULL; read = read->next) {
        if (!read->slow && waits_for_slot(cluster, read))
            return true;
    }
    return false;
}

struct cluster_read *cluster_share_find_surplus(const struct cluster *cluster)
{
    struct cluster_read *oldest = NULL;

    if (!is_slot_wanted(cluster) || count_in_progress(cluster, true) <= CLUSTER_MAX_SLOW_CONFIRMING)
        return NULL;
    for (struct cluster_read *read = cluster->reads; read != NULL; read = read->next) {
        if (read->call != NULL && read->slow &&
            (oldest == NULL || read->begun_msec < oldest->begun_msec))
            oldest = read;
    }
    assert(oldest != NULL);
    return oldest;
}

/* ---- rate ---- */

void cluster_share_note_begin(struct cluster *cluster, const struct cluster_read *read,
                              uint64_t now_msec)
{
    struct cluster_share *share = &cluster->share;

    set_mark(&share->begun[share->begun_count++ % CLUSTER_MAX_CONFIRMED_PER_SEC], read, now_msec);
}

uint64_t cluster_share_begin_msec(const struct cluster *cluster, const struct cluster_read *read)
{
    const struct cluster_share *share = &cluster->share;
    size_t known = share->begun_count < CLUSTER_MAX_CONFIRMED_PER_SEC
                       ? share->begun_count
                       : CLUSTER_MAX_CONFIRMED_PER_SEC;
    unsigned left =
        is_own(cluster, cluster_read_name(read)) ? UINT_MAX : CLUSTER_MAX_NAMESPACE_PER_SEC;

    for (size_t back = 1; back <= known; back++) { /* the newest first */
        const struct cluster_mark *mark =
            &share->begun[(share->begun_count - back) % CLUSTER_MAX_CONFIRMED_PER_SEC];

        if (back == CLUSTER_MAX_CONFIRMED_PER_SEC)
            return mark->msec + 1000;
        if (is_mark_of(mark, read->feed, cluster_read_name(read)) && --left == 0)
            return mark->msec + 1000;
    }
    return 0;
}

/* ---- the queue ---- */

size_t cluster_reads_remaining(const struct cluster *cluster, bool slow)
{
    size_t limit = slow ? CLUSTER_MAX_SLOW_WAITING : CLUSTER_MAX_CONFIRMED_PER_SEC;
    size_t waiting = 0;

    for (const struct cluster_read *read = cluster->reads; read != NULL; read = read->next)
        waiting += read->call == NULL && (read->slow || !slow);
    return waiting < limit ? limit - waiting : 0;
}

uint64_t cluster_reads_next(const struct cluster *cluster)
{
    bool is_wanted = is_slot_wanted(cluster);
    uint64_t next_msec = 0;

    for (const struct cluster_read *read = cluster->reads; read != NULL; read = read->next) {
        if (cluster_share_has_slot(cluster, read))
            next_msec = cluster_earlier(next_msec, cluster_share_begin_msec(cluster, read));
        else if (is_wanted && read->call != NULL && !read->slow)
            next_msec = cluster_earlier(next_msec, read->begun_msec + CLUSTER_LONG_READ_MSEC);
    }
    return next_msec;
}
