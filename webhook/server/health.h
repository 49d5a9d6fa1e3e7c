/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_HEALTH_H
#define WEBHOOK_SERVER_HEALTH_H

/*
 * health - the answers of /healthz and /readyz, which are the same on both ports (gate-v1,
 * section 8).
 *
 * Threads    any.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "webhook/metrics/metrics.h"

#define HEALTH_TEXT_BYTES 4096
#define HEALTH_REVIEWS_MSEC 30000 /* reviews within this time show that the API server is up */

struct server_shared;

/* When reviews arrived, of clock_age_msec(); 0: never. `first` begins the latest series without a
 * pause of HEALTH_REVIEWS_MSEC. */
struct health_reviews {
    _Atomic uint64_t first_msec, last_msec;
};

void health_note_review(struct health_reviews *reviews, uint64_t now_msec);

/* Whether the API server asks this gate and does not answer it. Then it is not ready, and closes
 * each connection after its answer: a connection that stays open would bring further reviews,
 * although the Service does not name this gate any more. */
bool health_is_cut_off(struct server_shared *shared) __attribute__((nonnull));

/* path is METRICS_PATH_HEALTHZ or METRICS_PATH_READYZ. Returns 200 or 503. The text ends with NUL:
 * `ok` and a line for each thing that needs attention, or the reason of the 503. */
int server_health(struct server_shared *shared, enum metrics_path path,
                  char ret_text[static HEALTH_TEXT_BYTES]) __attribute__((nonnull));

#endif
