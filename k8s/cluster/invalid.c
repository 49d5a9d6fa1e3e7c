/* SPDX-License-Identifier: Apache-2.0 */
/*
 * invalid - limits the records that are kept for a namespace, above all of documents that are not
 * valid.
 *
 * A user who can write ConfigMaps must not be able to fill the memory of the gate. Beyond the
 * limits of a snapshot all further documents of one class share one record without a name, and are
 * only counted. A counted document stays counted until it changes; where it matters, the count has
 * the effect of the documents: broken baselines block, and so does a namespace with too many valid
 * documents. When all of these have room again, they are listed again.
 */
#define _GNU_SOURCE /* tdestroy(), twalk_r() */
#include <assert.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>

#include "k8s/cluster/internal.h"

/* What a snapshot limits separately. */
enum record_class { BROKEN_BASELINES, OTHERS, VALID, CLASS_COUNT };

static const size_t limits[CLASS_COUNT] = {
    [BROKEN_BASELINES] = SNAPSHOT_MAX_INVALID_PER_NAMESPACE,
    [OTHERS] = SNAPSHOT_MAX_INVALID_PER_NAMESPACE,
    [VALID] = SNAPSHOT_MAX_VALID_PER_NAMESPACE,
};

/* The documents of a namespace. */
struct invalid_count {
    struct str namespace_name;
    size_t kept[CLASS_COUNT];    /* documents with a record; valid ones with equal bytes once */
    size_t counted[CLASS_COUNT]; /* objects that have the anonymous record */
    /* owned: one reference each; NULL until the limit is reached */
    struct evidence *anonymous[CLASS_COUNT];
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

static int get_count(struct cluster *cluster, struct str namespace_name,
                     struct invalid_count **ret_count)
{
    struct invalid_count *count = find_count(cluster, namespace_name);

    if (count == NULL) {
        count = calloc(1, sizeof(*count) + namespace_name.len);
        if (count == NULL)
            return -ENOMEM;
        if (namespace_name.len > 0)
            memcpy(count->text, namespace_name.ptr, namespace_name.len);
        count->namespace_name = (struct str){.ptr = count->text, .len = namespace_name.len};
        if (tsearch(count, &cluster->invalid_counts, order_counts) == NULL) {
            free(count);
            return -ENOMEM;
        }
    }
    *ret_count = count;
    return 0;
}

static void drop_empty(struct cluster *cluster, struct invalid_count *count)
{
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        if (count->kept[i] > 0 || count->counted[i] > 0)
            return;
    }
    (void)tdelete(count, &cluster->invalid_counts, order_counts);
    free_count(count);
}

static enum record_class class_of(const struct evidence *evidence)
{
    if (evidence->state == EVIDENCE_VALID)
        return VALID;
    return evidence->kind == EVIDENCE_BASELINE && evidence->state == EVIDENCE_INVALID
               ? BROKEN_BASELINES
               : OTHERS;
}

/* Whether its content can be that of other objects. */
static bool has_content(const struct evidence *evidence)
{
    return evidence->state == EVIDENCE_VALID || evidence->state == EVIDENCE_OTHER_AUDIENCE;
}

/* What a record needs. Everything that can fail is done before anything is counted. */
struct place {
    struct invalid_count *count;
    struct cluster_copies *copies; /* NULL: its content is not shared */
    enum record_class class;
};

static void drop_unused(struct cluster *cluster, const struct place *place)
{
    if (place->copies != NULL)
        cluster_copies_drop_unused(cluster, place->copies);
    if (place->count != NULL)
        drop_empty(cluster, place->count);
}

static int make_anonymous(struct invalid_count *count, enum record_class class)
{
    const struct evidence nameless = {.namespace_name = count->namespace_name, .name = STR("")};

    if (count->kept[class] < limits[class] || count->anonymous[class] != NULL)
        return 0;
    return evidence_make_distrusted(&nameless, STR("only counted"), &count->anonymous[class]);
}

