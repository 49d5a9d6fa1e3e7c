/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_DOCUMENT_SCALAR_H
#define K8S_DOCUMENT_SCALAR_H

/*
 * scalar - the type and value of a plain scalar in YAML.
 *
 * scalar_strict() is for the gate's own documents and for reviews (gate-v1, section 11): it refuses
 * scalars that YAML 1.1, YAML 1.2 and common readers read differently. scalar_kubectl() reads as
 * kubectl does (sigs.k8s.io/yaml): YAML 1.1 without numbers of base 60.
 */

#include "planner/base/arena.h"
#include "planner/base/text.h"

enum scalar_kind {
    SCALAR_UNCLEAR = 0, /* readers differ */
    SCALAR_TEXT,
    SCALAR_NULL,
    SCALAR_TRUE,
    SCALAR_FALSE,
    SCALAR_NUMBER,
};

/* A SCALAR_NUMBER has JSON's grammar. 0 or -ENOMEM. */
int scalar_strict(struct str s, struct arena *arena, enum scalar_kind *ret_kind)
    __attribute__((warn_unused_result, nonnull));

/* Never SCALAR_UNCLEAR. *ret_number is set for SCALAR_NUMBER; infinities and NaN are numbers. 0 or
 * -ENOMEM. */
int scalar_kubectl(struct str s, struct arena *arena, enum scalar_kind *ret_kind,
                   double *ret_number) __attribute__((warn_unused_result, nonnull));

#endif
