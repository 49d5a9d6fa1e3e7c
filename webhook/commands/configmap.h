/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_COMMANDS_CONFIGMAP_H
#define WEBHOOK_COMMANDS_CONFIGMAP_H

/*
 * configmap - reads the evidence in the manifest of a ConfigMap (gate-v1, section 4), for `sign`
 * and `verify`. All texts are borrowed from the tree of the object.
 */

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "k8s/evidence/evidence.h"

/* False for an object of another kind. A name or namespace that is not a text counts as absent; an
 * absent namespace is `default`. *ret_labelled: it has the label of evidence. */
bool configmap_read(const cJSON *object, struct evidence_source *ret_source, bool *ret_labelled);

/* The key id in the name of an annotation; absent if the annotation is not a signature. */
struct str configmap_key_id(struct str annotation);

/* Cleanup attributes: drop one reference when the variable goes out of scope. */
static inline void configmap_unref_keyring(struct keyring **keyring)
{
    keyring_unref(*keyring);
}
#define cleanup_keyring_ref __attribute__((cleanup(configmap_unref_keyring)))

static inline void configmap_unref_evidence(struct evidence **evidence)
{
    evidence_unref(*evidence);
}
#define cleanup_evidence_ref __attribute__((cleanup(configmap_unref_evidence)))

#endif
