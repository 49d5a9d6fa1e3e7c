/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_REQUEST_H
#define WEBHOOK_SERVER_REQUEST_H

/*
 * request - one request on the webhook's port, from its head to its answer (gate-v1, section 8).
 *
 * The first refusal that fits is kept when the head is there; the body is read all the same, and
 * thrown away, since an answer before its end is often lost. Only then it is answered.
 *
 * Threads    the thread that serves the connection; while that is suspended, a thread of the jobs.
 */

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

#include "planner/base/moment.h"
#include "webhook/server/await.h"
#include "webhook/server/head.h"
#include "webhook/server/jobs.h"
#include "webhook/metrics/metrics.h"

struct connection;
struct exchange;
struct server_shared;

struct request {
    struct job job; /* of one whose connection is suspended */
    struct connection *connection;
    struct server_shared *shared;
    enum metrics_path path;
    struct head head;
    bool get;        /* GET or HEAD */
    bool head_only;  /* HEAD: the answer has no body */
    bool close;      /* the answer says Connection: close */
    int refused;     /* HTTP status; 0: not refused */
    const char *why; /* for refused */
    const char *allow;
    uint64_t deadline_msec; /* of the monotonic clock */
    uint64_t complete_usec; /* when its last byte came; likewise */

    char *body; /* owned */
    size_t body_bytes;
    size_t body_room;
    uint64_t thrown_bytes;
    uint64_t charged_bytes; /* to the budget, for body and arena */
    bool charged_to_peer;
    uint64_t spare_bytes; /* of these, what the arena of a first decision had */
    bool over_budget;
    struct await await;

    bool begun;
    bool worked;
    int status;
    struct answer_text {
        char *ptr; /* owned until it is queued */
        size_t len;
        const char *type;
        bool confidential;  /* not to be stored, nor taken for another type */
        const char *policy; /* Content-Security-Policy; NULL: none */
    } answer;
};

/* For libmicrohttpd: the handler, the first sight of a request line, and the end of a request. */
enum MHD_Result request_on_access(void *context, struct MHD_Connection *mhd, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_bytes, void **state);
void *request_on_line(void *context, const char *uri, struct MHD_Connection *mhd);
void request_on_completed(void *context, struct MHD_Connection *mhd, void **state,
                          enum MHD_RequestTerminationCode code);

/* request_note.c: counts what was decided, records it where that is asked for, logs it. The answer
 * is made already; the arena serves for a line of the record. */
void request_note(const struct request *request, const struct exchange *exchange, struct moment now,
                  uint64_t usec, struct arena *arena);

/* A Status body, for other ports too. Never NULL in ->ptr but out of memory. */
struct answer_text request_status_text(int status, const char *why);
/* Queues an answer and gives up its text. */
enum MHD_Result request_queue(struct MHD_Connection *mhd, int status, struct answer_text *answer,
                              const char *allow, bool close);

#endif
