/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_METRICS_METRICS_H
#define WEBHOOK_METRICS_METRICS_H

/*
 * metrics - counters of the running program, and their text for Prometheus.
 *
 * Every label has a fixed set of values; no text of a request becomes one. Counters are atomic and
 * take no lock.
 *
 * Errors     metrics_write(): 0, -ENOMEM.
 * Ownership  {0} is a valid start. struct metrics is large and must not be on a stack.
 * Threads    any number.
 * Units      seconds in the text, as Prometheus asks; microseconds inside.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "k8s/boundary/boundary.h"
#include "k8s/cluster/cluster.h"
#include "planner/base/arena.h"
#include "planner/base/text.h"
#include "webhook/answer/exchange.h"
#include "webhook/metrics/evidence.h"
#include "webhook/record/decision_log.h"

enum metrics_path {
    METRICS_PATH_VALIDATE = 0,
    METRICS_PATH_HEALTHZ,
    METRICS_PATH_READYZ,
    METRICS_PATH_METRICS,
    METRICS_PATH_DENIALS, /* with and without .json */
    METRICS_PATH_OTHER,
    METRICS_PATH_COUNT
};

/* What is reloaded at run time, each part separately. */
enum metrics_part {
    METRICS_PART_CONFIGURATION = 0,
    METRICS_PART_CERTIFICATE,
    METRICS_PART_KEYRING,
    METRICS_PART_EVIDENCE,
    METRICS_PART_COUNT
};

/* Why the server cut a connection. */
enum metrics_cut {
    METRICS_CUT_SLOW = 0, /* handshake, request, or sending the answer took too long */
    METRICS_CUT_CROWDED,  /* more connections than the limit */
    METRICS_CUT_COUNT
};

/* Why a review was refused before it was decided. */
enum metrics_refusal {
    METRICS_REFUSAL_SLOTS = 0, /* limits.maxInFlight */
    METRICS_REFUSAL_BYTES,     /* limits.maxInFlightBytes, or the share of one address */
    METRICS_REFUSAL_NOT_READY,
    METRICS_REFUSAL_COUNT
};

#define METRICS_CODE_COUNT 15
#define METRICS_BUCKET_COUNT 10
#define METRICS_OUTCOME_COUNT (OUTCOME_LEFT_UNDECIDED + 1)
#define METRICS_LEVEL_COUNT (LEVEL_REQUIRED + 1)
#define METRICS_OPERATION_COUNT (REVIEW_CONNECT + 1)
#define METRICS_KIND_COUNT (WORKLOAD_CRON_JOB + 1)
#define METRICS_UNDECIDED_COUNT 2 /* codes 503 and 504 */

struct metrics {
    _Atomic uint64_t requests[METRICS_PATH_COUNT][METRICS_CODE_COUNT];
    _Atomic uint64_t reviews[METRICS_OUTCOME_COUNT][2]; /* by outcome; denied, allowed */
    _Atomic uint64_t review_buckets[METRICS_BUCKET_COUNT + 1];
    _Atomic uint64_t review_usec;
    /* outcome; denied, allowed; level of enforce; operation; kind; real, dry run */
    _Atomic uint64_t decisions[METRICS_OUTCOME_COUNT][2][METRICS_LEVEL_COUNT]
                              [METRICS_OPERATION_COUNT][METRICS_KIND_COUNT][2];
    /* decisions for which the pod's own spec was read */
    _Atomic uint64_t boundary_reads[BOUNDARY_CONTROL_COUNT][BOUNDARY_CONTRADICTED + 1];
    _Atomic uint64_t undecided[METRICS_UNDECIDED_COUNT];
    _Atomic uint64_t refused[METRICS_REFUSAL_COUNT];
    _Atomic uint64_t gate_findings[GATE_CODE_COUNT]; /* decisions that have one */
    _Atomic uint64_t plan_findings[PLAN_CODE_COUNT];
    _Atomic uint64_t reloads[METRICS_PART_COUNT][2]; /* failed, succeeded */
    _Atomic uint64_t cut[METRICS_CUT_COUNT];
    _Atomic bool failing[METRICS_PART_COUNT]; /* the last reading of this part failed */
    _Atomic int64_t certificate_expires_sec;  /* since 1970; 0: unknown */
    _Atomic uint64_t keyring_keys;
    _Atomic uint64_t signers_missing[EVIDENCE_KIND_COUNT]; /* as struct runtime_trust */
};

/* Values that are read when the text is written. */
struct metrics_state {
    bool ready;
    uint64_t connections;
    uint64_t in_flight;
    uint64_t in_flight_bytes;
    const struct metrics_evidence *evidence; /* NULL: no snapshot yet */
    bool records;                            /* whether the next two are set */
    struct decision_log_counts decision_log;
    uint64_t denials_kept;              /* shown by /denials */
    const struct cluster_status *watch; /* NULL: no cluster is watched */
};

void metrics_count_request(struct metrics *metrics, enum metrics_path path, int status);
/* Counts a review that was decided, or denied because the decision could not be confirmed in time.
 * Any other exchange is not counted. */
void metrics_count_review(struct metrics *metrics, const struct exchange *exchange, uint64_t usec)
    __attribute__((nonnull));
void metrics_count_refusal(struct metrics *metrics, enum metrics_refusal why);
void metrics_count_reload(struct metrics *metrics, enum metrics_part part, bool succeeded);
/* `configuration`, ...; static. */
const char *metrics_part_text(enum metrics_part part);
void metrics_count_cut(struct metrics *metrics, enum metrics_cut why);

int metrics_write(struct metrics *metrics, const struct metrics_state *state, struct arena *arena,
                  struct str *ret_text) __attribute__((warn_unused_result, nonnull));

#endif
