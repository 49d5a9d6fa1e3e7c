/* SPDX-License-Identifier: Apache-2.0 */
/* feed - one list and watch: makes the calls that its reflector plans, and reports their results.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "k8s/cluster/internal.h"
#include "k8s/util/clock.h"
#include "k8s/util/http_status.h"
#include "k8s/util/percent.h"

/* What the API server calls a kind. */
struct feed_names {
    const char *root; /* of its paths */
    const char *resource;
    const char *permission; /* as rules of RBAC and messages name it */
};

static struct feed_names names_of(enum cluster_kind kind)
{
    switch (kind) {
    case CLUSTER_CONFIG_MAPS:
        return (struct feed_names){"/api/v1", "configmaps", "configmaps"};
    case CLUSTER_NAMESPACES:
        return (struct feed_names){"/api/v1", "namespaces", "namespaces"};
    case CLUSTER_NETWORK_POLICIES:
    default:
        return (struct feed_names){"/apis/networking.k8s.io/v1", "networkpolicies",
                                   "networkpolicies.networking.k8s.io"};
    }
}

/* For one namespace only. */
static int name_options(struct cluster_feed *feed, struct feed_names names,
                        struct reflector_options *options)
{
    struct arena *arena = &feed->cluster->arena;
    struct str shown = feed->namespace_name;
    struct str name = percent_encode(arena, shown);

    if (!str_present(name))
        return -ENOMEM;
    if (feed->kind == CLUSTER_NAMESPACES) {
        feed->what = arena_format(arena, "namespace %.*s", (int)shown.len, shown.ptr);
        options->selector =
            arena_format(arena, "fieldSelector=metadata.name%%3D%.*s", (int)name.len, name.ptr);
    } else {
        feed->what = arena_format(arena, "%s of %.*s", names.resource, (int)shown.len, shown.ptr);
        options->path = arena_format(arena, "%s/namespaces/%.*s/%s", names.root, (int)name.len,
                                     name.ptr, names.resource);
    }
    return str_present(feed->what) && str_present(options->selector) && str_present(options->path)
               ? 0
               : -ENOMEM;
}

static int make_options(struct cluster *cluster, struct cluster_feed *feed,
                        struct reflector_options *ret_options)
{
    const struct feed_names names = names_of(feed->kind);
    struct reflector_options options = {
        .path = arena_format(&cluster->arena, "%s/%s", names.root, names.resource),
        .selector = feed->kind == CLUSTER_CONFIG_MAPS ? STR(CLUSTER_SELECTOR) : STR(""),
        .members = cluster_members(feed->kind),
        .sink = cluster_sink(feed),
        .take_cut = feed->kind == CLUSTER_NETWORK_POLICIES,
    };

    feed->what = str_of(names.resource);
    if (getrandom(&options.seed, sizeof(options.seed), 0) != sizeof(options.seed))
        options.seed = (uint32_t)clock_msec(); /* only for random pauses */
    if (!str_present(options.path))
        return -ENOMEM;
    if (feed->namespace_name.len > 0 && name_options(feed, names, &options) < 0)
        return -ENOMEM;
    *ret_options = options;
    return 0;
}

static int add_feed(struct cluster *cluster, enum cluster_kind kind, struct str namespace_name)
{
    struct cluster_feed *feed = &cluster->feeds[cluster->feed_count];
    struct reflector_options options = {0};
    int r = 0;

    assert(cluster->feed_count < CLUSTER_KINDS * (cluster->options.namespaces.count + 1));
    *feed =
        (struct cluster_feed){.cluster = cluster, .kind = kind, .namespace_name = namespace_name};
    r = make_options(cluster, feed, &options);
    if (r == 0)
        r = reflector_new(&options, &feed->reflector);
    if (r == 0)
        cluster->feed_count++;
    return r;
}

static int add_feeds(struct cluster *cluster, struct str namespace_name)
{
    int r = 0;

    if (namespace_name.len > 0 &&
        cluster_feed_find(cluster, CLUSTER_CONFIG_MAPS, namespace_name) != NULL)
        return 0; /* it was named before */
    r = add_feed(cluster, CLUSTER_CONFIG_MAPS, namespace_name);
    if (r == 0)
        r = add_feed(cluster, CLUSTER_NAMESPACES, namespace_name);
    if (r == 0 && cluster->options.network_policies)
        r = add_feed(cluster, CLUSTER_NETWORK_POLICIES, namespace_name);
    return r;
}

