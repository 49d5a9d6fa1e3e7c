/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/snapshot/snapshot.h"

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
    for (size_t i = 0; i < shared->all_count; i++)
        evidence_unref(shared->all[i]);
    arena_release(&shared->arena);
    if (shared->keep.release != NULL)
        shared->keep.release(shared->keep.object);
    free(shared);
}

const struct policy *snapshot_policy(const struct snapshot *snapshot)
{
    return &snapshot->policy;
}

const struct namespace_labels *snapshot_namespace(const struct snapshot *snapshot, struct str name)
{
    size_t low = 0;
    size_t high = snapshot->namespace_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int r = str_compare(snapshot->namespaces[middle]->name, name);

        if (r == 0)
            return snapshot->namespaces[middle];
        if (r < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

int snapshot_compare_names(const struct evidence *a, const struct evidence *b)
{
    int r = str_compare(a->namespace_name, b->namespace_name);

    return r != 0 ? r : str_compare(a->name, b->name);
}

int snapshot_compare_identity(const struct evidence *evidence, struct str skill_ref,
                              struct str image_digest)
{
    bool by_skill = str_present(evidence->skill_ref);

    if (by_skill != str_present(skill_ref))
        return by_skill ? -1 : 1;
    return by_skill ? str_compare(evidence->skill_ref, skill_ref)
                    : str_compare(evidence->image_digest, image_digest);
}

/* What a run is looked up by. */
struct lookup {
    int (*compare)(const struct evidence *evidence, const struct lookup *lookup);
    struct str a;
    struct str b;
};

/* The first of a sorted list that does not sort before what is looked up, or that sorts after. */
static size_t lookup_bound(const struct evidence *const *items, size_t count,
                           const struct lookup *lookup, bool after)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int r = lookup->compare(items[middle], lookup);

        if (r < 0 || (after && r == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct evidence_run lookup_run(const struct evidence *const *items, size_t count,
                                      struct lookup lookup)
{
    size_t first = lookup_bound(items, count, &lookup, false);
    size_t end = lookup_bound(items, count, &lookup, true);

    return end > first ? (struct evidence_run){.items = items + first, .count = end - first}
                       : (struct evidence_run){0};
}

static int lookup_by_identity(const struct evidence *evidence, const struct lookup *lookup)
{
    return snapshot_compare_identity(evidence, lookup->a, lookup->b);
}

static int lookup_by_namespace(const struct evidence *evidence, const struct lookup *lookup)
{
    return str_compare(evidence->namespace_name, lookup->a);
}

struct evidence_run snapshot_requirements(const struct snapshot *snapshot, struct str skill_ref,
                                          struct str image_digest)
{
    if (str_present(skill_ref) == str_present(image_digest))
        return (struct evidence_run){0};
    return lookup_run(
        snapshot->requirements, snapshot->requirement_count,
        (struct lookup){.compare = lookup_by_identity, .a = skill_ref, .b = image_digest});
}

struct evidence_run snapshot_baselines(const struct snapshot *snapshot, struct str namespace_name)
{
    return lookup_run(snapshot->baselines, snapshot->baseline_count,
                      (struct lookup){.compare = lookup_by_namespace, .a = namespace_name});
}

struct evidence_run snapshot_exemptions(const struct snapshot *snapshot)
{
    return (struct evidence_run){.items = snapshot->exemptions, .count = snapshot->exemption_count};
}

struct evidence_run snapshot_invalid(const struct snapshot *snapshot, struct str namespace_name,
                                     size_t *ret_more)
{
    size_t more = 0;

    for (size_t i = 0; i < snapshot->more_count; i++) {
        if (str_equal(snapshot->more[i].namespace_name, namespace_name))
            more += snapshot->more[i].count;
    }
    *ret_more = more;
    return lookup_run(snapshot->invalid, snapshot->invalid_count,
                      (struct lookup){.compare = lookup_by_namespace, .a = namespace_name});
}

struct evidence_run snapshot_all(const struct snapshot *snapshot)
{
    return (struct evidence_run){.items = snapshot->all, .count = snapshot->all_count};
}
