/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_SERVER_H
#define WEBHOOK_SERVER_SERVER_H

/*
 * server - the HTTPS port of the webhook and the plain admin port (gate-v1, section 8). It knows
 * HTTP and TLS; decisions are made by the functions of struct server_gate.
 *
 * Errors     server_start(): 0; -EINVAL with reterr_reason (what, and what to do), in the arena;
 *            -ENOMEM.
 * Ownership  the options are copied; what they point to must outlive the server.
 * Threads    the server starts its own; the functions here are called by one thread at a time.
 * Units      in the names.
 */

#include <stdbool.h>
#include <stdint.h>

#include "k8s/cluster/cluster.h"
#include "planner/base/arena.h"
#include "planner/base/moment.h"
#include "planner/base/text.h"
#include "webhook/answer/exchange.h"
#include "webhook/config/config.h"
#include "webhook/metrics/metrics.h"
#include "webhook/record/recorder.h"
#include "webhook/tls/credentials.h"
#include "webhook/util/log.h"

struct buffer;
struct runtime; /* webhook/runtime/runtime.h; tests define their own */

/* What the server asks for decisions; called by any of its threads. Each member has the type of the
 * function that a running gate puts there, so that no function in between only forwards. */
struct server_gate {
    struct runtime *runtime;
    /* runtime_snapshot(): the current snapshot, a reference for the caller; NULL while there is
     * none. */
    struct snapshot *(*snapshot)(struct runtime *runtime);
    /* clock_now() */
    struct moment (*now)(void);
    /* exchange_review() */
    void (*review)(struct str body, enum document_syntax syntax, enum answer_format format,
                   const struct snapshot *snapshot, struct moment now, struct arena *arena,
                   struct exchange *ret_exchange);

    /* runtime_ask(), runtime_is_stale(), runtime_cluster_status(), runtime_stop_cluster(): of a
     * cluster. All NULL where the evidence is in a folder. */
    int (*ask)(struct runtime *runtime, enum cluster_question question, struct str namespace_name,
               struct cluster_waiter *waiter);
    bool (*is_stale)(struct runtime *runtime);
    void (*look)(struct runtime *runtime, struct cluster_status *ret_status);
    void (*dismiss)(struct runtime *runtime);

    /* What /readyz says while there is no snapshot; NULL: a sentence that fits a folder. */
    const char *why_no_snapshot;
    /* Why the gate is not ready though there is a snapshot: a static text, `not ready: ...`, or
     * NULL where it is ready. NULL: it is always ready then. */
    const char *(*why_not_ready)(void *why_context);
    void *why_context;
    /* Adds a line, after a line feed, for each thing that needs attention though the gate serves.
     * NULL: nothing ever does. */
    void (*attend)(void *attend_context, struct buffer *b);
    void *attend_context;
};

/* Times and sizes that the contract fixes; tests shorten them. */
struct server_times {
    uint32_t idle_sec;            /* between two requests of a connection */
    uint32_t slow_msec;           /* for a handshake, for a request, for sending an answer */
    uint32_t last_msec;           /* of the grace period: to answer requests that still wait */
    uint64_t max_discarded_bytes; /* read of the body of a refused request */
    uint64_t defer_bytes;         /* bodies of this size or larger are decided by the job threads */
};

struct server_limits {
    uint64_t max_body_bytes;
    uint64_t max_in_flight;
    uint64_t max_in_flight_bytes;
    uint64_t max_connections;
    uint32_t deadline_margin_msec;
};

struct server_options {
    struct config_address webhook;
    struct config_address admin;
    uint32_t threads; /* 0: one for each core */
    struct server_limits limits;
    struct server_times times;
    struct server_gate gate;
    struct tls *tls;
    struct metrics *metrics;
    struct recorder *recorder; /* NULL: decisions are counted but not recorded */
    /* Writes the page of /denials, HTML in the arena. NULL: there is no such page. Called by the
     * thread of the admin port. 0, -ENOMEM. */
    int (*denials_page)(const struct denials_view *view, struct moment now, struct arena *arena,
                        struct str *ret_html);
    const struct log *log;
};

struct server;

struct server_times server_default_times(void);

int server_start(const struct server_options *options, struct arena *arena,
                 struct server **ret_server, struct str *reterr_reason)
    __attribute__((warn_unused_result, nonnull));

/* The ports in use: those of the options, or the free ones that the system chose for port 0. */
uint16_t server_webhook_port(const struct server *server);
uint16_t server_admin_port(const struct server *server);

void server_set_limits(struct server *server, const struct server_limits *limits);

/* From now on /readyz answers 503, and every answer has Connection: close. Requests are still
 * decided. */
void server_drain(struct server *server);

/* Closes the port, waits at most grace_msec for requests in progress, and frees everything. NULL is
 * allowed. */
void server_stop(struct server *server, uint32_t grace_msec);

#endif
