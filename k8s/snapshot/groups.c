/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups - which baselines apply to the pods of a namespace, and what they allow together.
 *
 * Baselines of the gate's own namespace without `namespaces` apply everywhere. Namespaces to which
 * the same further baselines apply form a group. What a group allows is made when the first pod
 * asks for it, from what the baselines for all pods allow: most namespaces of a large cluster are
 * not asked for in the life of a snapshot. Two threads can make it at the same time; one of the
 * results is kept.
 */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "k8s/snapshot/index.h"

struct snapshot_made {
    struct arena arena; /* has this struct itself */
    struct snapshot_baselines baselines;
};

/* A baseline that applies to the pods of a namespace. */
struct pair {
    struct str namespace_name;
    const struct evidence *baseline;
};

/* The baselines of one namespace: pairs that follow each other. */
struct scope {
    const struct pair *pairs;
    size_t count;
};

/* By content: copies in different namespaces are equal. */
static int compare_content(const struct evidence *a, const struct evidence *b)
{
    int r = str_compare(a->digest, b->digest);

    if (r != 0 || snapshot_same_bytes(a, b))
        return r;
    return snapshot_compare_names(a, b);
}

static int order_pairs(const void *a, const void *b)
{
    const struct pair *left = a, *right = b;
    int r = str_compare(left->namespace_name, right->namespace_name);

    if (r == 0)
        r = compare_content(left->baseline, right->baseline);
    return r != 0 ? r : snapshot_compare_names(left->baseline, right->baseline);
}

static int order_content(const void *a, const void *b)
{
    const struct evidence *const *left = a, *const *right = b;

    return compare_content(*left, *right);
}

static int compare_baselines(const struct scope *a, const struct scope *b)
{
    size_t common = a->count < b->count ? a->count : b->count;

    for (size_t i = 0; i < common; i++) {
        int r = compare_content(a->pairs[i].baseline, b->pairs[i].baseline);

        if (r != 0)
            return r;
    }
    return (a->count > b->count) - (a->count < b->count);
}

static int order_scopes(const void *a, const void *b)
{
    const struct scope *left = a, *right = b;
    int r = compare_baselines(left, right);

    return r != 0 ? r : str_compare(left->pairs[0].namespace_name, right->pairs[0].namespace_name);
}

static int order_members(const void *a, const void *b)
{
    const struct snapshot_member *left = a, *right = b;

    return str_compare(left->namespace_name, right->namespace_name);
}

static bool is_own(const struct snapshot *snapshot, const struct evidence *baseline)
{
    return str_equal(baseline->namespace_name, snapshot->policy.own_namespace);
}

static bool is_for_all(const struct snapshot *snapshot, const struct evidence *baseline)
{
    return is_own(snapshot, baseline) && !baseline->namespaces_named;
}

/* The baselines for all pods, by content. */
static int fill_common(struct snapshot *snapshot)
{
    struct snapshot_group *common = &snapshot->common;

    common->items = arena_alloc(&snapshot->arena, snapshot->baseline_count, sizeof(*common->items));
    if (common->items == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < snapshot->baseline_count; i++) {
        if (is_for_all(snapshot, snapshot->baselines[i]))
            common->items[common->count++] = snapshot->baselines[i];
    }
    if (common->count > 1)
        qsort(common->items, common->count, sizeof(*common->items), order_content);
    return 0;
}

static bool is_common(const struct snapshot *snapshot, const struct evidence *baseline)
{
    const struct snapshot_group *common = &snapshot->common;

    return common->count > 0 && bsearch(&baseline, common->items, common->count,
                                        sizeof(*common->items), order_content) != NULL;
}

/* The namespaces whose pods a baseline limits, other than one for all. */
static size_t count_targets(const struct snapshot *snapshot, const struct evidence *baseline)
{
    if (is_own(snapshot, baseline))
        return baseline->namespaces_named ? baseline->namespaces.count : 0;
    return evidence_in_scope(baseline, baseline->namespace_name) ? 1 : 0;
}