int cluster_feeds_new(struct cluster *cluster)
{
    struct str_list named = cluster->options.namespaces;
    int r = 0;

    if (named.count > CLUSTER_MAX_NAMESPACES)
        return -E2BIG;
    cluster->feeds = calloc(CLUSTER_KINDS * (named.count + 1), sizeof(*cluster->feeds));
    if (cluster->feeds == NULL)
        return -ENOMEM;
    r = add_feeds(cluster, named.count > 0 ? cluster->options.own_namespace : STR(""));
    for (size_t i = 0; r == 0 && i < named.count; i++)
        r = add_feeds(cluster, named.items[i]);
    return r;
}

void cluster_feeds_free(struct cluster *cluster)
{
    for (size_t i = 0; i < cluster->feed_count; i++)
        reflector_free(cluster->feeds[i].reflector);
    free(cluster->feeds);
}

struct cluster_feed *cluster_feed_find(struct cluster *cluster, enum cluster_kind kind,
                                       struct str namespace_name)
{
    for (size_t i = 0; i < cluster->feed_count; i++) {
        struct cluster_feed *feed = &cluster->feeds[i];

        if (feed->kind == kind &&
            (feed->namespace_name.len == 0 || str_equal(feed->namespace_name, namespace_name)))
            return feed;
    }
    return NULL;
}

bool cluster_feeds_listed(const struct cluster *cluster)
{
    for (size_t i = 0; i < cluster->feed_count; i++) {
        if (!reflector_listed(cluster->feeds[i].reflector))
            return false;
    }
    return true;
}

static uint64_t silent_sec(const struct cluster_feed *feed, uint64_t now_msec)
{
    uint64_t last_event_msec = reflector_last_event_msec(feed->reflector);

    if (last_event_msec == 0)
        last_event_msec = feed->failing ? feed->failing_msec : now_msec;
    return (now_msec - last_event_msec) / 1000;
}

/* Only called for failures that lead to a pause: the end of a watch from time to time is normal. */
static void report_failure(struct cluster_feed *feed, uint64_t now_msec)
{
    const struct cluster_event event = {
        .kind = CLUSTER_FAILED,
        .what = feed->what,
        .reason = str_of(feed->problem),
        .since_sec = silent_sec(feed, now_msec),
    };

    if (feed->failing && now_msec - feed->reported_msec < CLUSTER_NOTIFY_SEC * 1000)
        return;
    if (!feed->failing)
        feed->failing_msec = now_msec;
    feed->failing = true;
    feed->reported_msec = now_msec;
    cluster_notify(feed->cluster, &event);
}

static void report_success(struct cluster_feed *feed, uint64_t now_msec)
{
    uint64_t lists = reflector_list_count(feed->reflector);

    if (feed->failing && reflector_last_event_msec(feed->reflector) > feed->failing_msec) {
        const struct cluster_event event = {
            .kind = CLUSTER_RECOVERED,
            .what = feed->what,
            .since_sec = (now_msec - feed->failing_msec) / 1000,
        };

        feed->failing = false;
        cluster_notify(feed->cluster, &event);
    }
    if (lists != feed->lists) {
        const struct cluster_event event = {.kind = CLUSTER_LISTED, .what = feed->what};

        feed->lists = lists;
        feed->cluster->listed = true;
        cluster_notify(feed->cluster, &event);
    }
}

/* The cause in the response if there was one, else the cause of the failed call. */
static struct str find_reason(const struct cluster_feed *feed, const struct api_reply *reply)
{
    struct str reason = reflector_reason(feed->reflector);

    if (feed->error == -ENOMEM)
        return STR("out of memory");
    if (str_present(reply->reason) && (feed->error == 0 || reason.len == 0))
        return reply->reason;
    return reason.len > 0 ? reason : STR("the response cannot be used");
}

static void note_problem(struct cluster_feed *feed, int result, const struct api_reply *reply)
{
    struct str reason = find_reason(feed, reply);
    bool is_forbidden = reply->status == HTTP_FORBIDDEN;

    if (reason.len > REFLECTOR_MAX_REASON_BYTES)
        reason.len = REFLECTOR_MAX_REASON_BYTES;
    (void)snprintf(feed->problem, sizeof(feed->problem), "%.*s%s%s", (int)reason.len, reason.ptr,
                   is_forbidden ? "; allow this account to get, list and watch " : "",
                   is_forbidden ? names_of(feed->kind).permission : "");
    feed->failed_status = result == 0 || reply->status >= 300 ? reply->status : 0;
}

static int take_bytes(void *context, const char *bytes, size_t count)
{
    struct cluster_feed *feed = context;
    uint64_t now_msec = clock_age_msec();

    feed->byte_msec = now_msec;
    feed->error =
        reflector_bytes(feed->reflector, (struct str){.ptr = bytes, .len = count}, now_msec);
    return feed->error;
}

