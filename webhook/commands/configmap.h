/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_COMMANDS_CONFIGMAP_H
#define WEBHOOK_COMMANDS_CONFIGMAP_H

/*
 * configmap - what a ConfigMap's manifest says about evidence (gate-v1, section 4), for sign and
 * verify. Everything is borrowed from the object's tree.
 */

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "k8s/evidence/evidence.h"

/* False for an object of another kind. A name or namespace that is no text counts as absent;
 * without a namespace it is `default`. */
bool configmap_read(const cJSON *object, struct evidence_source *ret_source, bool *ret_labelled);

/* The key id of an annotation's name; absent where it is no signature. */
struct str configmap_key_id(struct str annotation);

#endif
