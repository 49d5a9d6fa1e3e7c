/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_REVIEW_REVIEW_H
#define K8S_REVIEW_REVIEW_H

/*
 * review - an AdmissionReview: the members that the gate uses (gate-v1, sections 1, 3, 8).
 *
 * Errors     0; -EBADMSG the text is not a valid review (reterr: line, column, reason), HTTP status
 *            400; -E2BIG it has too many nodes, HTTP status 413; -ENOMEM.
 * Ownership  all texts and nodes are in the arena that was given to review_read().
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
    enum workload_kind kind; /* WORKLOAD_NONE: the gate does not judge it */
    struct str subresource;  /* absent: none */
    enum review_operation operation;
    struct str namespace_name; /* request.namespace; that of the object is not used */
    struct str name;           /* request.name; can be absent */
    struct str user;
    const cJSON *groups; /* array of texts, or NULL */
    bool dry_run;
    const cJSON *object;     /* NULL where it is null or absent */
    const cJSON *old_object; /* the same */
};

/* syntax: DOCUMENT_JSON for requests, DOCUMENT_EITHER for files. */
int review_read(struct str text, enum document_syntax syntax, struct arena *arena,
                struct review *ret_review, struct document_error *reterr)
    __attribute__((warn_unused_result, nonnull));

/* Whether the user is in the group. */
bool review_has_group(const struct review *review, struct str group);

/* Static text, never NULL; "" for REVIEW_NO_OPERATION. */
const char *review_operation_text(enum review_operation operation);

/* The controller in ownerReferences of the object, or of oldObject where there is no object. Absent
 * texts where there is no controller. */
struct review_owner {
    struct str kind;
    struct str name;
};

struct review_owner review_owner(const struct review *review) __attribute__((nonnull));

#endif
