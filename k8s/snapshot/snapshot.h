/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_SNAPSHOT_SNAPSHOT_H
#define K8S_SNAPSHOT_SNAPSHOT_H

/*
 * snapshot - everything a decision needs at one moment: policy, namespaces, evidence,
 * NetworkPolicies.
 *
 * Immutable and reference-counted. A request takes a reference and holds it until its end; a source
 * builds the next snapshot meanwhile and swaps it into a store. Nothing is verified or parsed here.
 *
 * Of valid documents of one namespace with equal bytes the bytewise first by `<namespace>/<name>`
 * has a record. All lists are in the order of `<namespace>/<name>` as one text.
 *
 * Errors     0; -ENOMEM; -EEXIST the builder has an object with this name already.
 * Ownership  a snapshot keeps the texts of its policy alive by `keep`, holds a reference to each
 *            evidence and NetworkPolicy, and copies namespace labels. snapshot_unref(NULL) is
 *            allowed.
 * Threads    any number of threads can read a snapshot, without locks; a builder belongs to one
 *            thread.
 */

#include <stdbool.h>
#include <stddef.h>

#include "k8s/evidence/evidence.h"
#include "k8s/network_policy/network_policy.h"
#include "k8s/policy/level.h"
#include "k8s/policy/policy.h"
#include "k8s/snapshot/ceiling.h"
#include "planner/base/arena.h"
#include "planner/base/text.h"

/* The most records of documents that are not valid, and separately of broken baselines: a user who
 * can write ConfigMaps must not be able to displace a baseline that blocks. Further ones are only
 * counted; see struct snapshot_rest. */
#define SNAPSHOT_MAX_INVALID_PER_NAMESPACE 1000
/* The most valid documents of a namespace, without copies. Where there are more, a baseline can be
 * among those that were left out, so every judged pod that the namespace concerns is denied. */
#define SNAPSHOT_MAX_VALID_PER_NAMESPACE 100000
/* The most NetworkPolicies of a namespace about egress, bytewise by name: each judged pod is
 * compared with all of them. The next one stands for all further ones, and counts as one that
 * selects every pod and admits every destination. */
#define SNAPSHOT_MAX_NETWORK_POLICIES_PER_NAMESPACE 1000

struct snapshot;
struct snapshot_builder;

struct namespace_labels {
    struct str name;
    struct level_labels labels;
};

/*
 * What keeps the texts of a policy alive: the snapshot copies the policy, but not its texts, and
 * calls `release` when it is freed. A function that is given a keep owns it, even if the function
 * fails: it calls `release` then.
 */
struct snapshot_keep {
    void *object; /* can be NULL */
    void (*release)(void *object);
};

int snapshot_builder_new(const struct policy *policy, struct snapshot_keep keep,
                         struct snapshot_builder **ret_builder)
    __attribute__((warn_unused_result, nonnull));
void snapshot_builder_free(struct snapshot_builder *builder);
int snapshot_builder_add_namespace(struct snapshot_builder *builder,
                                   const struct namespace_labels *labels)
    __attribute__((warn_unused_result, nonnull));
/* Takes a reference. */
int snapshot_builder_add_evidence(struct snapshot_builder *builder, const struct evidence *evidence)
    __attribute__((warn_unused_result, nonnull));

/* Takes a reference. */
int snapshot_builder_add_network_policy(struct snapshot_builder *builder,
                                        const struct network_policy *policy)
    __attribute__((warn_unused_result, nonnull));
/* NetworkPolicies are read here. Without this call nobody knows whether there are any. */
void snapshot_builder_read_network_policies(struct snapshot_builder *builder)
    __attribute__((nonnull));

/* Documents of a namespace that have no record in a snapshot, only their number. */
struct snapshot_rest {
    struct str namespace_name;
    size_t invalid; /* not valid, and no broken baseline */
    size_t broken;  /* broken baselines: they block as those with a record do */
    size_t valid;   /* valid ones over the limit */
    size_t copies;  /* valid ones with the bytes of one that has a record in this namespace */
};

/* Adds documents that the builder is not given. The namespace is copied. */
int snapshot_builder_add_rest(struct snapshot_builder *builder, const struct snapshot_rest *rest)
    __attribute__((warn_unused_result, nonnull));
/* Sorts the lists. Frees the builder on success. */
int snapshot_builder_finish(struct snapshot_builder *builder, struct snapshot **ret_snapshot)
    __attribute__((warn_unused_result, nonnull));

