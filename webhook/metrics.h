#ifndef WEBHOOK_METRICS_H
#define WEBHOOK_METRICS_H

/*
 * metrics - counters of the running program, as text for Prometheus.
 *
 * Every label has a fixed set of values: nothing that a request says becomes one. Counters are
 * atomic and never wait for each other.
 *
 * Errors     metrics_write(): 0, -ENOMEM.
 * Threads    any number. {0} is a valid start.
 * Units      seconds in what is shown, as Prometheus asks; microseconds inside.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "k8s/cluster.h"
#include "planner/arena.h"
#include "planner/text.h"
#include "webhook/gate.h"

enum metrics_path {
    METRICS_PATH_VALIDATE = 0,
    METRICS_PATH_HEALTHZ,
    METRICS_PATH_READYZ,
    METRICS_PATH_METRICS,
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

#define METRICS_CODE_COUNT 14
#define METRICS_BUCKET_COUNT 10
#define METRICS_OUTCOME_COUNT (OUTCOME_NOT_EVALUATED + 1)

struct metrics {
    _Atomic uint64_t requests[METRICS_PATH_COUNT][METRICS_CODE_COUNT];
    _Atomic uint64_t reviews[METRICS_OUTCOME_COUNT][2]; /* by outcome; denied, allowed */
    _Atomic uint64_t review_buckets[METRICS_BUCKET_COUNT + 1];
    _Atomic uint64_t review_usec;
    _Atomic uint64_t undecided[2];                   /* denied with 503, with 504 */
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
    const struct cluster_status *watch; /* NULL: no cluster is watched */
};

void metrics_count_request(struct metrics *metrics, enum metrics_path path, int status);
void metrics_count_review(struct metrics *metrics, enum gate_outcome outcome, bool allowed,
                          uint64_t usec);
/* Denied because it could not be found out in time: code 503 or 504. */
void metrics_count_undecided(struct metrics *metrics, int code);
void metrics_count_reload(struct metrics *metrics, enum metrics_part part, bool done);
void metrics_count_cut(struct metrics *metrics, enum metrics_cut why);

int metrics_write(struct metrics *metrics, const struct metrics_state *state, struct arena *arena,
                  struct str *ret_text) __attribute__((warn_unused_result, nonnull));

#endif
