/* SPDX-License-Identifier: Apache-2.0 */
/*
 * invalid - limits the records of invalid documents that are kept for a namespace.
 *
 * A user who can write ConfigMaps must not be able to fill the memory of the gate. Beyond the
 * limits of a snapshot all further documents of one class share one record without a name, and are
 * only counted. A counted document stays counted until it changes: broken baselines block in either
 * form.
 */
#define _GNU_SOURCE /* tdestroy(), twalk_r() */
#include <assert.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>

#include "k8s/cluster/internal.h"

/* The two kinds of invalid documents that a snapshot limits separately. */
enum { BROKEN_BASELINES, OTHERS, CLASS_COUNT };

/* The invalid documents of a namespace. */
struct invalid_count {
    struct str namespace_name;
    size_t kept[CLASS_COUNT]; /* documents with a record of their own */
    /* owned: one reference each; the record for all others */
    struct evidence *anonymous[CLASS_COUNT];
    size_t counted[CLASS_COUNT]; /* documents that have the anonymous record */
    char text[];
};

static int order_counts(const void *a, const void *b)
{
    const struct invalid_count *left = a;
    const struct invalid_count *right = b;

    return str_compare(left->namespace_name, right->namespace_name);
}

static void free_count(void *object)
{
    struct invalid_count *count = object;

    for (size_t i = 0; i < CLASS_COUNT; i++)
        evidence_unref(count->anonymous[i]);
    free(count);
}

static struct invalid_count *find_count(const struct cluster *cluster, struct str namespace_name)
{
    const struct invalid_count key = {.namespace_name = namespace_name};
    struct invalid_count *const *node = tfind(&key, &cluster->invalid_counts, order_counts);

    return node != NULL ? *node : NULL;
}

static int make_count(struct cluster *cluster, struct str namespace_name,
                      struct invalid_count **ret_count)
{
    const struct evidence nameless = {.namespace_name = namespace_name, .name = STR("")};
    struct invalid_count *count = calloc(1, sizeof(*count) + namespace_name.len);
    int r = 0;

    if (count == NULL)
        return -ENOMEM;
    if (namespace_name.len > 0)
        memcpy(count->text, namespace_name.ptr, namespace_name.len);
    count->namespace_name = (struct str){.ptr = count->text, .len = namespace_name.len};
    for (size_t i = 0; i < CLASS_COUNT && r == 0; i++)
        r = evidence_make_distrusted(&nameless, STR("only counted"), &count->anonymous[i]);
    if (r == 0 && tsearch(count, &cluster->invalid_counts, order_counts) == NULL)
        r = -ENOMEM;
    if (r < 0) {
        free_count(count);
        return r;
    }
    *ret_count = count;
    return 0;
}

static bool is_counted(const struct evidence *evidence)
{
    return evidence != NULL && evidence->state != EVIDENCE_VALID;
}

static size_t class_of(const struct evidence *evidence)
{
    return evidence->kind == EVIDENCE_BASELINE && evidence->state == EVIDENCE_INVALID
               ? BROKEN_BASELINES
               : OTHERS;
}

static void remove_one(struct invalid_count *count, const struct evidence *evidence)
{
    size_t *from = &count->kept[class_of(evidence)];

    for (size_t i = 0; i < CLASS_COUNT; i++) {
        if (evidence == count->anonymous[i])
            from = &count->counted[i];
    }
    assert(*from > 0);
    (*from)--;
}

/* Replaces *evidence by the anonymous record if the limit is reached. */
static void add_one(struct invalid_count *count, struct evidence **evidence)
{
    size_t class = class_of(*evidence);

    if (count->kept[class] < SNAPSHOT_MAX_INVALID_PER_NAMESPACE) {
        count->kept[class]++;
        return;
    }
    evidence_unref(*evidence);
    *evidence = evidence_ref(count->anonymous[class]);
    count->counted[class]++;
}

static bool is_empty(const struct invalid_count *count)
{
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        if (count->kept[i] > 0 || count->counted[i] > 0)
            return false;
    }
    return true;
}

int cluster_invalid_replace(struct cluster *cluster, const struct evidence *before,
                            struct evidence **now)
{
    struct invalid_count *old_count =
        is_counted(before) ? find_count(cluster, before->namespace_name) : NULL;
    struct invalid_count *new_count =
        is_counted(*now) ? find_count(cluster, (*now)->namespace_name) : NULL;
    int r = 0;

    if (is_counted(*now) && new_count == NULL)
        r = make_count(cluster, (*now)->namespace_name, &new_count);
    if (r < 0)
        return r;
    assert(!is_counted(before) || old_count != NULL); /* it was added before */
    if (old_count != NULL)
        remove_one(old_count, before);
    if (new_count != NULL)
        add_one(new_count, now);
    if (old_count != NULL && is_empty(old_count)) {
        (void)tdelete(old_count, &cluster->invalid_counts, order_counts);
        free_count(old_count);
    }
    return 0;
}

struct adding {
    struct snapshot_builder *builder;
    int error;
};

static void add_count(const void *node, VISIT visit, void *context)
{
    const struct invalid_count *count = *(const struct invalid_count *const *)node;
    struct adding *adding = context;
    const struct snapshot_rest rest = {
        .namespace_name = count->namespace_name,
        .invalid = count->counted[OTHERS],
        .broken = count->counted[BROKEN_BASELINES],
    };

    if ((visit == postorder || visit == leaf) && rest.invalid + rest.broken > 0 &&
        adding->error == 0)
        adding->error = snapshot_builder_add_rest(adding->builder, &rest);
}

int cluster_invalid_add(const struct cluster *cluster, struct snapshot_builder *builder)
{
    struct adding adding = {.builder = builder};

    twalk_r(cluster->invalid_counts, add_count, &adding);
    return adding.error;
}

void cluster_invalid_free(struct cluster *cluster)
{
    tdestroy(cluster->invalid_counts, free_count);
}