/* Each pair once, without those that apply to all pods. */
static int make_pairs(const struct snapshot *snapshot, struct arena *arena, struct pair **ret_pairs,
                      size_t *ret_count)
{
    struct pair *pairs = NULL;
    size_t count = 0, kept = 0;

    for (size_t i = 0; i < snapshot->baseline_count; i++)
        count += count_targets(snapshot, snapshot->baselines[i]);
    pairs = arena_alloc(arena, count, sizeof(*pairs));
    if (pairs == NULL)
        return -ENOMEM;
    count = 0;
    for (size_t i = 0; i < snapshot->baseline_count; i++) {
        const struct evidence *baseline = snapshot->baselines[i];
        const struct str *names =
            is_own(snapshot, baseline) ? baseline->namespaces.items : &baseline->namespace_name;

        for (size_t j = 0; j < count_targets(snapshot, baseline); j++)
            pairs[count++] = (struct pair){.namespace_name = names[j], .baseline = baseline};
    }
    if (count > 1)
        qsort(pairs, count, sizeof(*pairs), order_pairs);
    for (size_t i = 0; i < count; i++) {
        bool is_copy = kept > 0 &&
                       str_equal(pairs[kept - 1].namespace_name, pairs[i].namespace_name) &&
                       compare_content(pairs[kept - 1].baseline, pairs[i].baseline) == 0;

        if (!is_copy && !is_common(snapshot, pairs[i].baseline))
            pairs[kept++] = pairs[i];
    }
    *ret_pairs = pairs;
    *ret_count = kept;
    return 0;
}

/* The scopes of all namespaces that have further baselines; equal ones follow each other. */
static int make_scopes(const struct pair *pairs, size_t pair_count, struct arena *arena,
                       struct scope **ret_scopes, size_t *ret_count)
{
    struct scope *scopes = arena_alloc(arena, pair_count, sizeof(*scopes));
    size_t count = 0;

    if (scopes == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < pair_count; i++) {
        if (i == 0 || !str_equal(pairs[i - 1].namespace_name, pairs[i].namespace_name))
            scopes[count++].pairs = &pairs[i];
        scopes[count - 1].count++;
    }
    if (count > 1)
        qsort(scopes, count, sizeof(*scopes), order_scopes);
    *ret_scopes = scopes;
    *ret_count = count;
    return 0;
}

static int make_group(struct snapshot *snapshot, const struct scope *scope)
{
    struct snapshot_group *group = &snapshot->groups[snapshot->group_count];

    group->items = arena_alloc(&snapshot->arena, scope->count, sizeof(*group->items));
    if (group->items == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < scope->count; i++)
        group->items[group->count++] = scope->pairs[i].baseline;
    snapshot->group_count++;
    return 0;
}

int snapshot_fill_groups(struct snapshot *snapshot)
{
    cleanup_arena struct arena scratch = {0};
    struct pair *pairs = NULL;
    struct scope *scopes = NULL;
    size_t pair_count = 0, count = 0, groups = 0;
    int r = fill_common(snapshot);

    if (r == 0)
        r = make_pairs(snapshot, &scratch, &pairs, &pair_count);
    if (r == 0)
        r = make_scopes(pairs, pair_count, &scratch, &scopes, &count);
    if (r < 0)
        return r;
    for (size_t i = 0; i < count; i++)
        groups += i == 0 || compare_baselines(&scopes[i - 1], &scopes[i]) != 0;
    snapshot->groups = arena_alloc(&snapshot->arena, groups, sizeof(*snapshot->groups));
    snapshot->members = arena_alloc(&snapshot->arena, count, sizeof(*snapshot->members));
    if (snapshot->groups == NULL || snapshot->members == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_baselines(&scopes[i - 1], &scopes[i]) != 0)
            r = make_group(snapshot, &scopes[i]);
        if (r < 0)
            return r;
        snapshot->members[i] = (struct snapshot_member){
            .namespace_name = scopes[i].pairs[0].namespace_name,
            .group = &snapshot->groups[snapshot->group_count - 1],
        };
    }
    assert(snapshot->group_count == groups);
    snapshot->member_count = count;
    if (count > 1)
        qsort(snapshot->members, count, sizeof(*snapshot->members), order_members);
    return 0;
}

