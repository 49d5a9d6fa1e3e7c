/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_REQUEST_H
#define WEBHOOK_SERVER_REQUEST_H

/*
 * request - one request on the webhook port, from its head to its answer (gate-v1, section 8).
 *
 * The first reason to refuse a request is kept when the head is complete. The body is still read,
 * and discarded, because a client often does not see an answer that is sent before it has sent its
 * body. The answer follows after the last byte.
 *
 * Threads    the thread that serves the connection; while the connection is suspended, a job
 *            thread. Never two at once.
 */

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

#include "planner/base/moment.h"
#include "webhook/metrics/metrics.h"
#include "webhook/server/await.h"
#include "webhook/server/head.h"
#include "webhook/server/jobs.h"

struct connection;
struct exchange;
struct server_shared;

struct request {
    struct job job; /* runs while the connection is suspended */
    struct connection *connection;
    struct server_shared *shared;
    enum metrics_path path;
    struct head head;
    bool get;        /* GET or HEAD */
    bool head_only;  /* HEAD: the answer has no body */
    bool close;      /* the answer has Connection: close */
    int refused;     /* HTTP status; 0: not refused */
    const char *why; /* the reason, where refused is set */
    const char *allow;
    uint64_t deadline_msec; /* of the monotonic clock */
    uint64_t complete_usec; /* of the monotonic clock: when the last byte arrived */

    char *body; /* owned */
    size_t body_bytes;
    size_t body_capacity;
    uint64_t discarded_bytes; /* of the body of a refused request */
    uint64_t charged_bytes;   /* to the budget, for body, arena and answer */
    bool charged_to_peer;
    uint64_t reserved_bytes; /* of these, left from an earlier decision for the next one */
    bool over_budget;
    struct await await;

    bool begun;
    bool worked; /* the answer was made while the connection was suspended */
    int status;
    struct answer_text {
        char *ptr;  /* owned until the answer is queued */
        size_t len; /* stays until the request ends */
        const char *type;
        bool confidential;  /* with headers that forbid caches to store it and browsers to guess its
                               type */
        const char *policy; /* Content-Security-Policy; NULL: none */
    } answer;
};

/* Callbacks of libmicrohttpd: the request handler, the first sight of a request line, and the end
 * of a request. *state is the connection; context is not used. */
enum MHD_Result request_on_access(void *context, struct MHD_Connection *mhd, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_bytes, void **state);
void *request_on_line(void *context, const char *uri, struct MHD_Connection *mhd);
void request_on_completed(void *context, struct MHD_Connection *mhd, void **state,
                          enum MHD_RequestTerminationCode code);

/* request_body.c: adds bytes to the body and charges them to the budget. Where they do not fit, the
 * request is refused and its body freed. */
void request_add_body(struct request *request, const char *upload, size_t bytes);
/* Frees the body and returns to the budget what was charged for the request, except for its answer:
 * that is held until the client has read it. */
void request_drop_body(struct request *request);
/* Frees all that the request has, and returns all of its charge. */
void request_drop(struct request *request);
/* arena.may_grow of a decision; context is the request. False, and over_budget, where the budget is
 * used up. */
bool request_may_grow(void *context, size_t bytes);
/* Keeps the first reason only. `why` is a static text. */
void request_refuse(struct request *request, int status, const char *why);

/* request_note.c: counts the decision in the metrics, and records and logs it where that is
 * enabled. The arena is used for a line of the record. */
void request_note(const struct request *request, const struct exchange *exchange, struct moment now,
                  uint64_t usec, struct arena *arena);

/* reply.c: the body of an answer that is not a review: `why` itself with 200, else kind Status.
 * Both ports use it.
 * ->ptr is NULL only where memory is exhausted. */
struct answer_text request_status_text(int status, const char *why);
/* reply.c: queues an answer. Takes over its text. */
enum MHD_Result request_send(struct MHD_Connection *mhd, int status, struct answer_text *answer,
                             const char *allow, bool close);

#endif