static int make_place(struct cluster *cluster, const struct evidence *evidence,
                      struct place *ret_place)
{
    struct place place = {.class = class_of(evidence)};
    int r = get_count(cluster, evidence->namespace_name, &place.count);

    if (r == 0)
        r = make_anonymous(place.count, place.class);
    if (r == 0 && has_content(evidence))
        r = cluster_copies_get(cluster, evidence, &place.count->namespace_name, &place.copies);
    if (r < 0) {
        drop_unused(cluster, &place);
        return r;
    }
    *ret_place = place;
    return 0;
}

/* The place of a record that was added. */
static struct place find_place(const struct cluster *cluster, const struct evidence *evidence)
{
    struct place place = {.count = find_count(cluster, evidence->namespace_name),
                          .class = class_of(evidence)};

    assert(place.count != NULL);
    if (has_content(evidence))
        place.copies = cluster_copies_find(cluster, evidence);
    return place;
}

static bool is_anonymous(const struct place *place, const struct evidence *evidence,
                         enum record_class *ret_class)
{
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        if (evidence == place->count->anonymous[i]) {
            *ret_class = (enum record_class)i;
            return true;
        }
    }
    return false;
}

static void remove_one(const struct place *place, const struct evidence *evidence)
{
    struct invalid_count *count = place->count;
    enum record_class counted = OTHERS;
    bool last = true; /* no copy with a record of this class is left */

    if (is_anonymous(place, evidence, &counted)) {
        assert(count->counted[counted] > 0);
        count->counted[counted]--;
        return;
    }
    if (place->copies != NULL) {
        assert(place->copies->objects > 0);
        place->copies->objects--;
        place->copies->valid -= place->class == VALID;
        last = place->class != VALID || place->copies->valid == 0;
    }
    assert(count->kept[place->class] > 0);
    count->kept[place->class] -= last;
}

/* Replaces *evidence by the anonymous record if the limit is reached. */
static void add_one(const struct place *place, struct evidence **evidence)
{
    struct invalid_count *count = place->count;
    enum record_class class = place->class;
    bool is_copy = class == VALID && place->copies != NULL && place->copies->valid > 0;

    if (!is_copy && count->kept[class] >= limits[class]) {
        evidence_unref(*evidence);
        *evidence = evidence_ref(count->anonymous[class]);
        count->counted[class]++;
        return;
    }
    count->kept[class] += !is_copy;
    if (place->copies == NULL)
        return;
    place->copies->objects++;
    place->copies->valid += class == VALID;
}

/* Whether the valid documents, with and without a record, are more than the limit. */
static bool is_over(const struct invalid_count *count)
{
    return count->kept[VALID] + count->counted[VALID] > limits[VALID];
}

int cluster_invalid_replace(struct cluster *cluster, const struct evidence *before,
                            struct evidence **now)
{
    struct place old_place = {0}, new_place = {0};
    bool was_over = false;
    int r = *now != NULL ? make_place(cluster, *now, &new_place) : 0;

    if (r < 0)
        return r;
    if (before != NULL) {
        old_place = find_place(cluster, before);
        was_over = is_over(old_place.count);
        remove_one(&old_place, before);
    }
    if (*now != NULL)
        add_one(&new_place, now);
    /* only at the moment when they have room: the list itself changes the counts again */
    if (was_over && !is_over(old_place.count) && old_place.count->counted[VALID] > 0)
        cluster->has_room = true;
    if (old_place.copies == new_place.copies)
        old_place.copies = NULL; /* each is dropped once */
    if (old_place.count == new_place.count)
        old_place.count = NULL;
    drop_unused(cluster, &old_place);
    drop_unused(cluster, &new_place);
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
        .valid = count->counted[VALID],
    };

    if ((visit == postorder || visit == leaf) && rest.invalid + rest.broken + rest.valid > 0 &&
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
    cluster_copies_free(cluster);
    tdestroy(cluster->invalid_counts, free_count);
    cluster->invalid_counts = NULL;
}
