/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot - lookups in a finished snapshot. All lists are sorted by build.c, so that no request
 * walks through all evidence.
 */
#include "k8s/snapshot/snapshot.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "k8s/snapshot/index.h"

struct snapshot *snapshot_ref(const struct snapshot *snapshot)
{
    struct snapshot *shared = (struct snapshot *)(uintptr_t)snapshot;

    refcount_take(&shared->count);
    return shared;
}

void snapshot_unref(const struct snapshot *snapshot)
{
    struct snapshot *shared = (struct snapshot *)(uintptr_t)snapshot;

    if (shared == NULL || !refcount_drop(&shared->count))
        return;
    snapshot_free_groups(shared);
    for (size_t i = 0; i < shared->all_count; i++)
        evidence_unref(shared->all[i]);
    snapshot_free_network_policies(shared);
    arena_release(&shared->arena);
    if (shared->keep.release != NULL)
        shared->keep.release(shared->keep.object);
    free(shared);
}

const struct policy *snapshot_policy(const struct snapshot *snapshot)
{
    return &snapshot->policy;
}

static int compare_namespace(const void *name, const void *item)
{
    const struct namespace_labels *const *labels = item;

    return str_compare(*(const struct str *)name, (*labels)->name);
}

const struct namespace_labels *snapshot_namespace(const struct snapshot *snapshot, struct str name)
{
    const struct namespace_labels *const *found =
        snapshot->namespace_count > 0
            ? bsearch(&name, snapshot->namespaces, snapshot->namespace_count,
                      sizeof(*snapshot->namespaces), compare_namespace)
            : NULL;

    return found != NULL ? *found : NULL;
}

/* What the items of a run have in common. */
struct sought {
    struct str skill_ref;
    struct str image_digest;
    struct str namespace_name;
};

static int compare_identity(const void *sought, const void *item)
{
    const struct sought *left = sought;
    const struct evidence *const *right = item;
    int r = snapshot_compare_identity(*right, left->skill_ref, left->image_digest);

    return (r < 0) - (r > 0);
}

static int compare_evidence_namespace(const void *sought, const void *item)
{
    const struct sought *left = sought;
    const struct evidence *const *right = item;

    return snapshot_compare_namespaces(left->namespace_name, (*right)->namespace_name);
}

/* All items of a sorted list that are equal to `sought`: bsearch() finds one of them, and the walk
 * from there is as long as the run, which the caller walks too. */
static struct evidence_run find_run(const struct evidence *const *items, size_t count,
                                    const struct sought *sought,
                                    int (*compare)(const void *sought, const void *item))
{
    const struct evidence *const *first =
        count > 0 ? bsearch(sought, items, count, sizeof(*items), compare) : NULL;
    const struct evidence *const *end = first;

    if (first == NULL)
        return (struct evidence_run){0};
    while (first > items && compare(sought, first - 1) == 0)
        first--;
    while (end < items + count && compare(sought, end) == 0)
        end++;
    assert(end > first);
    return (struct evidence_run){.items = first, .count = (size_t)(end - first)};
}

struct evidence_run snapshot_requirements(const struct snapshot *snapshot, struct str skill_ref,
                                          struct str image_digest)
{
    const struct sought sought = {.skill_ref = skill_ref, .image_digest = image_digest};

    if (str_present(skill_ref) == str_present(image_digest))
        return (struct evidence_run){0};
    return find_run(snapshot->requirements, snapshot->requirement_count, &sought, compare_identity);
}

struct evidence_run snapshot_broken_baselines(const struct snapshot *snapshot,
                                              struct str namespace_name)
{
    const struct sought sought = {.namespace_name = namespace_name};

    return find_run(snapshot->broken, snapshot->broken_count, &sought, compare_evidence_namespace);
}

size_t snapshot_own_baseline_objects(const struct snapshot *snapshot)
{
    return snapshot->own_baseline_objects;
}

struct evidence_run snapshot_exemptions(const struct snapshot *snapshot)
{
    return (struct evidence_run){.items = snapshot->exemptions, .count = snapshot->exemption_count};
}

static int compare_rest(const void *name, const void *item)
{
    const struct snapshot_rest *rest = item;

    return str_compare(*(const struct str *)name, rest->namespace_name);
}

struct snapshot_rest snapshot_rest(const struct snapshot *snapshot, struct str namespace_name)
{
    const struct snapshot_rest *found =
        snapshot->rest_count > 0 ? bsearch(&namespace_name, snapshot->rests, snapshot->rest_count,
                                           sizeof(*found), compare_rest)
                                 : NULL;

    return found != NULL ? *found : (struct snapshot_rest){.namespace_name = namespace_name};
}

const struct snapshot_rest *snapshot_rests(const struct snapshot *snapshot, size_t *ret_count)
{
    *ret_count = snapshot->rest_count;
    return snapshot->rests;
}

struct evidence_run snapshot_invalid(const struct snapshot *snapshot, struct str namespace_name,
                                     size_t *ret_more)
{
    const struct sought sought = {.namespace_name = namespace_name};

    *ret_more = snapshot_rest(snapshot, namespace_name).invalid;
    return find_run(snapshot->invalid, snapshot->invalid_count, &sought,
                    compare_evidence_namespace);
}

struct evidence_run snapshot_all(const struct snapshot *snapshot)
{
    return (struct evidence_run){.items = snapshot->all, .count = snapshot->all_count};
}
