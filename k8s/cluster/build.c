/* SPDX-License-Identifier: Apache-2.0 */
/* build - builds snapshots when they are due, and applies new keys and rules. */
#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "k8s/cluster/internal.h"
#include "k8s/util/clock.h"

int cluster_rules_new(const struct keyring *keyring, const struct policy *policy,
                      struct snapshot_keep keep, struct cluster_rules **ret_rules)
{
    struct cluster_rules *rules = calloc(1, sizeof(*rules));
    int r = rules != NULL ? evidence_rules_digest(policy, rules->digest) : -ENOMEM;

    if (r < 0) {
        free(rules);
        if (keep.release != NULL)
            keep.release(keep.object);
        return r;
    }
    refcount_init(&rules->count);
    rules->keyring = keyring_ref(keyring);
    rules->policy = *policy;
    rules->keep = keep;
    *ret_rules = rules;
    return 0;
}

static struct cluster_rules *rules_ref(struct cluster_rules *rules)
{
    refcount_take(&rules->count);
    return rules;
}

void cluster_rules_unref(void *object)
{
    struct cluster_rules *rules = object;

    if (rules == NULL || !refcount_drop(&rules->count))
        return;
    keyring_unref(rules->keyring);
    if (rules->keep.release != NULL)
        rules->keep.release(rules->keep.object);
    free(rules);
}

/* Makes evidence invalid that the new rules refuse; the old ones accepted it. */
struct withdrawal {
    struct cluster *cluster;
    const struct cluster_rules *rules;
};

static int withdraw(void *context, struct str namespace_name, struct str name, void **value)
{
    const struct withdrawal *withdrawal = context;
    struct evidence *record = NULL;
    int r = 0;

    (void)namespace_name;
    (void)name;
    if (*value == NULL)
        return 0;
    r = evidence_withdraw(*value, withdrawal->rules->keyring, &withdrawal->rules->policy, &record);
    if (r < 0 || record == NULL)
        return r;
    r = cluster_invalid_replace(withdrawal->cluster, *value, &record);
    if (r < 0) {
        evidence_unref(record);
        return r;
    }
    evidence_unref(*value);
    *value = record;
    return 0;
}

/* Before anything is read again, because the API server can be unreachable: a revocation must work
 * then too. */
static int withdraw_all(struct cluster *cluster, const struct cluster_rules *rules)
{
    struct withdrawal withdrawal = {.cluster = cluster, .rules = rules};

    for (size_t i = 0; i < cluster->feed_count; i++) {
        const struct cluster_feed *feed = &cluster->feeds[i];
        int r = 0;

        if (feed->kind == CLUSTER_CONFIG_MAPS)
            r = reflector_each(feed->reflector, withdraw, &withdrawal);
        if (r < 0)
            return r;
    }
    return 0;
}

static void relist_evidence(struct cluster *cluster)
{
    for (size_t i = 0; i < cluster->feed_count; i++) {
        if (cluster->feeds[i].kind == CLUSTER_CONFIG_MAPS)
            cluster_feed_relist(&cluster->feeds[i], REFLECTOR_AGAIN);
    }
}

int cluster_adopt_rules(struct cluster *cluster, struct cluster_rules *rules, uint64_t now_msec)
{
    const struct cluster_rules *before = cluster->rules;
    bool changed = before != NULL && (memcmp(before->digest, rules->digest, DIGEST_BYTES) != 0 ||
                                      !keyring_equal(before->keyring, rules->keyring));
    int r = changed ? withdraw_all(cluster, rules) : 0;

    if (r < 0)
        return r;
    cluster_rules_unref(cluster->rules);
    cluster->rules = rules;
    if (changed)
        relist_evidence(cluster);
    cluster_mark_dirty(cluster);
    cluster->urgent = true;
    cluster->retry_msec = now_msec;
    return 0;
}

static int add_evidence(void *context, struct str namespace_name, struct str name, void **value)
{
    const struct evidence *evidence = *value;

    (void)namespace_name;
    (void)name;
    if (evidence == NULL || evidence->name.len == 0)
        return 0; /* not evidence, or over a limit and only counted (invalid.c) */
    return snapshot_builder_add_evidence(context, evidence);
}

