/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_METRICS_METRICS_H
#define WEBHOOK_METRICS_METRICS_H

/*
 * metrics - counters of the running program, as text for Prometheus.
 *
 * Every label has a fixed set of values: nothing that a request says becomes one. Counters are
 * atomic and never wait for each other.
 *
 * Errors     metrics_write(): 0, -ENOMEM.
 * Threads    any number. {0} is a valid start; it is large, and belongs on no stack.
 * Units      seconds in what is shown, as Prometheus asks; microseconds inside.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "k8s/cluster/cluster.h"
#include "planner/base/arena.h"
#include "planner/base/text.h"
#include "webhook/record/decision_log.h"
#include "webhook/answer/exchange.h"
#include "webhook/metrics/evidence.h"

enum metrics_path {
    METRICS_PATH_VALIDATE = 0,
    METRICS_PATH_HEALTHZ,
    METRICS_PATH_READYZ,
    METRICS_PATH_METRICS,
    METRICS_PATH_DENIALS, /* with and without .json */
    METRICS_PATH_OTHER,
    METRICS_PATH_COUNT
};

/* What is read again, each by itself. */
enum metrics_part {
    METRICS_PART_CONFIGURATION = 0,
    METRICS_PART_CERTIFICATE,
    METRICS_PART_KEYRING,
    METRICS_PART_EVIDENCE,
    METRICS_PART_COUNT
};

/* Why the server ended a connection by itself. */
enum metrics_cut {
    METRICS_CUT_SLOW = 0, /* handshake, request or the taking of an answer took too long */
    METRICS_CUT_CROWDED,  /* more connections than the limit */
    METRICS_CUT_COUNT
};

/* Why a review was refused before it was decided. */
enum metrics_refusal {
    METRICS_REFUSAL_SLOTS = 0, /* limits.maxInFlight */
    METRICS_REFUSAL_BYTES,     /* limits.maxInFlightBytes, or a peer's share of it */
    METRICS_REFUSAL_NOT_READY,
    METRICS_REFUSAL_COUNT
};

#define METRICS_CODE_COUNT 15
#define METRICS_BUCKET_COUNT 10
#define METRICS_OUTCOME_COUNT (OUTCOME_NOT_EVALUATED + 1)
#define METRICS_LEVEL_COUNT (LEVEL_REQUIRED + 1)
#define METRICS_OPERATION_COUNT (REVIEW_CONNECT + 1)
#define METRICS_KIND_COUNT (WORKLOAD_CRON_JOB + 1)
#define METRICS_UNDECIDED_COUNT 2 /* 503, 504 */

struct metrics {
    _Atomic uint64_t requests[METRICS_PATH_COUNT][METRICS_CODE_COUNT];
    _Atomic uint64_t reviews[METRICS_OUTCOME_COUNT][2]; /* by outcome; denied, allowed */
    _Atomic uint64_t review_buckets[METRICS_BUCKET_COUNT + 1];
    _Atomic uint64_t review_usec;
    /* outcome; denied, allowed; level of enforce; operation; kind; real, dry run */
    _Atomic uint64_t decisions[METRICS_OUTCOME_COUNT][2][METRICS_LEVEL_COUNT]
                              [METRICS_OPERATION_COUNT][METRICS_KIND_COUNT][2];
    _Atomic uint64_t undecided[METRICS_UNDECIDED_COUNT];
    _Atomic uint64_t refused[METRICS_REFUSAL_COUNT];
    _Atomic uint64_t gate_findings[GATE_CODE_COUNT]; /* decisions that have one */
    _Atomic uint64_t plan_findings[PLAN_CODE_COUNT];
    _Atomic uint64_t reloads[METRICS_PART_COUNT][2]; /* failed, done */
    _Atomic uint64_t cut[METRICS_CUT_COUNT];
    _Atomic int64_t certificate_expires_sec; /* since 1970; 0: unknown */
};

/* What is not counted but looked at. */
struct metrics_state {
    bool ready;
    uint64_t connections;
    uint64_t in_flight;
    uint64_t in_flight_bytes;
    const struct metrics_evidence *evidence; /* NULL: no snapshot yet */
    bool records;                            /* the next two are known */
    struct decision_log_counts decision_log;
    uint64_t denials_kept;              /* that /denials shows */
    const struct cluster_status *watch; /* NULL: no cluster is watched */
};

void metrics_count_request(struct metrics *metrics, enum metrics_path path, int status);
/* A review that was answered: decided, or denied because something could not be found out in time.
 * Of any other exchange nothing is counted. */
void metrics_count_review(struct metrics *metrics, const struct exchange *exchange, uint64_t usec)
    __attribute__((nonnull));
void metrics_count_refusal(struct metrics *metrics, enum metrics_refusal why);
void metrics_count_reload(struct metrics *metrics, enum metrics_part part, bool done);
void metrics_count_cut(struct metrics *metrics, enum metrics_cut why);

int metrics_write(struct metrics *metrics, const struct metrics_state *state, struct arena *arena,
                  struct str *ret_text) __attribute__((warn_unused_result, nonnull));

#endif
