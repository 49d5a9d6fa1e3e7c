/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_POLICY_NAMES_H
#define K8S_POLICY_NAMES_H

/*
 * names - the names that users write into Kubernetes objects (gate-v1, sections 1, 2, 4 and 10).
 */

#define NAMES_PREFIX "sandbox.runx.dev/" /* of annotations and labels */
#define NAMES_API_VERSION NAMES_PREFIX "v1"

/* Labels of a Namespace. */
#define NAMES_LABEL_ENFORCE NAMES_PREFIX "enforce"
#define NAMES_LABEL_WARN NAMES_PREFIX "warn"
#define NAMES_LABEL_AUDIT NAMES_PREFIX "audit"
#define NAMES_LABEL_BOUNDARY NAMES_PREFIX "boundary"

/* Of a ConfigMap with signed evidence. */
#define NAMES_LABEL_EVIDENCE NAMES_PREFIX "evidence"

#endif
