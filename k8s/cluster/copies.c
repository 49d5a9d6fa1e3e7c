/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copies - the documents that are in use, by digest and namespace.
 *
 * Of equal documents the first that arrives is read, and the others refer to its content: see
 * struct evidence_known. A namespace is limited by its different documents, so they are counted
 * here too.
 */
#define _GNU_SOURCE /* tdestroy() */
#include <assert.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>

#include "k8s/cluster/internal.h"

static int order_digests(const void *a, const void *b)
{
    const struct cluster_copies *left = a;
    const struct cluster_copies *right = b;

    return str_compare(left->evidence->digest, right->evidence->digest);
}

static int order_copies(const void *a, const void *b)
{
    const struct cluster_copies *left = a;
    const struct cluster_copies *right = b;
    int r = order_digests(a, b);

    return r != 0 ? r : str_compare(*left->namespace_name, *right->namespace_name);
}

struct cluster_copies *cluster_copies_find(const struct cluster *cluster,
                                           const struct evidence *evidence)
{
    const struct cluster_copies key = {.evidence = evidence,
                                       .namespace_name = &evidence->namespace_name};
    struct cluster_copies *const *node = tfind(&key, &cluster->copies, order_copies);

    return node != NULL ? *node : NULL;
}

const struct evidence *cluster_copies_known(void *context, struct str digest)
{
    const struct cluster *cluster = context;
    const struct evidence sought = {.digest = digest};
    const struct cluster_copies key = {.evidence = &sought};
    /* any namespace: the tree is ordered by digest first */
    struct cluster_copies *const *node = tfind(&key, &cluster->copies, order_digests);

    return node != NULL ? (*node)->evidence : NULL;
}

int cluster_copies_get(struct cluster *cluster, const struct evidence *evidence,
                       const struct str *namespace_name, struct cluster_copies **ret_copies)
{
    struct cluster_copies *copies = cluster_copies_find(cluster, evidence);

    if (copies == NULL) {
        copies = calloc(1, sizeof(*copies));
        if (copies == NULL)
            return -ENOMEM;
        copies->evidence = evidence;
        copies->namespace_name = namespace_name;
        if (tsearch(copies, &cluster->copies, order_copies) == NULL) {
            free(copies);
            return -ENOMEM;
        }
        (void)evidence_ref(evidence);
    }
    *ret_copies = copies;
    return 0;
}

static void free_copies(void *object)
{
    struct cluster_copies *copies = object;

    evidence_unref(copies->evidence);
    free(copies);
}

void cluster_copies_drop_unused(struct cluster *cluster, struct cluster_copies *copies)
{
    assert(copies->valid <= copies->objects);
    if (copies->objects > 0)
        return;
    (void)tdelete(copies, &cluster->copies, order_copies);
    free_copies(copies);
}

void cluster_copies_free(struct cluster *cluster)
{
    tdestroy(cluster->copies, free_copies);
    cluster->copies = NULL;
}
