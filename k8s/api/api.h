/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_API_API_H
#define K8S_API_API_H

/*
 * api - HTTP calls to an API server, by libcurl: credentials, TLS, Status and Retry-After. It does
 * not know lists, watches and kinds.
 *
 * A `struct api` has the address and the credentials; any number of threads can use it. An
 * `api_loop` makes many calls at once and belongs to one thread. api_do() makes one call and
 * blocks.
 *
 * Errors     0: there is a complete response with any status (reply.status). Otherwise there is no
 *            response, or an incomplete one:
 *              -ECONNREFUSED, -EHOSTUNREACH, -ECONNRESET   no connection, or it was lost
 *              -EPROTO     TLS failed, or the response is not HTTP
 *              -ETIMEDOUT  the deadline passed, or no byte arrived for idle_sec
 *              -ECANCELED  on_bytes ended the call
 *              -EACCES     the credentials cannot be read
 *              -EMSGSIZE   the body exceeds API_MAX_BODY_BYTES, without on_bytes
 *              -ENOMEM
 *            reply.reason is one sentence with method, server, path without query, and the cause;
 *            for a status of 400 and more the message of the server. It never has a credential. A
 *            redirect is not followed: it is a response with a reason.
 * Ownership  the texts of a reply are stored in the arena that is given with the call. Before
 *            api_free() all its loops must be freed, and calls in other threads must have ended.
 * Units      deadlines are milliseconds of the monotonic clock (clock_msec()); idle_sec is an age,
 *            so a connection that was silent while the machine was suspended ends afterwards.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "k8s/access/access.h"
#include "planner/base/arena.h"
#include "planner/base/text.h"

#define API_MAX_BODY_BYTES ((size_t)192 * 1024 * 1024)
#define API_CONNECT_MSEC 5000 /* includes DNS and TLS; then -EHOSTUNREACH */
#define API_TOKEN_AGE_SEC 50  /* a token file is read again after this time, and on a 401 */

enum api_method { API_GET = 1, API_POST, API_PUT, API_PATCH, API_DELETE };

struct api_request {
    enum api_method method;
    struct str path; /* "/api/v1/configmaps?limit=100": percent-encoded (k8s/util/percent.h) */
    struct str content_type; /* of body; absent without a body */
    struct str body;
    uint64_t deadline_msec; /* 0: none */
    uint32_t idle_sec;      /* longest time without a byte; 0: unlimited */
    /* Receives the body of a response with status 200 in pieces; a result other than 0 ends the
     * call. NULL: the body is collected. With any other status the body is always collected, up to
     * 64 KiB. */
    int (*on_bytes)(void *context, const char *bytes, size_t count);
    void *context;
};

struct api_reply {
    int status; /* HTTP status; 0: none */
    struct str body;
    bool has_retry_after;
    uint32_t retry_after_sec;
    struct str reason; /* for people; absent if the call succeeded with a status below 300 */
};

struct api;

/* Copies access. -EINVAL with a reason; -ENOMEM; -errno if a memory file cannot be created. */
int api_new(const struct access *access, struct arena *arena, struct api **ret_api,
            struct str *reterr_reason) __attribute__((warn_unused_result, nonnull));
void api_free(struct api *api);
/* "https://10.0.0.1:6443", for messages. */
struct str api_server(const struct api *api);

int api_do(struct api *api, const struct api_request *request, struct arena *arena,
           struct api_reply *ret_reply) __attribute__((warn_unused_result, nonnull));

/* ---- many calls at once, in one thread ---- */

struct api_loop;
struct api_call; /* a call in progress; the loop frees it after on_done */

int api_loop_new(struct api *api, struct api_loop **ret_loop)
    __attribute__((warn_unused_result, nonnull));
/* Ends all calls without on_done. NULL is allowed. */
void api_loop_free(struct api_loop *loop);

/* Begins a call; copies path, content type and body. api_loop_turn() calls on_done once, with a
 * result as above; on_done can begin new calls. The reply is valid until on_done returns. Both
 * callbacks get `context` of the request. */
int api_loop_start(struct api_loop *loop, const struct api_request *request,
                   void (*on_done)(void *context, int result, const struct api_reply *reply),
                   struct api_call **ret_call)
    __attribute__((warn_unused_result, nonnull(1, 2, 3)));
/* Ends a call without on_done. Must not be called by the callbacks of this call. */
void api_loop_drop(struct api_loop *loop, struct api_call *call);
/* Handles what is ready. If no call ended, waits for traffic, api_loop_wake() or the timeout, and
 * handles that. -ENOMEM, -EIO: libcurl failed; the loop can be used again. */
int api_loop_turn(struct api_loop *loop, uint32_t timeout_msec)
    __attribute__((warn_unused_result, nonnull));
/* From any thread: ends the wait of the current turn, or of the next one. */
void api_loop_wake(struct api_loop *loop);

#endif
