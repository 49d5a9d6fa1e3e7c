/* SPDX-License-Identifier: Apache-2.0 */
/* build - collects evidence and namespaces, and makes the sorted lists of a snapshot from them. */
#define _GNU_SOURCE /* tdestroy() */
#include <assert.h>
#include <errno.h>
#include <search.h>
#include <stdint.h>
#include <stdlib.h>

#include "k8s/snapshot/index.h"
#include "planner/base/array.h"

struct snapshot_builder {
    struct snapshot *snapshot;        /* owned; its lists are filled at the end */
    const struct evidence **evidence; /* owned: one reference each */
    size_t evidence_count;
    size_t evidence_capacity;
    const struct namespace_labels *
        *namespaces; /* owned list; the labels are in the snapshot's arena */
    size_t namespace_count;
    size_t namespace_capacity;
    size_t more_capacity; /* of the snapshot's list */
    void *evidence_tree;  /* of tsearch(): finds names that were added already */
    void *namespace_tree;
};

static int order_names(const void *a, const void *b)
{
    return snapshot_compare_names(a, b);
}

static int order_namespaces(const void *a, const void *b)
{
    const struct namespace_labels *left = a;
    const struct namespace_labels *right = b;

    return str_compare(left->name, right->name);
}

static void keep_item(void *item)
{
    (void)item; /* the trees do not own their items */
}

int snapshot_builder_new(const struct policy *policy, struct snapshot_keep keep,
                         struct snapshot_builder **ret_builder)
{
    struct snapshot_builder *builder = calloc(1, sizeof(*builder));
    struct snapshot *snapshot = calloc(1, sizeof(*snapshot));

    if (builder == NULL || snapshot == NULL) {
        free(builder);
        free(snapshot);
        if (keep.release != NULL)
            keep.release(keep.object);
        return -ENOMEM;
    }
    refcount_init(&snapshot->count);
    snapshot->policy = *policy;
    snapshot->keep = keep;
    builder->snapshot = snapshot;
    *ret_builder = builder;
    return 0;
}

void snapshot_builder_free(struct snapshot_builder *builder)
{
    if (builder == NULL)
        return;
    tdestroy(builder->evidence_tree, keep_item);
    tdestroy(builder->namespace_tree, keep_item);
    for (size_t i = 0; i < builder->evidence_count; i++)
        evidence_unref(builder->evidence[i]);
    free(builder->evidence);
    free(builder->namespaces);
    snapshot_unref(builder->snapshot);
    free(builder);
}

/* Adds to a tree of borrowed items; -EEXIST if it has an equal one. */
static int add_to_tree(void **tree, const void *item, int (*order)(const void *, const void *))
{
    const void *const *node = NULL;

    if (tfind(item, tree, order) != NULL)
        return -EEXIST;
    node = tsearch(item, tree, order);
    return node != NULL ? 0 : -ENOMEM;
}

static bool copy_text(struct arena *arena, struct str from, struct str *ret_text)
{
    const char *text = NULL;

    if (!str_present(from)) {
        *ret_text = from;
        return true;
    }
    text = arena_copy(arena, from);
    *ret_text = (struct str){.ptr = text, .len = from.len};
    return text != NULL;
}

int snapshot_builder_add_namespace(struct snapshot_builder *builder,
                                   const struct namespace_labels *labels)
{
    struct arena *arena = &builder->snapshot->arena;
    struct namespace_labels *copy = NULL;
    int r = 0;

    if (tfind(labels, &builder->namespace_tree, order_namespaces) != NULL)
        return -EEXIST;
    copy = arena_alloc(arena, 1, sizeof(*copy));
    if (copy == NULL || !copy_text(arena, labels->name, &copy->name) ||
        !copy_text(arena, labels->enforce, &copy->enforce) ||
        !copy_text(arena, labels->warn, &copy->warn) ||
        !copy_text(arena, labels->audit, &copy->audit))
        return -ENOMEM;
    r = array_grow(&builder->namespaces, &builder->namespace_capacity, builder->namespace_count + 1,
                   sizeof(*builder->namespaces), SIZE_MAX);
    if (r == 0)
        r = add_to_tree(&builder->namespace_tree, copy, order_namespaces);
    if (r < 0)
        return r;
    builder->namespaces[builder->namespace_count++] = copy;
    return 0;
}

int snapshot_builder_add_evidence(struct snapshot_builder *builder, const struct evidence *evidence)
{
    int r = array_grow(&builder->evidence, &builder->evidence_capacity, builder->evidence_count + 1,
                       sizeof(*builder->evidence), SIZE_MAX);

    if (r == 0)
        r = add_to_tree(&builder->evidence_tree, evidence, order_names);
    if (r < 0)
        return r;
    builder->evidence[builder->evidence_count++] = evidence_ref(evidence);
    return 0;
}

static int sort_names(const void *a, const void *b)
{
    return snapshot_compare_names(*(const struct evidence *const *)a,
                                  *(const struct evidence *const *)b);
}

