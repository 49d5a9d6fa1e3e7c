/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster - the thread of a cluster, and what other threads ask of it.
 *
 * Other threads leave questions and rules in an inbox, and read a few atomic counters. The thread
 * does everything else, so nothing else needs a lock.
 */
#include "k8s/cluster/cluster.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "k8s/cluster/internal.h"
#include "k8s/util/clock.h"
#include "k8s/util/http_status.h"

#define FAILED_TURN_MSEC 100 /* pause after a failed turn, to avoid a busy loop */

int cluster_new(const struct cluster_options *options, struct cluster **ret_cluster)
{
    struct cluster *cluster = calloc(1, sizeof(*cluster));
    int r = 0;

    if (cluster == NULL)
        return -ENOMEM;
    cluster->options = *options;
    cluster_set_max_stale(cluster, options->max_stale_sec);
    if (pthread_mutex_init(&cluster->lock, NULL) != 0) {
        free(cluster);
        return -ENOMEM;
    }
    r = api_loop_new(options->api, &cluster->loop);
    if (r == 0)
        r = cluster_feeds_new(cluster);
    if (r < 0) {
        cluster_free(cluster);
        return r;
    }
    cluster_mark_dirty(cluster); /* an empty cluster needs a first snapshot too */
    *ret_cluster = cluster;
    return 0;
}

int cluster_set_rules(struct cluster *cluster, const struct keyring *keyring,
                      const struct policy *policy, struct snapshot_keep keep)
{
    struct cluster_rules *rules = NULL;
    struct cluster_rules *before = NULL;
    int r = cluster_rules_new(keyring, policy, keep, &rules);

    if (r < 0)
        return r;
    (void)pthread_mutex_lock(&cluster->lock);
    before = cluster->next_rules;
    cluster->next_rules = rules;
    (void)pthread_mutex_unlock(&cluster->lock);
    cluster_rules_unref(before);
    api_loop_wake(cluster->loop);
    return 0;
}

/* Takes new questions and rules. True: the thread must end. */
static bool take_inbox(struct cluster *cluster, struct cluster_waiter **ret_asked,
                       struct cluster_rules **ret_rules)
{
    struct cluster_waiter *asked = NULL;
    bool stopping = false;

    (void)pthread_mutex_lock(&cluster->lock);
    asked = cluster->inbox;
    cluster->inbox = NULL;
    *ret_rules = cluster->next_rules;
    cluster->next_rules = NULL;
    stopping = cluster->stopping;
    (void)pthread_mutex_unlock(&cluster->lock);
    *ret_asked = NULL;
    while (asked != NULL) { /* reverses the list: the first question first */
        struct cluster_waiter *next = asked->next;

        asked->next = *ret_asked;
        *ret_asked = asked;
        asked = next;
    }
    return stopping;
}

/* Rules that could not be applied because memory was short are tried again, unless newer ones came.
 */
static void give_back_rules(struct cluster *cluster, struct cluster_rules *rules)
{
    (void)pthread_mutex_lock(&cluster->lock);
    if (cluster->next_rules == NULL) {
        cluster->next_rules = rules;
        rules = NULL;
    }
    (void)pthread_mutex_unlock(&cluster->lock);
    cluster_rules_unref(rules);
}

static void publish(_Atomic uint64_t *shared, uint64_t value)
{
    atomic_store_explicit(shared, value, memory_order_relaxed);
}

static uint64_t published(const _Atomic uint64_t *shared)
{
    return atomic_load_explicit(shared, memory_order_relaxed);
}

static void publish_status(struct cluster *cluster)
{
    struct cluster_shared *shared = &cluster->shared;
    uint64_t last_event_msec = UINT64_MAX;
    uint64_t relists = 0, failures = cluster->read_failures, known[CLUSTER_KINDS + 1] = {0};

    for (size_t i = 0; i < cluster->feed_count; i++) {
        const struct reflector *reflector = cluster->feeds[i].reflector;
        uint64_t lists = reflector_list_count(reflector);

        if (reflector_last_event_msec(reflector) < last_event_msec)
            last_event_msec = reflector_last_event_msec(reflector);
        relists += lists > 0 ? lists - 1 : 0;
        failures += reflector_failure_count(reflector);
        assert(cluster->feeds[i].kind <= CLUSTER_KINDS);
        known[cluster->feeds[i].kind] += reflector_object_count(reflector);
    }
    publish(&shared->last_event_msec, last_event_msec);
    publish(&shared->relists, relists);
    publish(&shared->failures, failures);
    publish(&shared->config_maps, known[CLUSTER_CONFIG_MAPS]);
    publish(&shared->namespaces, known[CLUSTER_NAMESPACES]);
    publish(&shared->network_policies, known[CLUSTER_NETWORK_POLICIES]);
}