/* The same snapshot with further NetworkPolicies, each of which replaces the one of its name. read:
 * they count as read here, whatever the base says. -EEXIST: two of the further ones have one name.
 */
int snapshot_overlay(const struct snapshot *base, const struct network_policy *const *policies,
                     size_t count, bool read, struct snapshot **ret_snapshot)
    __attribute__((warn_unused_result, nonnull(1, 5)));

struct snapshot *snapshot_ref(const struct snapshot *snapshot);
void snapshot_unref(const struct snapshot *snapshot);

const struct policy *snapshot_policy(const struct snapshot *snapshot);

/* NULL if the Namespace is unknown. With evidence from a folder this means that it has no labels.
 */
const struct namespace_labels *snapshot_namespace(const struct snapshot *snapshot, struct str name);

/* Consecutive items of a list of the snapshot; borrowed from it. */
struct evidence_run {
    const struct evidence *const *items;
    size_t count;
};

/*
 * Valid SandboxRequirements for an identity (exactly one of the two present), in all namespaces;
 * sorted by observed_at descending, then `<namespace>/<name>`. The caller checks scope, namespace
 * and expiry.
 */
struct evidence_run snapshot_requirements(const struct snapshot *snapshot, struct str skill_ref,
                                          struct str image_digest);

/* The SandboxBaselines that limit the pods of a namespace: valid, in scope, in that namespace or in
 * the gate's own; of equal ones one. Immutable; borrowed from the snapshot. */
struct snapshot_baselines {
    const struct evidence *const *items;
    size_t count;
    int max_age_days;       /* the smallest; 0: none gives one */
    unsigned hold;          /* boundary controls that one of them holds: boundary_control_bit() */
    struct ceiling ceiling; /* what all of them allow; its lists are read */
    const cJSON *baseline;  /* the same as the planner's object; NULL: no baseline */
};
/* Made for the first caller of a snapshot and namespace, then shared. 0 or -ENOMEM. */
int snapshot_baselines(const struct snapshot *snapshot, struct str namespace_name,
                       const struct snapshot_baselines **ret_baselines)
    __attribute__((warn_unused_result, nonnull));

/* SandboxBaselines in the namespace that do not verify or cannot be read. */
struct evidence_run snapshot_broken_baselines(const struct snapshot *snapshot,
                                              struct str namespace_name);
/* The number of valid SandboxBaselines in the gate's own namespace, each copy counted. */
size_t snapshot_own_baseline_objects(const struct snapshot *snapshot);

/* Valid SandboxExemptions in the gate's own namespace, sorted by name. */
struct evidence_run snapshot_exemptions(const struct snapshot *snapshot);

/* Documents of the namespace with any state but EVIDENCE_VALID, sorted by name, up to
 * SNAPSHOT_MAX_INVALID_PER_NAMESPACE and as many broken baselines. *ret_more counts the others,
 * without broken baselines. */
struct evidence_run snapshot_invalid(const struct snapshot *snapshot, struct str namespace_name,
                                     size_t *ret_more);

/* What has no record; all numbers are 0 for a namespace where each document has one. */
struct snapshot_rest snapshot_rest(const struct snapshot *snapshot, struct str namespace_name);
/* The namespaces with such documents; borrowed. */
const struct snapshot_rest *snapshot_rests(const struct snapshot *snapshot, size_t *ret_count);

/* Consecutive NetworkPolicies; borrowed from the snapshot. */
struct network_policy_run {
    const struct network_policy *const *items;
    size_t count;
};

/* The NetworkPolicies of a namespace that are about egress, bytewise by name. False: they are not
 * read here. */
bool snapshot_network_policies(const struct snapshot *snapshot, struct str namespace_name,
                               struct network_policy_run *ret_run)
    __attribute__((warn_unused_result, nonnull));

/* All records, sorted by `<namespace>/<name>`: for `sandgate evidence` and metrics. */
struct evidence_run snapshot_all(const struct snapshot *snapshot);

/* The current snapshot of a running gate, for any number of threads. */
struct snapshot_store;
int snapshot_store_new(struct snapshot_store **ret_store)
    __attribute__((warn_unused_result, nonnull));
void snapshot_store_free(struct snapshot_store *store);
/* The current snapshot, with a reference for the caller; NULL before the first put. */
struct snapshot *snapshot_store_get(struct snapshot_store *store);
/* Takes over the caller's reference. */
void snapshot_store_put(struct snapshot_store *store, struct snapshot *snapshot);

#endif
