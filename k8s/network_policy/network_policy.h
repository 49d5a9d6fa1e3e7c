/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_NETWORK_POLICY_NETWORK_POLICY_H
#define K8S_NETWORK_POLICY_NETWORK_POLICY_H

/*
 * network_policy - what a NetworkPolicy says about the egress of pods (boundary-v1, section 3).
 *
 * Made once, when the object arrives; immutable and reference-counted. It keeps its names, three
 * answers about its rules, and its selector as packed text: about as many bytes as the object has
 * itself. Ingress is not looked at.
 *
 * What cannot be read is never an error. A field of a wrong type counts as absent, an entry that is
 * no object as an empty one; a selector that cannot be read, or that is over the limit, counts as
 * one that selects every pod and admits every destination.
 *
 * Errors     0 or -ENOMEM.
 * Ownership  a policy owns its texts. network_policy_unref(NULL) is allowed.
 * Threads    any number of threads can read a policy.
 */

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "k8s/util/refcount.h"
#include "planner/base/arena.h"
#include "planner/base/text.h"

/* Of a packed selector. A label has at most 317 + 63 bytes, so this is more than 40 of the longest
 * ones. It bounds the memory of a policy, and the time to compare it with a pod. */
#define NETWORK_POLICY_MAX_SELECTOR_BYTES 16384

struct network_policy {
    struct str namespace_name;
    struct str name;
    bool egress;       /* Egress is among its types. Without it the policy is not looked at. */
    bool egress_rules; /* it has at least one egress rule */
    bool egress_any;   /* one of them admits every destination */

    /* private */
    struct str selector; /* packed; empty: every pod */
    struct refcount count;
    char texts[];
};

/* spec: of the object; can be NULL. */
int network_policy_make(struct str namespace_name, struct str name, const cJSON *spec,
                        struct network_policy **ret_policy)
    __attribute__((warn_unused_result, nonnull(4)));

/* One that selects every pod and admits every destination: in place of an object that has more than
 * is read. */
int network_policy_make_open(struct str namespace_name, struct str name,
                             struct network_policy **ret_policy)
    __attribute__((warn_unused_result, nonnull));

struct network_policy *network_policy_ref(const struct network_policy *policy);
void network_policy_unref(const struct network_policy *policy);

/* Whether two policies say the same, whatever their names. */
bool network_policy_same(const struct network_policy *a, const struct network_policy *b)
    __attribute__((nonnull));

/* The labels of a pod, ordered once for all policies of its namespace. */
struct network_policy_labels {
    struct network_policy_label {
        struct str key;
        struct str value;
    } * items; /* by key */
    size_t count;
};

/* labels: an object, or NULL. A label whose value is not text counts as absent. Texts are borrowed;
 * the list lives in the arena. */
int network_policy_labels_make(const cJSON *labels, struct arena *arena,
                               struct network_policy_labels *ret_labels)
    __attribute__((warn_unused_result, nonnull(2, 3)));

/* Whether it selects the pod. Only for policies with `egress`. The time grows with the size of the
 * selector, and with the logarithm of the number of labels. */
bool network_policy_selects(const struct network_policy *policy,
                            const struct network_policy_labels *labels) __attribute__((nonnull));

#endif
