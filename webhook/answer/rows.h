/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_ANSWER_ROWS_H
#define WEBHOOK_ANSWER_ROWS_H

/*
 * rows - the findings of a decision as a person reads them, for denials, warnings and tables.
 *
 * Findings that only follow from another one come last. Their messages would only repeat the cause
 * in other words, so they are named together, in one text: answer_consequences().
 *
 * Pure.
 *
 * Errors     0, -ENOMEM.
 * Ownership  everything is in the arena, borrowed from the decision, or static.
 * Threads    any number, each with its own arena.
 */

#include "planner/base/arena.h"
#include "planner/base/text.h"
#include "webhook/gate/gate.h"

struct answer_row {
    struct str code;
    struct str place;   /* absent: none */
    struct str message; /* what is wrong; of a finding of the gate also what to do */
    const char *hint;   /* what to do; NULL: the message says it */
};

struct answer_rows {
    const struct answer_row *items; /* the findings of the gate, then those of the planner */
    size_t cause_count;             /* the first ones; the others follow from these */
    size_t count;
};

int answer_rows_make(const struct decision *decision, struct arena *arena,
                     struct answer_rows *ret_rows) __attribute__((warn_unused_result, nonnull));

/* `also, as a consequence: CODE, CODE`, each code once; absent if nothing follows. */
int answer_consequences(const struct answer_rows *rows, struct arena *arena, struct str *ret_text)
    __attribute__((warn_unused_result, nonnull));

#endif