static uint32_t wait_msec(const struct cluster *cluster, uint64_t now_msec)
{
    uint64_t next_msec = now_msec + CLUSTER_TURN_MSEC;

    next_msec = cluster_earlier(next_msec, cluster_feeds_next(cluster));
    next_msec = cluster_earlier(next_msec, cluster_build_next(cluster));
    next_msec = cluster_earlier(next_msec, cluster_confirm_next(cluster));
    next_msec = cluster_earlier(next_msec, cluster_probe_next(cluster));
    return next_msec > now_msec ? (uint32_t)(next_msec - now_msec) : 0;
}

/* False: the thread must end. */
static bool take_turn(struct cluster *cluster)
{
    uint64_t now_msec = clock_msec();
    struct cluster_waiter *asked = NULL;
    struct cluster_rules *rules = NULL;
    bool stopping = false;

    cluster_refresh_check(cluster); /* before new questions join the next refresh */
    stopping = take_inbox(cluster, &asked, &rules);
    if (rules != NULL && cluster_adopt_rules(cluster, rules, now_msec) < 0)
        give_back_rules(cluster, rules);
    while (asked != NULL) {
        struct cluster_waiter *waiter = asked;

        asked = waiter->next;
        cluster_take_waiter(cluster, waiter);
    }
    cluster_feeds_run(cluster, now_msec);
    cluster_build(cluster, now_msec);
    publish_status(cluster);
    cluster_probe_run(cluster, now_msec);
    cluster_confirm_run(cluster, now_msec);
    if (stopping)
        return false;
    if (api_loop_turn(cluster->loop, wait_msec(cluster, clock_msec())) < 0)
        (void)nanosleep(&(struct timespec){.tv_nsec = FAILED_TURN_MSEC * 1000000L}, NULL);
    return true;
}

static void *run(void *context)
{
    struct cluster *cluster = context;

    assert(!cluster->once);
    while (take_turn(cluster)) {
    }
    cluster_confirm_end(cluster, -ESHUTDOWN);
    return NULL;
}

static bool has_rules(struct cluster *cluster)
{
    bool has = false;

    (void)pthread_mutex_lock(&cluster->lock);
    has = cluster->next_rules != NULL;
    (void)pthread_mutex_unlock(&cluster->lock);
    return has;
}

int cluster_start(struct cluster *cluster)
{
    sigset_t all;
    sigset_t before;
    int r = 0;

    if (!has_rules(cluster))
        return -EINVAL;
    /* the thread blocks all signals: other threads of the program handle them */
    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return -EINVAL;
    r = pthread_create(&cluster->thread, NULL, run, cluster);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    cluster->started = r == 0;
    return -r;
}

void cluster_free(struct cluster *cluster)
{
    struct cluster_waiter *asked = NULL;
    struct cluster_rules *rules = NULL;

    if (cluster == NULL)
        return;
    (void)pthread_mutex_lock(&cluster->lock);
    cluster->stopping = true;
    (void)pthread_mutex_unlock(&cluster->lock);
    if (cluster->started) {
        api_loop_wake(cluster->loop);
        (void)pthread_join(cluster->thread, NULL);
    }
    (void)take_inbox(cluster, &asked, &rules);
    while (asked != NULL) { /* questions to a cluster that was never started */
        struct cluster_waiter *waiter = asked;

        asked = waiter->next;
        waiter->done(waiter, -ESHUTDOWN);
    }
    cluster_rules_unref(rules);
    api_loop_free(cluster->loop);
    cluster_reads_free(cluster);
    cluster_feeds_free(cluster);
    cluster_invalid_free(cluster);
    cluster_rules_unref(cluster->rules);
    (void)pthread_mutex_destroy(&cluster->lock);
    arena_release(&cluster->arena);
    free(cluster);
}

