/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_API_API_H
#define K8S_API_API_H

/*
 * api - HTTP calls to an API server, over libcurl. It knows credentials, TLS, Status and
 * Retry-After; it knows nothing of lists, watches and kinds.
 *
 * One `struct api` holds the credentials: any number of threads may use it. An `api_loop` makes any
 * number of calls at once and belongs to one thread. A call on its own blocks: api_do().
 *
 * Errors     0: there is an answer, whatever its status (reply.status). Else nothing came, or not
 *            all of it:
 *              -ECONNREFUSED, -EHOSTUNREACH, -ECONNRESET   no connection, or it broke
 *              -EPROTO     TLS failed, or no HTTP
 *              -ETIMEDOUT  the deadline passed, or no byte came for idle_sec
 *              -ECANCELED  on_bytes said so
 *              -EACCES     no credentials can be read
 *              -EMSGSIZE   a body over API_MAX_BODY_BYTES where nobody takes it piece by piece
 *              -ENOMEM
 *            reply.reason says in one sentence what and where (method, server, path without its
 *            query), for an HTTP status of 400 and more with the server's own message. Redirects
 *            are not followed: they are answers too, with a reason. Never a credential.
 * Ownership  a reply's texts lie in the arena given with the call. Loops are freed before their
 *            api; calls under way in other threads have ended by then.
 * Units      milliseconds of the monotonic clock for deadlines.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "k8s/access/access.h"
#include "planner/base/arena.h"
#include "planner/base/text.h"

#define API_MAX_BODY_BYTES ((size_t)192 * 1024 * 1024)
#define API_CONNECT_MSEC 5000 /* with the look-up of the name and TLS; -EHOSTUNREACH then */
#define API_TOKEN_AGE_SEC 50  /* a token file is read again after so long, and on a 401 */

enum api_method { API_GET = 1, API_POST, API_PUT, API_PATCH, API_DELETE };

struct api_request {
    enum api_method method;
    struct str path;         /* "/api/v1/configmaps?limit=100": percent-encoded (k8s/util/percent.h) */
    struct str content_type; /* of body; absent without one */
    struct str body;
    uint64_t deadline_msec; /* 0: none */
    uint32_t idle_sec;      /* ends where no byte comes for so long; 0: never */
    /* Takes a body of status 200 piece by piece, as it comes; not 0 ends the call. NULL: the body
     * is collected. Bodies of other statuses are always collected, at most 64 KiB of them. */
    int (*on_bytes)(void *context, const char *bytes, size_t count);
    void *context;
};

struct api_reply {
    int status; /* HTTP; 0 where none came */
    struct str body;
    bool has_retry_after;
    uint32_t retry_after_sec;
    struct str reason; /* for people; absent where status is below 300 */
};

struct api;

/* Copies what it needs of access. */
int api_new(const struct access *access, struct arena *arena, struct api **ret_api,
            struct str *reterr_reason) __attribute__((warn_unused_result, nonnull));
void api_free(struct api *api);
/* "https://10.0.0.1:6443", for messages. */
struct str api_server(const struct api *api);

int api_do(struct api *api, const struct api_request *request, struct arena *arena,
           struct api_reply *ret_reply) __attribute__((warn_unused_result, nonnull));

/* ---- many calls in one thread ---- */

struct api_loop;
struct api_call; /* one that is under way; freed by the loop after on_done */

int api_loop_new(struct api *api, struct api_loop **ret_loop)
    __attribute__((warn_unused_result, nonnull));
/* Ends every call without a word. */
void api_loop_free(struct api_loop *loop);

/* Begins a call; path, content type and body are copied. on_done comes from api_loop_turn(), once,
 * with the result as above; new calls may be begun in it. The reply lives until it returns.
 * `context` of the request is given to both callbacks. */
int api_loop_start(struct api_loop *loop, const struct api_request *request,
                   void (*on_done)(void *context, int result, const struct api_reply *reply),
                   struct api_call **ret_call)
    __attribute__((warn_unused_result, nonnull(1, 2, 3)));
/* Ends a call without on_done; not from within its own callbacks. */
void api_loop_drop(struct api_loop *loop, struct api_call *call);
/* Does what can be done, then waits for traffic, a wake or so many milliseconds. */
int api_loop_turn(struct api_loop *loop, uint32_t timeout_msec)
    __attribute__((warn_unused_result, nonnull));
/* From any thread, or a signal handler's thread: the current or next turn ends at once. */
void api_loop_wake(struct api_loop *loop);

#endif
