/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_CONFIRM_H
#define WEBHOOK_SERVER_CONFIRM_H

/*
 * confirm - what has to be asked of the API server before a decision is final, and what is said
 * where no answer came (gate-v1, sections 2 to 4 and 8). For sources that learn of things late; a
 * folder is never asked.
 *
 * Pure. Each question is asked at most once a request, so that no request goes round for ever:
 * first to hear from the server at all, then for the namespace, then for the evidence.
 *
 * Errors     none; confirm_message(): absent where the arena is full.
 */

#include <stdbool.h>

#include "k8s/cluster/cluster.h"
#include "planner/base/arena.h"
#include "planner/base/text.h"
#include "webhook/gate/gate.h"

#define CONFIRM_QUESTIONS (CLUSTER_FRESH + 1)

/* What a request has asked so far, by question. */
struct confirm_history {
    bool asked[CONFIRM_QUESTIONS];
    int results[CONFIRM_QUESTIONS]; /* as struct cluster_waiter has them; where asked */
};

/* The zero of it admits nothing. */
enum confirm_step {
    CONFIRM_DENY = 0, /* the question is open and cannot be asked again */
    CONFIRM_ASK,      /* wait for the answer, then decide anew */
    CONFIRM_FINAL,    /* nothing is open: the decision is the answer */
};

struct confirm {
    enum confirm_step step;
    enum cluster_question question; /* ASK, DENY */
    int result;                     /* DENY: why; 0: there is no such Namespace */
};

/* `stale`: nothing was heard for maxStaleSeconds. */
struct confirm confirm_next(const struct decision *decision, bool stale,
                            const struct confirm_history *history)
    __attribute__((warn_unused_result, nonnull));

/* Of a denial: its code, 503 or 504, and its message: what was waited for, why, what to do. */
int confirm_code(const struct confirm *confirm) __attribute__((nonnull));
struct str confirm_message(const struct confirm *confirm, struct str namespace_name,
                           struct arena *arena) __attribute__((nonnull));

#endif
