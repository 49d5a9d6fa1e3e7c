/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* tdestroy(), twalk_r() */
#include <errno.h>
#include <search.h>
#include <stdlib.h>

#include "k8s/cluster/internal.h"

/* What a namespace has of documents that are not valid. Beyond the bounds one record, which has no
 * name, stands for all that are only counted: whoever may write ConfigMaps must not be able to fill
 * our memory. */
struct tally {
    struct str namespace_name;
    size_t kept[2];        /* others, broken baselines: as the snapshot bounds them */
    struct evidence *rest; /* owned: one count */
    size_t counted;        /* that it stands for */
    char text[];
};

static int order_tallies(const void *a, const void *b)
{
    const struct tally *left = a;
    const struct tally *right = b;

    return str_compare(left->namespace_name, right->namespace_name);
}

static void free_tally(void *object)
{
    struct tally *tally = object;

    evidence_unref(tally->rest);
    free(tally);
}

static struct tally *find_tally(const struct cluster *cluster, struct str namespace_name)
{
    const struct tally key = {.namespace_name = namespace_name};
    struct tally *const *node = tfind(&key, &cluster->tallies, order_tallies);

    return node != NULL ? *node : NULL;
}

static int make_tally(struct cluster *cluster, struct str namespace_name, struct tally **ret_tally)
{
    const struct evidence nameless = {.namespace_name = namespace_name, .name = STR("")};
    struct tally *tally = calloc(1, sizeof(*tally) + namespace_name.len);
    int r = 0;

    if (tally == NULL)
        return -ENOMEM;
    if (namespace_name.len > 0)
        memcpy(tally->text, namespace_name.ptr, namespace_name.len);
    tally->namespace_name = (struct str){.ptr = tally->text, .len = namespace_name.len};
    r = evidence_make_distrusted(&nameless, STR("it is only counted"), &tally->rest);
    if (r == 0 && tsearch(tally, &cluster->tallies, order_tallies) == NULL)
        r = -ENOMEM;
    if (r < 0) {
        free_tally(tally);
        return r;
    }
    *ret_tally = tally;
    return 0;
}

static bool is_tallied(const struct evidence *evidence)
{
    return evidence != NULL && evidence->state != EVIDENCE_VALID;
}

static size_t class_of(const struct evidence *evidence)
{
    return evidence->kind == EVIDENCE_BASELINE && evidence->state == EVIDENCE_INVALID ? 1 : 0;
}

static void leave(struct tally *tally, const struct evidence *evidence)
{
    if (evidence == tally->rest)
        tally->counted--;
    else
        tally->kept[class_of(evidence)]--;
}

static void enter(struct tally *tally, struct evidence **evidence)
{
    size_t *kept = &tally->kept[class_of(*evidence)];

    if (*kept < SNAPSHOT_MAX_INVALID_PER_NAMESPACE) {
        (*kept)++;
        return;
    }
    evidence_unref(*evidence);
    *evidence = evidence_ref(tally->rest);
    tally->counted++;
}

int cluster_tally_replace(struct cluster *cluster, const struct evidence *before,
                          struct evidence **now)
{
    struct tally *left = is_tallied(before) ? find_tally(cluster, before->namespace_name) : NULL;
    struct tally *entered = is_tallied(*now) ? find_tally(cluster, (*now)->namespace_name) : NULL;
    int r = 0;

    if (is_tallied(*now) && entered == NULL)
        r = make_tally(cluster, (*now)->namespace_name, &entered);
    if (r < 0)
        return r;
    if (left != NULL)
        leave(left, before);
    if (entered != NULL)
        enter(entered, now);
    if (left != NULL && left->kept[0] == 0 && left->kept[1] == 0 && left->counted == 0) {
        (void)tdelete(left, &cluster->tallies, order_tallies);
        free_tally(left);
    }
    return 0;
}

struct adding {
    struct snapshot_builder *builder;
    int error;
};

static void add_tally(const void *node, VISIT visit, void *context)
{
    const struct tally *tally = *(const struct tally *const *)node;
    struct adding *adding = context;

    if ((visit == postorder || visit == leaf) && tally->counted > 0 && adding->error == 0)
        adding->error =
            snapshot_builder_add_more(adding->builder, tally->namespace_name, tally->counted);
}

int cluster_tally_add(const struct cluster *cluster, struct snapshot_builder *builder)
{
    struct adding adding = {.builder = builder};

    twalk_r(cluster->tallies, add_tally, &adding);
    return adding.error;
}

void cluster_tally_free(struct cluster *cluster)
{
    tdestroy(cluster->tallies, free_tally);
}
