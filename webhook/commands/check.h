/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_COMMANDS_CHECK_H
#define WEBHOOK_COMMANDS_CHECK_H

/*
 * check - decides on manifests and AdmissionReviews as the gate would (gate-v1, sections 9 and 11).
 * check.c has the options and the order, check_policies.c finds the NetworkPolicies of all files
 * before the first decision, check_file.c decides on the objects of a file, check_print.c prints
 * the decisions, check_boundary.c what the pod's own spec asks for.
 *
 * Errors     0; -ENOMEM and any other negative errno end the command. An error in a file is
 *            reported on standard error and counted, and the next file is read.
 */

#include "k8s/snapshot/snapshot.h"
#include "planner/base/arena.h"
#include "planner/base/buffer.h"
#include "planner/base/moment.h"
#include "webhook/gate/gate.h"

#define CHECK_MAX_FILE_BYTES ((size_t)64 * 1024 * 1024)
#define CHECK_MAX_OUTPUT_BYTES ((size_t)1024 * 1024 * 1024) /* json and yaml print one list */
#define CHECK_UID "00000000-0000-0000-0000-000000000000"    /* of reviews made from manifests */

enum check_output {
    CHECK_OUTPUT_TABLE = 0,
    CHECK_OUTPUT_JSON,
    CHECK_OUTPUT_YAML,
    CHECK_OUTPUT_REVIEW,
};

/* The NetworkPolicies of the input, by name once. {0} is empty. */
struct check_policies {
    const struct network_policy **items; /* owned: one reference each */
    size_t count;
    size_t capacity;
    void *seen; /* of tsearch(): borrowed */
};

/* One file of the command line. */
struct check_source {
    const char *file;
    bool kept; /* it can be read once only, and was: the next two say how that went */
    int error;
    struct str text;
};

struct check {
    const struct snapshot *snapshot;
    struct moment now;
    struct str namespace_name; /* for manifests without one */
    size_t max_body_bytes;     /* of a review: the limit of the server */
    enum check_output output;
    struct check_policies policies;
    struct buffer list; /* json and yaml: the list so far */

    size_t admitted; /* including those not evaluated */
    size_t denied;
    size_t not_evaluated;
    size_t pods_denied; /* controllers that are admitted, but whose pods will be denied */
    size_t boundary_places[BOUNDARY_CODE_COUNT]; /* of findings that are open or unknown */
    size_t unreadable; /* files, and reviews that the server would answer with 400 or 413 */
};

/* The decision on one object. */
struct check_result {
    struct str source; /* the file, as the command line names it */
    size_t line;       /* of the object in the file; 0: the file is one review */
    struct str kind;
    struct str namespace_name;
    struct str name; /* or `<generateName>*` */
    struct str uid;  /* of the response */
    const struct decision *decision;
};

/* check_policies.c: adds the NetworkPolicies of a file. What can be read once only is kept in the
 * arena. */
int check_policies_find(struct check *check, struct check_source *source, struct arena *arena)
    __attribute__((warn_unused_result));
void check_policies_done(struct check_policies *policies);

/* check_file.c */
int check_file(struct check *check, const struct check_source *source)
    __attribute__((warn_unused_result));

/* check_print.c: prints one decision, and counts it. */
int check_show(struct check *check, const struct check_result *result, struct arena *arena)
    __attribute__((warn_unused_result));
/* Prints the list (json, yaml), or the last line of the table. */
int check_show_end(struct check *check, struct arena *arena) __attribute__((warn_unused_result));
/* check_boundary.c: the states of the eight controls, and what contradicts the declaration. The
 * rest is counted, and check_show_remedies() says what to do about it. */
int check_show_boundary(struct check *check, const struct decision *decision, struct arena *arena)
    __attribute__((warn_unused_result, nonnull));
int check_show_remedies(const struct check *check, struct arena *arena)
    __attribute__((warn_unused_result, nonnull));

#endif
