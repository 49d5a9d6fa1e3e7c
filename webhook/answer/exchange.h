/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_ANSWER_EXCHANGE_H
#define WEBHOOK_ANSWER_EXCHANGE_H

/*
 * exchange - one request through the house, without the wire: body in, HTTP status and body out.
 * The server and `check --output review` both call it, so that they cannot disagree.
 *
 * Pure. Never fails: what goes wrong is a status (400, 413, 500) with a body of kind Status; when
 * even that cannot be written, body is absent and status 500.
 */

#include "k8s/document/document.h"
#include "k8s/snapshot/snapshot.h"
#include "planner/base/arena.h"
#include "planner/base/moment.h"
#include "webhook/answer/answer.h"
#include "webhook/gate/gate.h"

struct exchange {
    int status;      /* HTTP */
    struct str body; /* JSON, or YAML as asked */
    enum answer_format format;
    bool decided;             /* decision and review are filled */
    int undecided;            /* 503, 504: the code of a denial by exchange_deny(); 0: none */
    struct str undecided_why; /* and its message */
    struct decision decision;
    struct review review;
    const struct answer_response *response; /* what body says, where decided */
};

void exchange_review(struct str body, enum document_syntax syntax, enum answer_format format,
                     const struct snapshot *snapshot, struct moment now, struct arena *arena,
                     struct exchange *ret_exchange) __attribute__((nonnull));

/* Makes of a decided exchange a denial with that code, 503 or 504: it could not be found out in
 * time whether the decision holds. The decision is gone, only its subject and levels stay. */
void exchange_deny(int code, struct str message, struct arena *arena, struct exchange *exchange)
    __attribute__((nonnull));

#endif
