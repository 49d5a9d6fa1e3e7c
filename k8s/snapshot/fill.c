/* SPDX-License-Identifier: Apache-2.0 */
/* fill - sorts the evidence of a builder, leaves out what has no record, and makes the lists. */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "k8s/snapshot/index.h"
#include "planner/base/array.h"

static bool is_valid(const struct evidence *evidence)
{
    return evidence->state == EVIDENCE_VALID;
}

static bool is_broken_baseline(const struct evidence *evidence)
{
    return evidence->kind == EVIDENCE_BASELINE && evidence->state == EVIDENCE_INVALID;
}

static bool is_own(const struct snapshot *snapshot, const struct evidence *evidence)
{
    return str_equal(evidence->namespace_name, snapshot->policy.own_namespace);
}

static int sort_names(const void *a, const void *b)
{
    return snapshot_compare_names(*(const struct evidence *const *)a,
                                  *(const struct evidence *const *)b);
}

/* Copies follow each other, the first one by name first. */
static int sort_copies(const void *a, const void *b)
{
    const struct evidence *left = *(const struct evidence *const *)a;
    const struct evidence *right = *(const struct evidence *const *)b;
    int r = snapshot_compare_namespaces(left->namespace_name, right->namespace_name);

    if (r == 0)
        r = is_valid(right) - is_valid(left);
    if (r == 0)
        r = str_compare(left->digest, right->digest);
    return r != 0 ? r : snapshot_compare_names(left, right);
}

static int sort_requirements(const void *a, const void *b)
{
    const struct evidence *left = *(const struct evidence *const *)a;
    const struct evidence *right = *(const struct evidence *const *)b;
    int r = snapshot_compare_identity(left, right->skill_ref, right->image_digest);

    if (r == 0)
        r = moment_compare(right->observed_at, left->observed_at);
    return r != 0 ? r : snapshot_compare_names(left, right);
}

static int sort_rests(const void *a, const void *b)
{
    const struct snapshot_rest *left = a;
    const struct snapshot_rest *right = b;

    return str_compare(left->namespace_name, right->namespace_name);
}

static void sort(const struct evidence **items, size_t count,
                 int (*order)(const void *, const void *))
{
    if (count > 1)
        qsort(items, count, sizeof(*items), order);
}

int snapshot_add_rest(struct snapshot *snapshot, const struct snapshot_rest *rest)
{
    struct snapshot_rest copy = *rest;
    int r = array_grow_in(&snapshot->arena, &snapshot->rests, &snapshot->rest_capacity,
                          snapshot->rest_count + 1, sizeof(*snapshot->rests), SIZE_MAX);

    if (r < 0)
        return r;
    copy.namespace_name.ptr = arena_copy(&snapshot->arena, rest->namespace_name);
    if (copy.namespace_name.ptr == NULL)
        return -ENOMEM;
    snapshot->rests[snapshot->rest_count++] = copy;
    return 0;
}

/* The item of a namespace, for one more. Called in the order of namespaces, so only the last item
 * can match. */
static int find_rest(struct snapshot *snapshot, const struct evidence *evidence,
                     struct snapshot_rest **ret_rest)
{
    const struct snapshot_rest none = {.namespace_name = evidence->namespace_name};
    size_t count = snapshot->rest_count;
    int r = 0;

    if (count == 0 ||
        !str_equal(snapshot->rests[count - 1].namespace_name, evidence->namespace_name))
        r = snapshot_add_rest(snapshot, &none);
    if (r == 0)
        *ret_rest = &snapshot->rests[snapshot->rest_count - 1];
    return r;
}

static void add_rest(struct snapshot_rest *to, const struct snapshot_rest *rest)
{
    to->invalid += rest->invalid;
    to->broken += rest->broken;
    to->valid += rest->valid;
    to->copies += rest->copies;
}

/* Leaves out all but the first of equal documents of one namespace. */
static int drop_copies(struct snapshot *snapshot, struct snapshot_given *given)
{
    const struct evidence **items = given->items;
    struct snapshot_rest *rest = NULL;
    size_t kept = 0, i = 0;
    int r = 0;

    sort(items, given->count, sort_copies);
    for (; i < given->count && r == 0; i++) {
        const struct evidence *evidence = items[i];

        if (is_valid(evidence) && evidence->kind == EVIDENCE_BASELINE && is_own(snapshot, evidence))
            snapshot->own_baseline_objects++;
        if (kept == 0 || !snapshot_same_bytes(items[kept - 1], evidence) ||
            !str_equal(items[kept - 1]->namespace_name, evidence->namespace_name)) {
            items[kept++] = evidence;
            continue;
        }
        r = find_rest(snapshot, evidence, &rest);
        assert(r < 0 || rest != NULL);
        if (r == 0)
            rest->copies++;
        evidence_unref(evidence);
    }
    if (i < given->count)
        memmove(items + kept, items + i, (given->count - i) * sizeof(*items));
    given->count = kept + given->count - i;
    return r;
}

/* The number of records of one namespace so far. */
struct kept {
    size_t valid, invalid, broken;
};

