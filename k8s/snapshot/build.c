/* SPDX-License-Identifier: Apache-2.0 */
/* build - collects the evidence, namespaces and NetworkPolicies of a snapshot. */
#define _GNU_SOURCE /* tdestroy() */
#include <errno.h>
#include <search.h>
#include <stdint.h>
#include <stdlib.h>

#include "k8s/snapshot/index.h"
#include "planner/base/array.h"

struct snapshot_builder {
    struct snapshot *snapshot;      /* owned; its lists are filled at the end */
    struct snapshot_given evidence; /* owned: one reference each */
    size_t evidence_capacity;
    const struct namespace_labels *
        *namespaces; /* owned list; the labels are in the snapshot's arena */
    size_t namespace_count;
    size_t namespace_capacity;
    struct snapshot_given_policies network_policies; /* owned */
    void *evidence_tree; /* of tsearch(): finds names that were added already */
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
    for (size_t i = 0; i < builder->evidence.count; i++)
        evidence_unref(builder->evidence.items[i]);
    free(builder->evidence.items);
    free(builder->namespaces);
    snapshot_free_given_policies(&builder->network_policies);
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
        !copy_text(arena, labels->labels.enforce, &copy->labels.enforce) ||
        !copy_text(arena, labels->labels.warn, &copy->labels.warn) ||
        !copy_text(arena, labels->labels.audit, &copy->labels.audit) ||
        !copy_text(arena, labels->labels.boundary, &copy->labels.boundary))
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
    struct snapshot_given *given = &builder->evidence;
    int r = array_grow(&given->items, &builder->evidence_capacity, given->count + 1,
                       sizeof(*given->items), SIZE_MAX);

    if (r == 0)
        r = add_to_tree(&builder->evidence_tree, evidence, order_names);
    if (r < 0)
        return r;
    given->items[given->count++] = evidence_ref(evidence);
    return 0;
}

int snapshot_builder_add_network_policy(struct snapshot_builder *builder,
                                        const struct network_policy *policy)
{
    return snapshot_give_network_policy(&builder->network_policies, policy);
}

void snapshot_builder_read_network_policies(struct snapshot_builder *builder)
{
    builder->snapshot->network_policies_read = true;
}

static int sort_namespaces(const void *a, const void *b)
{
    return order_namespaces(*(const struct namespace_labels *const *)a,
                            *(const struct namespace_labels *const *)b);
}

int snapshot_builder_add_rest(struct snapshot_builder *builder, const struct snapshot_rest *rest)
{
    return snapshot_add_rest(builder->snapshot, rest);
}

static int fill_namespaces(struct snapshot_builder *builder, struct snapshot *snapshot)
{
    size_t count = builder->namespace_count;

    snapshot->namespaces = arena_alloc(&snapshot->arena, count, sizeof(*snapshot->namespaces));
    if (snapshot->namespaces == NULL)
        return -ENOMEM;
    if (count > 0) {
        qsort(builder->namespaces, count, sizeof(*builder->namespaces), sort_namespaces);
        memcpy(snapshot->namespaces, builder->namespaces, count * sizeof(*builder->namespaces));
    }
    snapshot->namespace_count = count;
    return 0;
}

int snapshot_builder_finish(struct snapshot_builder *builder, struct snapshot **ret_snapshot)
{
    struct snapshot *snapshot = builder->snapshot;
    int r = fill_namespaces(builder, snapshot);

    /* the tree has names of evidence that is released now */
    tdestroy(builder->evidence_tree, keep_item);
    builder->evidence_tree = NULL;
    if (r == 0)
        r = snapshot_fill_network_policies(snapshot, &builder->network_policies);
    if (r == 0)
        r = snapshot_fill(snapshot, &builder->evidence);
    if (r < 0)
        return r;
    builder->snapshot = NULL;
    snapshot_builder_free(builder);
    *ret_snapshot = snapshot;
    return 0;
}
