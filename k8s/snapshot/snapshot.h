/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_SNAPSHOT_SNAPSHOT_H
#define K8S_SNAPSHOT_SNAPSHOT_H

/*
 * snapshot - everything a decision needs at one moment: policy, namespaces, evidence.
 *
 * Immutable and counted. A request takes a reference and holds it to its end; sources build the
 * next snapshot beside it and swap it into a store. Nothing is verified or read here.
 *
 * Errors     0, -ENOMEM. -EEXIST for an object that is already there.
 * Ownership  a snapshot owns its policy's texts by the arena that came with them, holds a count of
 *            each evidence, and copies namespace labels. snapshot_unref(NULL) is allowed.
 * Threads    reading from any number of threads; a builder belongs to one.
 */

#include <stdbool.h>
#include <stddef.h>

#include "k8s/evidence/evidence.h"
#include "k8s/policy/level.h"
#include "k8s/policy/policy.h"
#include "planner/base/arena.h"
#include "planner/base/text.h"

/* Records of documents that are not valid, and as many of broken baselines beside them: whoever may
 * write ConfigMaps must not be able to crowd out a baseline that blocks. More are counted. */
#define SNAPSHOT_MAX_INVALID_PER_NAMESPACE 1000

struct snapshot;
struct snapshot_builder;

/* The three labels of a Namespace as they stand; absent where it has none. */
struct namespace_labels {
    struct str name;
    struct str enforce;
    struct str warn;
    struct str audit;
};

/* policy is copied; what its texts point to must outlive the snapshot (config holds it, counted by
 * the snapshot through `keep`, whose `release` is called with the last count). Whoever is given a
 * keep takes it over, also where the call fails: it is released then. */
struct snapshot_keep {
    void *object; /* may be NULL */
    void (*release)(void *object);
};

int snapshot_builder_new(const struct policy *policy, struct snapshot_keep keep,
                         struct snapshot_builder **ret_builder)
    __attribute__((warn_unused_result, nonnull));
void snapshot_builder_free(struct snapshot_builder *builder);
int snapshot_builder_add_namespace(struct snapshot_builder *builder,
                                   const struct namespace_labels *labels)
    __attribute__((warn_unused_result, nonnull));
/* Takes a count of its own. */
int snapshot_builder_add_evidence(struct snapshot_builder *builder, const struct evidence *evidence)
    __attribute__((warn_unused_result, nonnull));
/* So many documents of that namespace are not valid, and not even given: for snapshot_invalid(). */
int snapshot_builder_add_more(struct snapshot_builder *builder, struct str namespace_name,
                              size_t count) __attribute__((warn_unused_result, nonnull));
/* Builds the indexes; the builder is used up on success. */
int snapshot_builder_finish(struct snapshot_builder *builder, struct snapshot **ret_snapshot)
    __attribute__((warn_unused_result, nonnull));

struct snapshot *snapshot_ref(const struct snapshot *snapshot);
void snapshot_unref(const struct snapshot *snapshot);

const struct policy *snapshot_policy(const struct snapshot *snapshot);

/* NULL where no such Namespace was seen. With evidence from a folder that means: no labels. */
const struct namespace_labels *snapshot_namespace(const struct snapshot *snapshot, struct str name);

/* A run of pointers into the snapshot. */
struct evidence_run {
    const struct evidence *const *items;
    size_t count;
};

/*
 * Valid SandboxRequirements for an identity (exactly one of the two present), in every namespace;
 * sorted by observed_at descending, then namespace, then name. Scope, place and expiry are the
 * caller's questions.
 */
struct evidence_run snapshot_requirements(const struct snapshot *snapshot, struct str skill_ref,
                                          struct str image_digest);

/* All SandboxBaselines that lie in that namespace, valid ones and broken ones (state). */
struct evidence_run snapshot_baselines(const struct snapshot *snapshot, struct str namespace_name);

/* Valid SandboxExemptions that lie in the gate's own namespace, sorted by name. */
struct evidence_run snapshot_exemptions(const struct snapshot *snapshot);

/* Documents of that namespace that are not valid (any state but EVIDENCE_VALID), sorted by name, as
 * many as the bound keeps; *ret_more counts the others. */
struct evidence_run snapshot_invalid(const struct snapshot *snapshot, struct str namespace_name,
                                     size_t *ret_more);

/* Everything, sorted by namespace and name: for `sandgate evidence` and metrics. */
struct evidence_run snapshot_all(const struct snapshot *snapshot);

/* The current snapshot of a running gate: a pointer behind a mutex, held for the copy only. */
struct snapshot_store;
int snapshot_store_new(struct snapshot_store **ret_store)
    __attribute__((warn_unused_result, nonnull));
void snapshot_store_free(struct snapshot_store *store);
/* A count of the current one for the caller; NULL before the first. */
struct snapshot *snapshot_store_get(struct snapshot_store *store);
/* Takes over the caller's count. */
void snapshot_store_put(struct snapshot_store *store, struct snapshot *snapshot);

#endif
