/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_REVIEW_SHAPE_H
#define K8S_REVIEW_SHAPE_H

/* shape - the members of an AdmissionReview that become nodes. Private to k8s/review. */

#include "k8s/document/document.h"

extern const struct document_shape shape_review[];

#endif