static int add_namespace(void *context, struct str namespace_name, struct str name, void **value)
{
    (void)namespace_name;
    (void)name;
    return snapshot_builder_add_namespace(context, *value);
}

static int add_network_policy(void *context, struct str namespace_name, struct str name,
                              void **value)
{
    (void)namespace_name;
    (void)name;
    return snapshot_builder_add_network_policy(context, *value);
}

static int add_feed(struct snapshot_builder *builder, const struct cluster_feed *feed)
{
    switch (feed->kind) {
    case CLUSTER_CONFIG_MAPS:
        return reflector_each(feed->reflector, add_evidence, builder);
    case CLUSTER_NAMESPACES:
        return reflector_each(feed->reflector, add_namespace, builder);
    case CLUSTER_NETWORK_POLICIES:
    default:
        return reflector_each(feed->reflector, add_network_policy, builder);
    }
}

static int make_snapshot(struct cluster *cluster, struct snapshot **ret_snapshot)
{
    const struct snapshot_keep keep = {.object = rules_ref(cluster->rules),
                                       .release = cluster_rules_unref};
    struct snapshot_builder *builder = NULL;
    int r = snapshot_builder_new(&cluster->rules->policy, keep, &builder);

    if (r < 0)
        return r;
    if (cluster->options.network_policies)
        snapshot_builder_read_network_policies(builder);
    for (size_t i = 0; r == 0 && i < cluster->feed_count; i++)
        r = add_feed(builder, &cluster->feeds[i]);
    if (r == 0)
        r = cluster_invalid_add(cluster, builder);
    if (r == 0)
        r = snapshot_builder_finish(builder, ret_snapshot);
    if (r < 0)
        snapshot_builder_free(builder);
    return r;
}

/* Whether a list is in progress: some objects are from before the list, some from it. */
static bool is_list_in_progress(const struct cluster *cluster)
{
    for (size_t i = 0; i < cluster->feed_count; i++) {
        const struct cluster_feed *feed = &cluster->feeds[i];

        if (feed->call != NULL && reflector_listing(feed->reflector))
            return true;
    }
    return false;
}

uint64_t cluster_build_next(const struct cluster *cluster)
{
    uint64_t due_msec = cluster->dirty_msec + CLUSTER_BURST_MSEC;
    uint64_t not_before_msec = cluster->built_msec + cluster->cost_msec * (CLUSTER_BUILD_SHARE - 1);

    if (!cluster->dirty || !cluster_feeds_listed(cluster))
        return 0;
    if (cluster_snapshot_wanted(cluster) || cluster->urgent) {
        due_msec = cluster->dirty_msec;
        not_before_msec = cluster->urgent ? 0 : cluster->built_msec + cluster->cost_msec;
    } else if (is_list_in_progress(cluster)) {
        return 0;
    }
    if (due_msec < not_before_msec)
        due_msec = not_before_msec;
    return due_msec > cluster->retry_msec ? due_msec : cluster->retry_msec;
}

void cluster_build(struct cluster *cluster, uint64_t now_msec)
{
    struct snapshot *snapshot = NULL;
    uint64_t due_msec = cluster_build_next(cluster);
    int r = 0;

    if (cluster->has_room)
        relist_evidence(cluster);
    cluster->has_room = false;
    if (due_msec == 0 || now_msec < due_msec)
        return;
    assert(cluster->rules != NULL);
    r = make_snapshot(cluster, &snapshot);
    cluster->built_msec = clock_msec();
    cluster->cost_msec = cluster->built_msec - now_msec;
    if (r < 0) {
        cluster->retry_msec = cluster->built_msec + CLUSTER_RETRY_MSEC;
        return;
    }
    cluster->dirty = false;
    cluster->urgent = false;
    snapshot_store_put(cluster->options.store, snapshot);
    atomic_store_explicit(&cluster->shared.ready, true, memory_order_release);
    if (cluster->listed)
        (void)malloc_trim(0); /* a list leaves much free memory in the heap: return it to the
                                 system; tests/bench checks the limit */
    cluster->listed = false;
}