/* Whether there is room for a record; counts it in *rest otherwise. */
static bool keep(struct kept *kept, const struct evidence *evidence, struct snapshot_rest *rest)
{
    if (is_valid(evidence)) {
        if (kept->valid++ < SNAPSHOT_MAX_VALID_PER_NAMESPACE)
            return true;
        rest->valid++;
    } else if (is_broken_baseline(evidence)) {
        if (kept->broken++ < SNAPSHOT_MAX_INVALID_PER_NAMESPACE)
            return true;
        rest->broken++;
    } else {
        if (kept->invalid++ < SNAPSHOT_MAX_INVALID_PER_NAMESPACE)
            return true;
        rest->invalid++;
    }
    return false;
}

/* Fills `all` in order, without the records over the limits. */
static int fill_all(struct snapshot *snapshot, const struct snapshot_given *given)
{
    struct kept kept = {0};
    struct str current = {0};

    for (size_t i = 0; i < given->count; i++) {
        const struct evidence *evidence = given->items[i];
        struct snapshot_rest one = {.namespace_name = evidence->namespace_name};
        struct snapshot_rest *rest = NULL;
        int r = 0;

        if (!str_equal(evidence->namespace_name, current))
            kept = (struct kept){0};
        current = evidence->namespace_name;
        if (keep(&kept, evidence, &one)) {
            snapshot->all[snapshot->all_count++] = evidence;
            continue;
        }
        r = find_rest(snapshot, evidence, &rest);
        if (r < 0)
            return r;
        add_rest(rest, &one);
    }
    return 0;
}

/* Makes one item for each namespace. */
static void merge_rests(struct snapshot *snapshot)
{
    struct snapshot_rest *rests = snapshot->rests;
    size_t kept = 0;

    if (snapshot->rest_count > 1)
        qsort(rests, snapshot->rest_count, sizeof(*rests), sort_rests);
    for (size_t i = 0; i < snapshot->rest_count; i++) {
        if (kept == 0 || sort_rests(&rests[kept - 1], &rests[i]) != 0) {
            rests[kept++] = rests[i];
            continue;
        }
        add_rest(&rests[kept - 1], &rests[i]);
    }
    snapshot->rest_count = kept;
}

/* Distributes `all` to the other lists, which are large enough. */
static void fill_parts(struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->all_count; i++) {
        const struct evidence *evidence = snapshot->all[i];
        bool valid = is_valid(evidence);

        if (!valid)
            snapshot->invalid[snapshot->invalid_count++] = evidence;
        if (is_broken_baseline(evidence))
            snapshot->broken[snapshot->broken_count++] = evidence;
        if (valid && evidence->kind == EVIDENCE_REQUIREMENTS)
            snapshot->requirements[snapshot->requirement_count++] = evidence;
        if (valid && evidence->kind == EVIDENCE_BASELINE)
            snapshot->baselines[snapshot->baseline_count++] = evidence;
        if (valid && evidence->kind == EVIDENCE_EXEMPTION && is_own(snapshot, evidence))
            snapshot->exemptions[snapshot->exemption_count++] = evidence;
    }
    sort(snapshot->requirements, snapshot->requirement_count, sort_requirements);
}

/* Allocates the lists, each as large as it can become. */
static int make_lists(struct snapshot *snapshot, const struct snapshot_given *given)
{
    size_t requirements = 0, baselines = 0, broken = 0, exemptions = 0, invalid = 0;
    struct arena *arena = &snapshot->arena;

    for (size_t i = 0; i < given->count; i++) {
        const struct evidence *evidence = given->items[i];
        bool valid = is_valid(evidence);

        invalid += !valid;
        broken += is_broken_baseline(evidence);
        requirements += valid && evidence->kind == EVIDENCE_REQUIREMENTS;
        baselines += valid && evidence->kind == EVIDENCE_BASELINE;
        exemptions += valid && evidence->kind == EVIDENCE_EXEMPTION;
    }
    snapshot->all = arena_alloc(arena, given->count, sizeof(*snapshot->all));
    snapshot->requirements = arena_alloc(arena, requirements, sizeof(*snapshot->all));
    snapshot->baselines = arena_alloc(arena, baselines, sizeof(*snapshot->all));
    snapshot->broken = arena_alloc(arena, broken, sizeof(*snapshot->all));
    snapshot->exemptions = arena_alloc(arena, exemptions, sizeof(*snapshot->all));
    snapshot->invalid = arena_alloc(arena, invalid, sizeof(*snapshot->all));
    return snapshot->all != NULL && snapshot->requirements != NULL && snapshot->baselines != NULL &&
                   snapshot->broken != NULL && snapshot->exemptions != NULL &&
                   snapshot->invalid != NULL
               ? 0
               : -ENOMEM;
}

int snapshot_fill(struct snapshot *snapshot, struct snapshot_given *given)
{
    int r = drop_copies(snapshot, given);

    if (r == 0)
        r = make_lists(snapshot, given);
    if (r < 0)
        return r;
    sort(given->items, given->count, sort_names);
    r = fill_all(snapshot, given);
    assert(snapshot->all_count <= given->count);
    if (r == 0) {
        merge_rests(snapshot);
        fill_parts(snapshot);
        r = snapshot_fill_groups(snapshot);
    }
    if (r < 0) {
        snapshot->all_count = 0; /* the references still belong to the builder */
        return r;
    }
    for (size_t i = 0; i < snapshot->all_count; i++)
        snapshot->all[i] = evidence_ref(snapshot->all[i]);
    return 0;
}
