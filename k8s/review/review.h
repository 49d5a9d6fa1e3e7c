/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_REVIEW_REVIEW_H
#define K8S_REVIEW_REVIEW_H

/*
 * review - an AdmissionReview as the gate needs it (gate-v1, sections 1, 3, 8).
 *
 * Ownership  all texts and nodes lie in the arena that the review was read into.
 * Errors     0; -EBADMSG the text is no readable review (reterr: line, column, what): 400;
 *            -E2BIG more nodes than a review may have: 413; -ENOMEM.
 */

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "k8s/document/document.h"
#include "k8s/review/workload.h"
#include "planner/base/arena.h"
#include "planner/base/text.h"

enum review_operation {
    REVIEW_NO_OPERATION = 0,
    REVIEW_CREATE,
    REVIEW_UPDATE,
    REVIEW_DELETE,
    REVIEW_CONNECT,
};

struct review {
    struct str uid;
    struct str kind_group;
    struct str kind_version;
    struct str kind_name;
    enum workload_kind kind; /* WORKLOAD_NONE where the gate does not judge it */
    struct str subresource;  /* absent where there is none */
    enum review_operation operation;
    struct str namespace_name; /* request.namespace, the only one that counts */
    struct str name;           /* request.name; may be absent */
    struct str user;
    const cJSON *groups; /* array of texts, or NULL */
    bool dry_run;
    const cJSON *object;     /* NULL where null */
    const cJSON *old_object; /* likewise */
};

int review_read(struct str text, enum document_syntax syntax, struct arena *arena,
                struct review *ret_review, struct document_error *reterr)
    __attribute__((warn_unused_result, nonnull));

bool review_has_group(const struct review *review, struct str group);

/* Static text, never NULL. */
const char *review_operation_text(enum review_operation operation);

/* The controller in ownerReferences of the object, else of oldObject; absent texts where there is
 * none. */
struct review_owner {
    struct str kind;
    struct str name;
};

struct review_owner review_owner(const struct review *review) __attribute__((nonnull));

#endif