/* Whether the last failure will not go away by waiting. */
static bool is_final(const struct cluster_feed *feed)
{
    return feed->problem[0] != '\0' && feed->failed_status != HTTP_GONE &&
           feed->failed_status != HTTP_TOO_MANY_REQUESTS &&
           feed->failed_status < HTTP_INTERNAL_ERROR;
}

static int explain(const struct cluster *cluster, bool late, struct arena *arena,
                   struct str *reterr_reason)
{
    for (size_t i = 0; i < cluster->feed_count; i++) {
        const struct cluster_feed *feed = &cluster->feeds[i];

        if (feed->problem[0] == '\0' || (!late && !is_final(feed)))
            continue;
        *reterr_reason = arena_format(arena, "%s", feed->problem);
        if (late)
            return -ETIMEDOUT;
        return feed->failed_status == HTTP_UNAUTHORIZED || feed->failed_status == HTTP_FORBIDDEN
                   ? -EACCES
                   : -EIO;
    }
    if (late)
        *reterr_reason = arena_format(arena, "%.*s: no response in time",
                                      (int)api_server(cluster->options.api).len,
                                      api_server(cluster->options.api).ptr);
    return late ? -ETIMEDOUT : 0;
}

int cluster_read_once(struct cluster *cluster, uint64_t deadline_msec, struct arena *arena,
                      struct str *reterr_reason)
{
    if (!has_rules(cluster) || cluster->started)
        return -EINVAL;
    cluster->once = true;
    while (!cluster_ready(cluster)) {
        bool late = clock_msec() >= deadline_msec;
        int r = explain(cluster, late, arena, reterr_reason);

        if (r < 0)
            return r;
        (void)take_turn(cluster);
    }
    return 0;
}

int cluster_ask(struct cluster *cluster, enum cluster_question question, struct str namespace_name,
                struct cluster_waiter *waiter)
{
    int r = 0;

    if (question != CLUSTER_FRESH &&
        (namespace_name.len == 0 || namespace_name.len > CLUSTER_MAX_NAME_BYTES ||
         cluster_feed_find(cluster, CLUSTER_NAMESPACES, namespace_name) == NULL))
        return -EIO;
    waiter->question = question;
    waiter->namespace_name = namespace_name;
    (void)pthread_mutex_lock(&cluster->lock);
    if (cluster->stopping) {
        r = -ESHUTDOWN;
    } else {
        waiter->next = cluster->inbox;
        cluster->inbox = waiter;
    }
    (void)pthread_mutex_unlock(&cluster->lock);
    if (r == 0)
        api_loop_wake(cluster->loop);
    return r;
}

void cluster_set_max_stale(struct cluster *cluster, uint32_t max_stale_sec)
{
    atomic_store_explicit(&cluster->shared.max_stale_sec, max_stale_sec, memory_order_relaxed);
}

void cluster_read_status(const struct cluster *cluster, struct cluster_status *ret_status)
{
    const struct cluster_shared *shared = &cluster->shared;
    uint64_t last_event_msec = published(&shared->last_event_msec);
    uint64_t failed_read_msec = published(&shared->failed_read_msec);
    uint64_t now_msec = clock_age_msec();

    *ret_status = (struct cluster_status){
        .ready = cluster_ready(cluster),
        .last_event_age_msec = last_event_msec < now_msec ? now_msec - last_event_msec : 0,
        .stale = cluster_ready(cluster) && cluster_is_stale(cluster),
        .failed_reads = published(&shared->failed_reads),
        .failed_read_age_msec = failed_read_msec != 0 ? now_msec - failed_read_msec : UINT64_MAX,
        .relists = published(&shared->relists),
        .failures = published(&shared->failures),
        .confirmations = published(&shared->confirmations),
        .confirmations_refused = published(&shared->refused),
        .config_maps = published(&shared->config_maps),
        .namespaces = published(&shared->namespaces),
        .network_policies = published(&shared->network_policies),
    };
}
