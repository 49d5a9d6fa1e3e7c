/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_SNAPSHOT_INDEX_H
#define K8S_SNAPSHOT_INDEX_H

/* index - the members of a snapshot; for the files of this directory only. */

#include <stdatomic.h>

#include "k8s/snapshot/snapshot.h"
#include "k8s/util/refcount.h"

struct snapshot_made;

/* Baselines, and what they allow together with those for all pods. */
struct snapshot_group {
    const struct evidence **items; /* borrowed from the snapshot */
    size_t count;
    struct snapshot_made *_Atomic made; /* owned; NULL: nobody has asked yet */
};

/* A namespace to which further baselines apply. */
struct snapshot_member {
    struct str namespace_name; /* borrowed from evidence */
    struct snapshot_group *group;
};

struct snapshot {
    struct refcount count;
    struct policy policy;
    struct snapshot_keep keep;
    struct arena arena; /* for the lists below and the texts of namespaces */

    const struct namespace_labels **namespaces; /* by name */
    size_t namespace_count;

    const struct evidence **all; /* by name; owned: one reference each */
    size_t all_count;
    /* subsets of `all`, borrowed */
    const struct evidence **requirements; /* by identity, newest first */
    size_t requirement_count;
    const struct evidence **baselines; /* valid; by name */
    size_t baseline_count;
    const struct evidence **broken; /* baselines; by name */
    size_t broken_count;
    const struct evidence **exemptions; /* of the gate's own namespace; by name */
    size_t exemption_count;
    const struct evidence **invalid; /* by name; with the broken baselines */
    size_t invalid_count;

    bool network_policies_read;
    const struct network_policy **network_policies; /* by namespace, then name; owned: one
                                                       reference each */
    size_t network_policy_count;

    struct snapshot_rest *rests; /* by namespace, one for each */
    size_t rest_count;
    size_t rest_capacity;
    size_t own_baseline_objects;

    struct snapshot_group common; /* the baselines for all pods */
    struct snapshot_group *groups;
    size_t group_count;
    struct snapshot_member *members; /* by namespace */
    size_t member_count;
};

/* ---- order.c ---- */

/* The order of `<namespace>/` as text: no namespace has a slash, so all names of one namespace
 * follow each other. */
int snapshot_compare_namespaces(struct str a, struct str b);

/* The order of `<namespace>/<name>` as text. */
int snapshot_compare_names(const struct evidence *a, const struct evidence *b);

/* The order of identities: skill references before digests, each bytewise. */
int snapshot_compare_identity(const struct evidence *evidence, struct str skill_ref,
                              struct str image_digest);

/* Whether two valid documents have equal bytes. */
bool snapshot_same_bytes(const struct evidence *a, const struct evidence *b);

/* ---- fill.c ---- */

/* The evidence of a builder, one reference each; those without a record leave the array. */
struct snapshot_given {
    const struct evidence **items;
    size_t count;
};

/* Adds an item; the namespace is copied. */
int snapshot_add_rest(struct snapshot *snapshot, const struct snapshot_rest *rest)
    __attribute__((warn_unused_result));

/* Makes all lists. On failure the snapshot holds no evidence. */
int snapshot_fill(struct snapshot *snapshot, struct snapshot_given *given)
    __attribute__((warn_unused_result));

/* ---- network_policies.c ---- */

/* The NetworkPolicies of a builder. {0} is empty. */
struct snapshot_given_policies {
    const struct network_policy **items; /* owned: one reference each */
    size_t count;
    size_t capacity;
    void *tree; /* of tsearch(): finds names that were added already */
};

/* Takes a reference. -EEXIST as for a builder. */
int snapshot_give_network_policy(struct snapshot_given_policies *given,
                                 const struct network_policy *policy)
    __attribute__((warn_unused_result));
void snapshot_free_given_policies(struct snapshot_given_policies *given);
/* Makes the list. On failure snapshot_free_network_policies() is still due. */
int snapshot_fill_network_policies(struct snapshot *snapshot, struct snapshot_given_policies *given)
    __attribute__((warn_unused_result));
void snapshot_free_network_policies(struct snapshot *snapshot);

/* ---- groups.c ---- */

/* After the list of baselines. */
int snapshot_fill_groups(struct snapshot *snapshot) __attribute__((warn_unused_result));
void snapshot_free_groups(struct snapshot *snapshot);

#endif
