/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_METRICS_EVIDENCE_H
#define WEBHOOK_METRICS_EVIDENCE_H

/*
 * evidence - the evidence of a snapshot in numbers: documents by kind and state, and the next
 * expiry.
 *
 * All documents are counted once for each snapshot, not for each request of the metrics; and again
 * when one of them has expired, at most every METRICS_EVIDENCE_PAUSE_SEC.
 *
 * Ownership  holds a reference to the snapshot that was counted. {0} is a valid start.
 * Threads    one.
 * Units      seconds since 1970.
 */

#include <stdbool.h>
#include <stdint.h>

#include "k8s/snapshot/snapshot.h"
#include "planner/base/moment.h"

#define METRICS_EVIDENCE_PAUSE_SEC 10

enum metrics_evidence_state {
    METRICS_EVIDENCE_VALID = 0,
    METRICS_EVIDENCE_EXPIRED, /* expires_at has passed */
    METRICS_EVIDENCE_STALE,   /* requirements older than evidence.maxAgeDays */
    METRICS_EVIDENCE_INVALID,
    METRICS_EVIDENCE_REVOKED,
    METRICS_EVIDENCE_OTHER_AUDIENCE,
    METRICS_EVIDENCE_STATE_COUNT
};

struct metrics_evidence {
    struct snapshot *snapshot;
    struct moment counted;
    uint64_t documents[EVIDENCE_KIND_COUNT][METRICS_EVIDENCE_STATE_COUNT];
    bool has_oldest; /* whether there are valid requirements */
    int64_t oldest_sec;
    bool has_next; /* whether a valid document expires */
    struct moment next;
};

void metrics_evidence_look(struct metrics_evidence *evidence, const struct snapshot *snapshot,
                           struct moment now) __attribute__((nonnull));
void metrics_evidence_done(struct metrics_evidence *evidence);

#endif
