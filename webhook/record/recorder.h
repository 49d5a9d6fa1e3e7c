/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_RECORD_RECORDER_H
#define WEBHOOK_RECORD_RECORDER_H

/*
 * recorder - records decisions: denials always, allowed requests if configured, in the decision
 * log; denials also in memory, for the live page.
 *
 * A record that cannot be made is counted as lost. The response is sent anyway.
 *
 * Errors     recorder_init(): 0 or negative errno.
 * Ownership  the decision log is borrowed.
 * Threads    recorder_wants() and recorder_note() any; the others one at a time.
 */

#include <stdatomic.h>

#include "webhook/answer/exchange.h"
#include "webhook/record/decision_log.h"
#include "webhook/record/denials.h"
#include "webhook/record/record.h"

struct recorder {
    struct decision_log *log;
    struct denials denials;
    _Atomic bool allowed; /* record allowed requests too; can change at any time */
};

int recorder_init(struct recorder *recorder, struct decision_log *log)
    __attribute__((warn_unused_result, nonnull));
void recorder_done(struct recorder *recorder);

/* Whether this exchange is recorded. If not, the caller need not collect the circumstances. */
bool recorder_wants(const struct recorder *recorder, const struct exchange *exchange);

/* The line is made in the arena. */
void recorder_note(struct recorder *recorder, const struct exchange *exchange,
                   const struct record_circumstances *circumstances, struct arena *arena)
    __attribute__((nonnull));

#endif
