/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_DOCUMENT_SCALAR_H
#define K8S_DOCUMENT_SCALAR_H

/*
 * scalar - what a plain scalar of YAML means.
 *
 * scalar_strict() is for texts of our own and for reviews (gate-v1, section 11): what YAML 1.1 and
 * 1.2, or readers in use, take for different things has no meaning there. scalar_kubectl() reads
 * as kubectl does (sigs.k8s.io/yaml): YAML 1.1, without base 60.
 */

#include "planner/base/arena.h"
#include "planner/base/text.h"

enum scalar_kind {
    SCALAR_UNCLEAR = 0, /* two readings */
    SCALAR_TEXT,
    SCALAR_NULL,
    SCALAR_TRUE,
    SCALAR_FALSE,
    SCALAR_NUMBER,
};

/* A SCALAR_NUMBER of this one is in JSON's grammar. */
enum scalar_kind scalar_strict(struct str s);

/* *ret_number is set for SCALAR_NUMBER; infinities and not-a-number are numbers. 0 or -ENOMEM. */
int scalar_kubectl(struct str s, struct arena *arena, enum scalar_kind *ret_kind,
                   double *ret_number) __attribute__((warn_unused_result, nonnull));

#endif