static void take_end(void *context, int result, const struct api_reply *reply)
{
    struct cluster_feed *feed = context;
    uint64_t now_msec = clock_age_msec();
    bool is_whole = feed->error == 0 && result == 0 && reply->status == HTTP_OK;
    bool is_silent = result == -ETIMEDOUT && feed->task.step == REFLECTOR_WATCH;
    int status = result == 0 && feed->error == 0 ? reply->status : 0;

    feed->call = NULL;
    feed->problem[0] = '\0';
    if (is_whole)
        feed->error = reflector_ended(feed->reflector, now_msec);
    if (feed->task.step == REFLECTOR_LIST)
        cluster_note_read(feed->cluster, is_whole && feed->error == 0);
    if (is_whole && feed->error == 0) {
        if (reflector_reason(feed->reflector).len > 0)
            note_problem(feed, 0, reply);
    } else if (is_silent) {
        reflector_relist(feed->reflector, REFLECTOR_LATEST);
    } else {
        reflector_failed(feed->reflector, status == HTTP_OK ? 0 : status, reply->body,
                         reply->has_retry_after ? reply->retry_after_sec : 0, now_msec);
        note_problem(feed, result, reply);
    }
    report_success(feed, now_msec);
}

static int begin_call(struct cluster_feed *feed, uint64_t now_msec)
{
    bool is_list = feed->task.step == REFLECTOR_LIST;
    const uint64_t last_sec =
        is_list ? CLUSTER_LIST_SEC : feed->task.timeout_sec + CLUSTER_WATCH_GRACE_SEC;
    const struct api_request request = {
        .method = API_GET,
        .path = feed->task.path,
        .deadline_msec = now_msec + last_sec * 1000,
        .idle_sec = is_list ? CLUSTER_LIST_IDLE_SEC : CLUSTER_SILENT_SEC,
        .on_bytes = take_bytes,
        .context = feed,
    };

    assert(feed->call == NULL);
    feed->error = 0;
    feed->byte_msec = clock_age_msec();
    reflector_sent(feed->reflector);
    return api_loop_start(feed->cluster->loop, &request, take_end, &feed->call);
}

static int plan_task(struct cluster_feed *feed, uint64_t now_msec)
{
    uint64_t age_msec = clock_age_msec();
    int r = reflector_next(feed->reflector, age_msec, &feed->task);

    if (r < 0)
        return r;
    feed->planned = true;
    feed->begin_msec = now_msec + feed->task.pause_msec;
    if (feed->task.pause_msec > 0 && feed->problem[0] != '\0')
        report_failure(feed, age_msec);
    return 0;
}

/* Whether nothing is left to do: without watches, after the list. */
static bool is_finished(const struct cluster_feed *feed)
{
    return feed->cluster->once && reflector_listed(feed->reflector);
}

static void run_feed(struct cluster_feed *feed, uint64_t now_msec)
{
    int r = 0;

    if (feed->call != NULL || now_msec < feed->begin_msec || is_finished(feed))
        return;
    if (!feed->planned)
        r = plan_task(feed, now_msec);
    if (r == 0 && now_msec < feed->begin_msec)
        return;
    if (r == 0)
        r = begin_call(feed, now_msec);
    feed->planned = false;
    if (r < 0)
        feed->begin_msec = now_msec + CLUSTER_RETRY_MSEC;
}

void cluster_feeds_run(struct cluster *cluster, uint64_t now_msec)
{
    for (size_t i = 0; i < cluster->feed_count; i++) {
        struct cluster_feed *feed = &cluster->feeds[i];

        if (feed->call != NULL)
            report_success(feed, clock_age_msec());
        run_feed(feed, now_msec);
    }
}

uint64_t cluster_feeds_next(const struct cluster *cluster)
{
    uint64_t next_msec = 0;

    for (size_t i = 0; i < cluster->feed_count; i++) {
        const struct cluster_feed *feed = &cluster->feeds[i];

        if (feed->call == NULL && !is_finished(feed))
            next_msec = cluster_earlier(next_msec, feed->begin_msec);
    }
    return next_msec;
}

void cluster_feed_relist(struct cluster_feed *feed, enum reflector_relist how)
{
    if (feed->call != NULL)
        api_loop_drop(feed->cluster->loop, feed->call);
    feed->call = NULL;
    feed->planned = false;
    feed->begin_msec = 0;
    reflector_relist(feed->reflector, how);
}
