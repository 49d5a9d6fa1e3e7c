/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_NETWORK_POLICY_INTERNAL_H
#define K8S_NETWORK_POLICY_INTERNAL_H

/*
 * internal - selectors; for the files of this directory only.
 *
 * network_policy.c  the policy: its types and rules
 * selector.c        its selector, from the object to packed text, and whether it matches labels
 * labels.c          the labels of a pod
 *
 * A packed selector is a sequence of requirements: operator, key, number of values, values. All of
 * them must be met.
 */

#include "k8s/network_policy/network_policy.h"

/* out: NETWORK_POLICY_MAX_SELECTOR_BYTES. False: it cannot be read, or is over the limit. */
bool selector_pack(const cJSON *selector, char *out, size_t *ret_bytes);

bool selector_matches(struct str packed, const struct network_policy_labels *labels);

/* NULL: the pod has no such label. */
const struct str *labels_find(const struct network_policy_labels *labels, struct str key);

#endif
