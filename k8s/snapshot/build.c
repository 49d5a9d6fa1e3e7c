/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* tdestroy() */
#include <errno.h>
#include <search.h>
#include <stdlib.h>

#include "k8s/snapshot/index.h"

#define BUILDER_FIRST_ITEMS 64

struct snapshot_builder {
    struct snapshot *snapshot;        /* owned; `all` and `namespaces` are filled on finishing */
    const struct evidence **evidence; /* owned, each with a count of ours */
    size_t evidence_count;
    size_t evidence_room;
    const struct namespace_labels **namespaces; /* owned; the labels lie in the snapshot's arena */
    size_t namespace_count;
    size_t namespace_room;
    size_t more_room;    /* of the snapshot's list */
    void *evidence_tree; /* of tsearch(): what is there already */
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
    (void)item; /* the trees only borrow */
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

/* The list itself, or a wider one in its place; NULL where there is no memory for that. */
static void *builder_room(void *items, size_t count, size_t *room)
{
    size_t wider = *room > 0 ? *room * 2 : BUILDER_FIRST_ITEMS;
    void *grown = NULL;

    if (count < *room)
        return items;
    grown = reallocarray(items, wider, sizeof(void *));
    if (grown != NULL)
        *room = wider;
    return grown;
}

/* Into a tree of borrowed items; -EEXIST where an equal one is there. */
static int builder_note(void **tree, const void *item, int (*order)(const void *, const void *))
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
    void *items = NULL;
    int r = 0;

    if (tfind(labels, &builder->namespace_tree, order_namespaces) != NULL)
        return -EEXIST;
    copy = arena_alloc(arena, 1, sizeof(*copy));
    if (copy == NULL || !copy_text(arena, labels->name, &copy->name) ||
        !copy_text(arena, labels->enforce, &copy->enforce) ||
        !copy_text(arena, labels->warn, &copy->warn) ||
        !copy_text(arena, labels->audit, &copy->audit))
        return -ENOMEM;
    items = builder_room(builder->namespaces, builder->namespace_count, &builder->namespace_room);
    if (items == NULL)
        return -ENOMEM;
    builder->namespaces = items;
    r = builder_note(&builder->namespace_tree, copy, order_namespaces);
    if (r < 0)
        return r;
    builder->namespaces[builder->namespace_count++] = copy;
    return 0;
}

int snapshot_builder_add_evidence(struct snapshot_builder *builder, const struct evidence *evidence)
{
    void *items = builder_room(builder->evidence, builder->evidence_count, &builder->evidence_room);
    int r = 0;

    if (items == NULL)
        return -ENOMEM;
    builder->evidence = items;
    r = builder_note(&builder->evidence_tree, evidence, order_names);
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

    if (snapshot->more == NULL || snapshot->more_count == builder->more_room) {
        size_t wider = builder->more_room > 0 ? builder->more_room * 2 : BUILDER_FIRST_ITEMS;
        struct snapshot_more *more = arena_alloc(&snapshot->arena, wider, sizeof(*more));

        if (more == NULL)
            return -ENOMEM;
        if (snapshot->more_count > 0)
            memcpy(more, snapshot->more, snapshot->more_count * sizeof(*more));
        snapshot->more = more;
        builder->more_room = wider;
    }
    last = &snapshot->more[snapshot->more_count];
    last->count = count;
    if (!copy_text(&snapshot->arena, namespace_name, &last->namespace_name))
        return -ENOMEM;
    snapshot->more_count++;
    return 0;
}

/* Counts one more that is not kept; those of one namespace come one after the other. */
static int finish_drop(struct snapshot_builder *builder, struct str namespace_name)
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

/* Fills `all` in order, without what the bounds do not keep. */
static int finish_all(struct snapshot_builder *builder, struct snapshot *snapshot)
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
            r = finish_drop(builder, evidence->namespace_name);
        }
        if (r < 0)
            return r;
    }
    return 0;
}

/* Spreads `all` over the lists, which have room for each. */
static void finish_parts(struct snapshot *snapshot)
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

/* The lists themselves. Each gets as many places as it needs at most. */
static int finish_lists(const struct snapshot_builder *builder, struct snapshot *snapshot)
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
    int r = finish_lists(builder, snapshot);

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
    r = finish_all(builder, snapshot);
    if (r < 0) {
        snapshot->all_count = 0; /* the counts are the builder's still */
        return r;
    }
    for (size_t i = 0; i < snapshot->all_count; i++)
        snapshot->all[i] = evidence_ref(snapshot->all[i]);
    snapshot->namespace_count = builder->namespace_count;
    finish_parts(snapshot);
    builder->snapshot = NULL;
    snapshot_builder_free(builder);
    *ret_snapshot = snapshot;
    return 0;
}