static int sort_namespaces(const void *a, const void *b)
{
    return order_namespaces(*(const struct namespace_labels *const *)a,
                            *(const struct namespace_labels *const *)b);
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

static bool is_broken_baseline(const struct evidence *evidence)
{
    return evidence->kind == EVIDENCE_BASELINE && evidence->state == EVIDENCE_INVALID;
}

int snapshot_builder_add_more(struct snapshot_builder *builder, struct str namespace_name,
                              size_t count)
{
    struct snapshot *snapshot = builder->snapshot;
    struct snapshot_more *last = NULL;
    int r = 0;

    r = array_grow_in(&snapshot->arena, &snapshot->more, &builder->more_capacity,
                      snapshot->more_count + 1, sizeof(*snapshot->more), SIZE_MAX);
    if (r < 0)
        return r;
    last = &snapshot->more[snapshot->more_count];
    last->count = count;
    if (!copy_text(&snapshot->arena, namespace_name, &last->namespace_name))
        return -ENOMEM;
    snapshot->more_count++;
    return 0;
}

/* Counts one that is left out. Called in the order of namespaces, so only the last item can match.
 */
static int count_dropped(struct snapshot_builder *builder, struct str namespace_name)
{
    struct snapshot *snapshot = builder->snapshot;
    struct snapshot_more *last =
        snapshot->more_count > 0 ? &snapshot->more[snapshot->more_count - 1] : NULL;

    if (last != NULL && str_equal(last->namespace_name, namespace_name)) {
        last->count++;
        return 0;
    }
    return snapshot_builder_add_more(builder, namespace_name, 1);
}

/* Fills `all` in order, without the invalid records over the limits. */
static int fill_all(struct snapshot_builder *builder, struct snapshot *snapshot)
{
    size_t invalid = 0; /* of the current namespace */
    size_t broken = 0;
    struct str current = {0};

    for (size_t i = 0; i < builder->evidence_count; i++) {
        const struct evidence *evidence = builder->evidence[i];
        size_t *bounded = is_broken_baseline(evidence) ? &broken : &invalid;
        int r = 0;

        if (!str_equal(evidence->namespace_name, current)) {
            invalid = broken = 0;
            current = evidence->namespace_name;
        }
        if (evidence->state == EVIDENCE_VALID) {
            snapshot->all[snapshot->all_count++] = evidence;
        } else if (*bounded < SNAPSHOT_MAX_INVALID_PER_NAMESPACE) {
            (*bounded)++;
            snapshot->all[snapshot->all_count++] = evidence;
        } else {
            r = count_dropped(builder, evidence->namespace_name);
        }
        if (r < 0)
            return r;
    }
    return 0;
}

/* Distributes `all` to the other lists, which are large enough. */
static void fill_parts(struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->all_count; i++) {
        const struct evidence *evidence = snapshot->all[i];
        bool valid = evidence->state == EVIDENCE_VALID;

        if (!valid)
            snapshot->invalid[snapshot->invalid_count++] = evidence;
        if (valid && evidence->kind == EVIDENCE_REQUIREMENTS)
            snapshot->requirements[snapshot->requirement_count++] = evidence;
        if ((valid && evidence->kind == EVIDENCE_BASELINE) || is_broken_baseline(evidence))
            snapshot->baselines[snapshot->baseline_count++] = evidence;
        if (valid && evidence->kind == EVIDENCE_EXEMPTION &&
            str_equal(evidence->namespace_name, snapshot->policy.own_namespace))
            snapshot->exemptions[snapshot->exemption_count++] = evidence;
    }
    if (snapshot->requirement_count > 0)
        qsort(snapshot->requirements, snapshot->requirement_count, sizeof(*snapshot->requirements),
              sort_requirements);
}

/* Allocates the lists, each as large as it can become. */
static int make_lists(const struct snapshot_builder *builder, struct snapshot *snapshot)
{
    size_t requirements = 0, baselines = 0, exemptions = 0, invalid = 0;
    struct arena *arena = &snapshot->arena;

    for (size_t i = 0; i < builder->evidence_count; i++) {
        const struct evidence *evidence = builder->evidence[i];
        bool valid = evidence->state == EVIDENCE_VALID;

        invalid += !valid;
        requirements += valid && evidence->kind == EVIDENCE_REQUIREMENTS;
        baselines += evidence->kind == EVIDENCE_BASELINE;
        exemptions += valid && evidence->kind == EVIDENCE_EXEMPTION;
    }
    snapshot->all = arena_alloc(arena, builder->evidence_count, sizeof(*snapshot->all));
    snapshot->requirements = arena_alloc(arena, requirements, sizeof(*snapshot->all));
    snapshot->baselines = arena_alloc(arena, baselines, sizeof(*snapshot->all));
    snapshot->exemptions = arena_alloc(arena, exemptions, sizeof(*snapshot->all));
    snapshot->invalid = arena_alloc(arena, invalid, sizeof(*snapshot->all));
    snapshot->namespaces =
        arena_alloc(arena, builder->namespace_count, sizeof(*snapshot->namespaces));
    return snapshot->all != NULL && snapshot->requirements != NULL && snapshot->baselines != NULL &&
                   snapshot->exemptions != NULL && snapshot->invalid != NULL &&
                   snapshot->namespaces != NULL
               ? 0
               : -ENOMEM;
}

int snapshot_builder_finish(struct snapshot_builder *builder, struct snapshot **ret_snapshot)
{
    struct snapshot *snapshot = builder->snapshot;
    int r = make_lists(builder, snapshot);

    if (r < 0)
        return r;
    if (builder->namespace_count > 0) {
        qsort(builder->namespaces, builder->namespace_count, sizeof(*builder->namespaces),
              sort_namespaces);
        memcpy(snapshot->namespaces, builder->namespaces,
               builder->namespace_count * sizeof(*builder->namespaces));
    }
    if (builder->evidence_count > 0)
        qsort(builder->evidence, builder->evidence_count, sizeof(*builder->evidence), sort_names);
    r = fill_all(builder, snapshot);
    if (r < 0) {
        snapshot->all_count = 0; /* the references still belong to the builder */
        return r;
    }
    for (size_t i = 0; i < snapshot->all_count; i++)
        snapshot->all[i] = evidence_ref(snapshot->all[i]);
    snapshot->namespace_count = builder->namespace_count;
    fill_parts(snapshot);
    assert(snapshot->all_count <= builder->evidence_count);
    builder->snapshot = NULL;
    snapshot_builder_free(builder);
    *ret_snapshot = snapshot;
    return 0;
}
