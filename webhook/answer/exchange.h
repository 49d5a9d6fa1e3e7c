/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_ANSWER_EXCHANGE_H
#define WEBHOOK_ANSWER_EXCHANGE_H

/*
 * exchange - handles one request, independent of transport: from the body it makes the HTTP status
 * and the body of the response. The server and `check --output review` both call it, so that they
 * cannot disagree.
 *
 * Pure.
 *
 * Errors     none: a failure becomes status 400, 413 or 500 with a body of kind Status. If even
 *            that body cannot be written, body is absent and status is 500.
 * Ownership  everything is in the arena or borrowed from body and snapshot.
 * Threads    any number, each with its own arena.
 */

#include "k8s/document/document.h"
#include "k8s/snapshot/snapshot.h"
#include "planner/base/arena.h"
#include "planner/base/moment.h"
#include "webhook/answer/answer.h"
#include "webhook/gate/gate.h"

struct exchange {
    int status;      /* HTTP */
    struct str body; /* JSON, or YAML if that was requested */
    enum answer_format format;
    bool decided;                 /* decision, review and response are filled */
    int undecided;                /* code of a denial by exchange_deny(): 503 or 504; 0: none */
    struct str undecided_message; /* of such a denial */
    struct decision decision;
    struct review review;
    const struct answer_response *response; /* the content of body, if decided */
};

void exchange_review(struct str body, enum document_syntax syntax, enum answer_format format,
                     const struct snapshot *snapshot, struct moment now, struct arena *arena,
                     struct exchange *ret_exchange) __attribute__((nonnull));

/* Replaces the decision of an exchange, which cannot deny (cannot_deny), with an admission without
 * a decision: outcome `undecided`. A failure becomes status 500. */
void exchange_leave_undecided(struct arena *arena, struct exchange *exchange)
    __attribute__((nonnull));

/* Replaces the decision of an exchange with a denial with code 503 or 504, because it could not be
 * confirmed in time. Of the decision, only subject and levels are kept. */
void exchange_deny(int code, struct str message, struct arena *arena, struct exchange *exchange)
    __attribute__((nonnull));

#endif
