/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_SNAPSHOT_INDEX_H
#define K8S_SNAPSHOT_INDEX_H

/* index - the members of a snapshot; for the files of this directory only. */

#include "k8s/snapshot/snapshot.h"
#include "k8s/util/refcount.h"

/* How many invalid records of a namespace were left out. */
struct snapshot_more {
    struct str namespace_name;
    size_t count;
};

struct snapshot {
    struct refcount count;
    struct policy policy;
    struct snapshot_keep keep;
    struct arena arena; /* for the lists below and the texts of namespaces */

    const struct namespace_labels **namespaces; /* by name */
    size_t namespace_count;

    const struct evidence **all; /* by namespace and name; owned: one reference each */
    size_t all_count;
    /* subsets of `all`, borrowed */
    const struct evidence **requirements; /* by identity, newest first */
    size_t requirement_count;
    const struct evidence **baselines; /* by namespace and name */
    size_t baseline_count;
    const struct evidence **exemptions; /* of the gate's own namespace; by name */
    size_t exemption_count;
    const struct evidence **invalid; /* by namespace and name */
    size_t invalid_count;

    struct snapshot_more *more; /* can have several items for one namespace: they add up */
    size_t more_count;
};

/* The order of `all`. */
int snapshot_compare_names(const struct evidence *a, const struct evidence *b);

/* The order of identities: skill references before digests, each bytewise. */
int snapshot_compare_identity(const struct evidence *evidence, struct str skill_ref,
                              struct str image_digest);

#endif
