/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_COMMANDS_CHECK_H
#define WEBHOOK_COMMANDS_CHECK_H

/*
 * check - manifests and AdmissionReviews through the gate, without a cluster (gate-v1, sections 9
 * and 11). check.c has options and order, check_file.c makes decisions of files, check_print.c
 * shows them.
 *
 * Errors     0; -ENOMEM and other negative errno end the command. What is wrong with a file is
 *            said on standard error, counted, and the next file is looked at.
 */

#include "k8s/snapshot/snapshot.h"
#include "planner/base/arena.h"
#include "planner/base/buffer.h"
#include "planner/base/moment.h"
#include "webhook/gate/gate.h"

#define CHECK_MAX_FILE_BYTES ((size_t)64 * 1024 * 1024)
#define CHECK_MAX_OUTPUT_BYTES ((size_t)1024 * 1024 * 1024) /* json and yaml are one list */
#define CHECK_UID "00000000-0000-0000-0000-000000000000"    /* of reviews made of manifests */

enum check_output {
    CHECK_OUTPUT_TABLE = 0,
    CHECK_OUTPUT_JSON,
    CHECK_OUTPUT_YAML,
    CHECK_OUTPUT_REVIEW,
};

struct check {
    const struct snapshot *snapshot;
    struct moment now;
    struct str namespace_name; /* of manifests that name none */
    size_t max_body_bytes;     /* of a review, as the server takes them */
    enum check_output output;
    struct buffer list; /* json and yaml: the list so far */

    size_t admitted; /* not evaluated ones among them */
    size_t denied;
    size_t not_evaluated;
    size_t pods_denied; /* controllers that only warn, whose pods will be denied */
    size_t unreadable;  /* files, or reviews that the server would answer with 400 */
};

/* One object that was decided. */
struct check_result {
    struct str source; /* the file as it was named */
    size_t line;       /* of the object in it; 0: the file is one review */
    struct str kind;
    struct str namespace_name;
    struct str name; /* or `<generateName>*` */
    struct str uid;  /* of the answer */
    const struct decision *decision;
};

/* check_file.c */
int check_file(struct check *check, const char *file) __attribute__((warn_unused_result));

/* check_print.c: counts it too. */
int check_show(struct check *check, const struct check_result *result, struct arena *arena)
    __attribute__((warn_unused_result));
/* The list, or the table's last line. */
int check_show_end(struct check *check, struct arena *arena) __attribute__((warn_unused_result));

#endif
