/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_CONFIRM_H
#define WEBHOOK_SERVER_CONFIRM_H

/*
 * confirm - which question the API server has to answer before a decision is final, and the denial
 * where it gave no answer (gate-v1, sections 2 to 4 and 8). Only for a watched cluster, which
 * learns of changes late; a folder is never asked.
 *
 * Pure. Each question is asked at most once for a request, so the number of rounds is bounded. The
 * order is: freshness of the snapshot, then the namespace, then the evidence.
 *
 * Errors     none; confirm_message(): absent where the arena is full.
 */

#include <stdbool.h>

#include "k8s/cluster/cluster.h"
#include "planner/base/arena.h"
#include "planner/base/text.h"
#include "webhook/gate/gate.h"

#define CONFIRM_QUESTIONS (CLUSTER_FRESH + 1)

/* What was asked for a request so far, by question. */
struct confirm_history {
    bool asked[CONFIRM_QUESTIONS];
    int results[CONFIRM_QUESTIONS]; /* as of struct cluster_waiter; valid where asked is true */
};

/* The zero value admits nothing. */
enum confirm_step {
    CONFIRM_DENY = 0, /* the question is open and cannot be asked again */
    CONFIRM_ASK,      /* wait for the answer, then decide again */
    CONFIRM_FINAL,    /* no question is open: the decision is the answer */
    CONFIRM_LEAVE,    /* the question is open, and nothing can deny: allow without a decision */
};

struct confirm {
    enum confirm_step step;
    enum cluster_question question; /* ASK, DENY */
    int result;                     /* DENY: the reason; 0: there is no such Namespace */
};

/* A stale snapshot delays nobody whom no level can deny: such a request is not asked for.
 * stale: the API server sent nothing for evidence.maxStaleSeconds. */
struct confirm confirm_next(const struct decision *decision, bool stale,
                            const struct confirm_history *history)
    __attribute__((warn_unused_result, nonnull));

/* Of a denial: its code, 503 or 504, and its message, which says what the gate waited for, why it
 * got no answer, and what to do. */
int confirm_code(const struct confirm *confirm) __attribute__((nonnull));
struct str confirm_message(const struct confirm *confirm, struct str namespace_name,
                           struct arena *arena) __attribute__((nonnull));

#endif