static void free_made(struct snapshot_made *made)
{
    struct arena arena = {0};

    if (made == NULL)
        return;
    arena = made->arena;
    arena_release(&arena);
}

static void free_group(struct snapshot_group *group)
{
    free_made(atomic_load_explicit(&group->made, memory_order_acquire));
}

void snapshot_free_groups(struct snapshot *snapshot)
{
    free_group(&snapshot->common);
    for (size_t i = 0; i < snapshot->group_count; i++)
        free_group(&snapshot->groups[i]);
}

static void narrow_age(int *days, int other)
{
    if (other > 0 && (*days == 0 || other < *days))
        *days = other;
}

/* What the baselines of the group and those of `base` allow together. */
static int make(const struct snapshot_group *group, const struct snapshot_baselines *base,
                struct arena *arena, struct snapshot_baselines *ret_baselines)
{
    struct snapshot_baselines made = *base;
    size_t count = base->count + group->count;
    const struct evidence **items = arena_alloc(arena, count, sizeof(*items));
    cJSON *baseline = NULL;
    int r = 0;

    if (items == NULL)
        return -ENOMEM;
    assert(base->count == 0 || base->items != NULL);
    for (size_t i = 0; i < base->count; i++)
        items[i] = base->items[i];
    for (size_t i = 0; i < group->count && r == 0; i++) {
        const struct evidence *one = group->items[i];

        items[base->count + i] = one;
        narrow_age(&made.max_age_days, one->max_age_days);
        made.hold |= one->boundary_hold;
        r = ceiling_meet(&made.ceiling, ceiling_of_baseline(one->baseline, one->boundary_mounts),
                         arena);
    }
    if (r == 0)
        r = ceiling_prepare(&made.ceiling, arena);
    if (r == 0 && count > 0)
        r = ceiling_write(&made.ceiling, arena, &baseline);
    if (r < 0)
        return r;
    made.items = items;
    made.count = count;
    made.baseline = baseline;
    *ret_baselines = made;
    return 0;
}

/* The result of the group, made if nobody did. */
static int get_made(struct snapshot_group *group, const struct snapshot_baselines *base,
                    const struct snapshot_baselines **ret_baselines)
{
    struct snapshot_made *made = atomic_load_explicit(&group->made, memory_order_acquire);
    struct snapshot_made *before = NULL;
    struct arena arena = {0};
    int r = 0;

    if (made == NULL) {
        made = arena_alloc(&arena, 1, sizeof(*made));
        r = made != NULL ? make(group, base, &arena, &made->baselines) : -ENOMEM;
        if (r < 0) {
            arena_release(&arena);
            return r;
        }
        made->arena = arena;
        if (!atomic_compare_exchange_strong_explicit(&group->made, &before, made,
                                                     memory_order_acq_rel, memory_order_acquire)) {
            free_made(made);
            made = before;
        }
    }
    *ret_baselines = &made->baselines;
    return 0;
}

static struct snapshot_group *find_group(const struct snapshot *snapshot, struct str name)
{
    const struct snapshot_member sought = {.namespace_name = name};
    const struct snapshot_member *found =
        snapshot->member_count > 0 ? bsearch(&sought, snapshot->members, snapshot->member_count,
                                             sizeof(*snapshot->members), order_members)
                                   : NULL;

    return found != NULL ? found->group : NULL;
}

int snapshot_baselines(const struct snapshot *snapshot, struct str namespace_name,
                       const struct snapshot_baselines **ret_baselines)
{
    static const struct snapshot_baselines none = {0};
    /* only the results change, by atomic exchange */
    struct snapshot *shared = (struct snapshot *)(uintptr_t)snapshot;
    struct snapshot_group *group = find_group(snapshot, namespace_name);
    const struct snapshot_baselines *common = NULL;
    int r = get_made(&shared->common, &none, &common);

    if (r == 0 && group != NULL)
        r = get_made(group, common, &common);
    if (r == 0)
        *ret_baselines = common;
    return r;
}
