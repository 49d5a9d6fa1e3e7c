/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_SHARED_H
#define WEBHOOK_SERVER_SHARED_H

/*
 * shared - the part of a running server that its requests and connections use.
 *
 * Everything else of the server (ports, daemons, the connection table, the reaper) is in
 * internal.h, so that a request cannot reach it.
 *
 * Threads    any: pointers and times do not change after the start, the rest is atomic or has
 *            locks.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "webhook/server/budget.h"
#include "webhook/server/health.h"
#include "webhook/server/jobs.h"
#include "webhook/server/server.h"

struct server_shared {
    struct server_gate gate;
    struct server_times times;
    struct tls *tls;
    struct metrics *metrics;
    struct recorder *recorder; /* NULL: decisions are not recorded */
    const struct log *log;
    struct budget budget;
    struct jobs jobs;
    _Atomic uint64_t max_body_bytes;
    _Atomic uint32_t deadline_margin_msec;
    _Atomic bool draining;
    struct health_reviews reviews;
};

#endif
