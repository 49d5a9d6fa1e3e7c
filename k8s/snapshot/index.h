/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_SNAPSHOT_INDEX_H
#define K8S_SNAPSHOT_INDEX_H

/* index - what a snapshot is made of; private to snapshot*.c. */

#include "k8s/snapshot/snapshot.h"
#include "k8s/util/refcount.h"

/* How many records of a namespace were not kept. */
struct snapshot_more {
    struct str namespace_name;
    size_t count;
};

struct snapshot {
    struct refcount count;
    struct policy policy;
    struct snapshot_keep keep;
    struct arena arena; /* the lists below and the namespaces' texts */

    const struct namespace_labels **namespaces; /* by name */
    size_t namespace_count;

    const struct evidence **all; /* by namespace and name; each with a count of ours */
    size_t all_count;
    /* parts of `all` */
    const struct evidence **requirements; /* by identity, newest first */
    size_t requirement_count;
    const struct evidence **baselines; /* by namespace and name */
    size_t baseline_count;
    const struct evidence **exemptions; /* of the gate's own namespace, by name */
    size_t exemption_count;
    const struct evidence **invalid; /* by namespace and name */
    size_t invalid_count;

    struct snapshot_more *more; /* a namespace may stand there twice */
    size_t more_count;
};

/* The order of `all`. */
int snapshot_compare_names(const struct evidence *a, const struct evidence *b);

/* The order of identities: skill references before digests, each bytewise. */
int snapshot_compare_identity(const struct evidence *evidence, struct str skill_ref,
                              struct str image_digest);

#endif
