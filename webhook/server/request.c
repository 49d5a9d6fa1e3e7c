/* SPDX-License-Identifier: Apache-2.0 */
/* request - the steps of a request: its head is checked, its body read, and its answer made at
 * once, by a job thread, or after a wait (await.h). request_body.c has its memory, reply.c its
 * answer, request_note.c its metrics, record and log. */

#include "webhook/server/request.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "k8s/util/clock.h"
#include "webhook/server/connection.h"
#include "webhook/server/connection_table.h"
#include "webhook/server/health.h"
#include "webhook/server/raw_head.h"
#include "webhook/server/shared.h"

/* A head that is being read. */
struct reading {
    struct head *head;
    struct raw_head raw;
};

static enum MHD_Result add_field(void *state, enum MHD_ValueKind kind, const char *name_text,
                                 size_t name_bytes, const char *value_text, size_t value_bytes)
{
    struct reading *reading = state;
    struct str name = {.ptr = name_text, .len = name_bytes};
    struct str value = {.ptr = value_text != NULL ? value_text : "", .len = value_bytes};

    (void)kind;
    head_add(reading->head, name, value);
    raw_head_add(&reading->raw, name, value);
    return MHD_YES;
}

static size_t head_bytes_of(struct MHD_Connection *mhd)
{
    return MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size;
}

static void read_head(struct request *request, const char *method, const char *version)
{
    struct connection *connection = request->connection;
    struct reading reading = {.head = &request->head,
                              .raw = raw_head_begin(method, connection->uri, version)};

    request->head.old = strcmp(version, MHD_HTTP_VERSION_1_1) != 0;
    (void)MHD_get_connection_values_n(connection->mhd, MHD_HEADER_KIND, add_field, &reading);
    request->head.malformed |= raw_head_is_known(MHD_get_version()) &&
                               !raw_head_is_whole(&reading.raw, head_bytes_of(connection->mhd));
}

static enum metrics_path read_path(const char *url)
{
    if (strcmp(url, "/validate") == 0)
        return METRICS_PATH_VALIDATE;
    if (strcmp(url, "/healthz") == 0)
        return METRICS_PATH_HEALTHZ;
    if (strcmp(url, "/readyz") == 0)
        return METRICS_PATH_READYZ;
    return METRICS_PATH_OTHER;
}

/* 411, 415, 413: what the head says about the body of a review. */
static void check_body_head(struct request *request, const struct server_shared *shared)
{
    const struct head *head = &request->head;

    if (head->lengths == 0 && head->transfers == 0)
        request_refuse(request, MHD_HTTP_LENGTH_REQUIRED,
                       "a review needs Content-Length or a chunked body");
    if (head_syntax(head) == 0)
        request_refuse(request, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
                       "Content-Type must be given once, as application/json or application/yaml");
    if (head->encoded)
        request_refuse(request, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
                       "Content-Encoding must be identity: send the review uncompressed");
    if (head->length_bytes > atomic_load(&shared->max_body_bytes))
        request_refuse(request, MHD_HTTP_CONTENT_TOO_LARGE,
                       "the review is larger than limits.maxBodyBytes");
}

/* The first reason counts; the contract fixes the order. */
static void check_head(struct request *request, struct server_shared *shared, const char *method)
{
    if (head_bytes_of(request->connection->mhd) > HEAD_MAX_BYTES)
        request_refuse(request, MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE,
                       "the header fields of the request are larger than 16 KiB");
    if (head_is_framed_twice(&request->head))
        request_refuse(request, MHD_HTTP_BAD_REQUEST,
                       "the length of the body is given twice, in two ways, or ambiguously");
    if (request->path == METRICS_PATH_OTHER)
        request_refuse(request, MHD_HTTP_NOT_FOUND,
                       "no such path: reviews go to /validate, probes to /healthz and /readyz");
    if (request->path != METRICS_PATH_VALIDATE) {
        if (!request->get)
            request->allow = "GET, HEAD";
    } else if (strcmp(method, MHD_HTTP_METHOD_POST) != 0) {
        request->allow = "POST";
    }
    if (request->allow != NULL)
        request_refuse(request, MHD_HTTP_METHOD_NOT_ALLOWED,
                       "this method is not allowed: see the header Allow");
    if (request->path != METRICS_PATH_VALIDATE || request->refused != 0)
        return;
    if (!connection_client_allowed(request->connection, shared->tls))
        request_refuse(request, MHD_HTTP_UNAUTHORIZED,
                       "a client certificate is required: signed by tls.clientCA, with a name of "
                       "tls.clientNames");
    check_body_head(request, shared);
}

static uint64_t find_deadline_msec(const struct request *request,
                                   const struct server_shared *shared)
{
    const char *given = NULL;
    size_t bytes = 0;
    uint64_t margin_msec = atomic_load(&shared->deadline_margin_msec);
    uint64_t timeout_msec = HEAD_DEFAULT_TIMEOUT_MSEC;

    if (MHD_lookup_connection_value_n(request->connection->mhd, MHD_GET_ARGUMENT_KIND, "timeout",
                                      sizeof("timeout") - 1, &given, &bytes) == MHD_YES &&
        given != NULL)
        timeout_msec = head_timeout_msec((struct str){.ptr = given, .len = bytes});
    return clock_msec() + (timeout_msec > margin_msec ? timeout_msec - margin_msec : 0);
}

/* The body cannot be read to its end: the answer is sent at once, and the connection is closed. */
static bool is_unreadable(const struct request *request, const struct server_shared *shared)
{
    if (request->refused == 0)
        return false;
    return (request->head.transfers > 0 && !request->head.chunked) ||
           request->head.length_bytes > shared->times.max_discarded_bytes;
}

static void answer_refused(struct request *request)
{
    assert(request->refused != 0);
    request->status = request->refused;
    request->answer = request_status_text(request->refused, request->why);
    if (request->refused == MHD_HTTP_BAD_REQUEST ||
        request->refused == MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE ||
        request->refused == MHD_HTTP_UNAUTHORIZED)
        request->close = true;
}

static enum MHD_Result send_answer(struct request *request)
{
    struct server_shared *shared = request->shared;

    if (!connection_step(request->connection, CONNECTION_WORK, CONNECTION_ANSWER))
        return MHD_NO;
    if (request->answer.ptr == NULL)
        return MHD_NO;
    metrics_count_request(shared->metrics, request->path, request->status);
    if (!request->head_only && request->answer.len > 0)
        connection_hold_head(request->connection);
    request->close |= atomic_load(&shared->draining) ||
                      (request->path == METRICS_PATH_VALIDATE && health_is_cut_off(shared));
    return request_send(request->connection->mhd, request->status, &request->answer,
                        request->refused != 0 ? request->allow : NULL, request->close);
}

static enum MHD_Result begin(struct connection *connection, const char *url, const char *method,
                             const char *version)
{
    struct request *request = &connection->request;
    struct server_shared *shared = connection->shared;

    *request =
        (struct request){.connection = connection, .shared = connection->shared, .begun = true};
    request->path = read_path(url);
    request->head_only = strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
    request->get = request->head_only || strcmp(method, MHD_HTTP_METHOD_GET) == 0;
    read_head(request, method, version);
    /* what follows the last chunk can hide bytes as a head can, and they would be the next request
     */
    request->close = request->head.old || request->head.transfers > 0;
    /* the second of two pipelined requests can have arrived with the first */
    (void)connection_step(connection, CONNECTION_IDLE, CONNECTION_REQUEST);
    check_head(request, shared, method);
    if (request->path == METRICS_PATH_VALIDATE)
        request->deadline_msec = find_deadline_msec(request, shared);
    if (!is_unreadable(request, shared))
        return MHD_YES;
    if (!connection_step(connection, CONNECTION_REQUEST, CONNECTION_WORK))
        return MHD_NO;
    answer_refused(request);
    request->close = true;
    return send_answer(request);
}

static enum MHD_Result on_upload(struct request *request, const char *upload, size_t *upload_bytes)
{
    const struct server_shared *shared = request->shared;
    size_t bytes = *upload_bytes;

    *upload_bytes = 0;
    if (request->refused == 0 && request->path == METRICS_PATH_VALIDATE) {
        request_add_body(request, upload, bytes);
        if (request->refused == 0)
            return MHD_YES;
    }
    request->discarded_bytes += bytes;
    return request->discarded_bytes <= shared->times.max_discarded_bytes ? MHD_YES : MHD_NO;
}

static void take_answer(struct request *request, const struct exchange *exchange)
{
    request->status = exchange->status;
    if (request->over_budget) {
        metrics_count_refusal(request->shared->metrics, METRICS_REFUSAL_BYTES);
        request->status = MHD_HTTP_SERVICE_UNAVAILABLE;
        request->answer = request_status_text(
            request->status, "more reviews are in flight than the limits allow: try again");
        return;
    }
    if (str_present(exchange->body))
        request->answer.ptr = malloc(exchange->body.len);
    if (request->answer.ptr == NULL) {
        request->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
        request->answer = request_status_text(request->status, "the gate is out of memory");
        return;
    }
    memcpy(request->answer.ptr, exchange->body.ptr, exchange->body.len);
    request->answer.len = exchange->body.len;
    request->answer.type =
        exchange->format == ANSWER_YAML ? "application/yaml" : "application/json";
}

/* False where the decision has to wait. What the arena took stays charged, so that the next
 * decision cannot be refused for it. See await.h for why it starts from the body again. */
static bool decide(struct request *request, const struct snapshot *snapshot)
{
    struct server_shared *shared = request->shared;
    const struct server_gate *gate = &shared->gate;
    struct arena cleanup_arena arena = {.may_grow = request_may_grow, .may_grow_context = request};
    struct exchange exchange = {0};
    struct str body = {.ptr = request->body != NULL ? request->body : "",
                       .len = request->body_bytes};
    struct moment now = gate->now();
    uint64_t charged_bytes = request->charged_bytes - request->reserved_bytes;

    gate->review(body, head_syntax(&request->head), head_format(&request->head), snapshot, now,
                 &arena, &exchange);
    if (!request->over_budget && await_is_needed(&request->await, shared, &exchange, &arena)) {
        request->reserved_bytes = request->charged_bytes - charged_bytes;
        return false;
    }
    take_answer(request, &exchange);
    request_note(request, &exchange, now, clock_usec() - request->complete_usec, &arena);
    return true;
}

/* False where the answer has to wait. Arena and body are freed before the answer is sent, so a
 * client that reads slowly holds neither. */
static bool review(struct request *request)
{
    struct server_shared *shared = request->shared;
    struct snapshot *snapshot = shared->gate.snapshot(shared->gate.runtime);
    bool final = true;

    if (snapshot == NULL) {
        metrics_count_refusal(shared->metrics, METRICS_REFUSAL_NOT_READY);
        request_refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE,
                       "the gate is not ready yet: try again");
    }
    if (request->refused != 0)
        answer_refused(request);
    else
        final = decide(request, snapshot);
    snapshot_unref(snapshot);
    if (final) {
        request_drop_body(request);
        budget_return_slot(&shared->budget);
    }
    return final;
}

static void work(struct request *request)
{
    /* the request must not be used after the connection is resumed: it can be freed by then */
    struct MHD_Connection *mhd = request->connection->mhd;

    assert(!request->worked);
    while (!review(request)) {
        if (await_ask(&request->await, request->shared, &request->job, request->deadline_msec))
            return;
    }
    request->worked = true;
    MHD_resume_connection(mhd);
}

static void run_job(struct job *job)
{
    work((struct request *)(void *)((char *)job - offsetof(struct request, job)));
}

/* The last byte has arrived. */
static enum MHD_Result on_complete(struct request *request)
{
    struct server_shared *shared = request->shared;
    struct MHD_Connection *mhd = request->connection->mhd;
    char health[HEALTH_TEXT_BYTES];

    request->complete_usec = clock_usec();
    request->job.work = run_job;
    if (!connection_step(request->connection, CONNECTION_REQUEST, CONNECTION_WORK))
        return MHD_NO;
    if (request->charged_to_peer)
        budget_finish(&request->connection->peer->share, request->charged_bytes);
    request->charged_to_peer = false;
    if (request->refused == 0 && request->path != METRICS_PATH_VALIDATE) {
        request->status = server_health(shared, request->path, health);
        request->answer = request_status_text(request->status, health);
        return send_answer(request);
    }
    if (request->refused == 0 && !budget_take_slot(&shared->budget)) {
        metrics_count_refusal(shared->metrics, METRICS_REFUSAL_SLOTS);
        request_refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE,
                       "more reviews are in flight than the limits allow: try again");
    }
    if (request->refused != 0) {
        request_drop_body(request);
        answer_refused(request);
        return send_answer(request);
    }
    if (request->body_bytes >= shared->times.defer_bytes) {
        MHD_suspend_connection(mhd);
        jobs_put(&shared->jobs, &request->job);
        return MHD_YES;
    }
    if (review(request))
        return send_answer(request);
    MHD_suspend_connection(mhd);
    if (!await_ask(&request->await, request->shared, &request->job, request->deadline_msec))
        work(request);
    return MHD_YES;
}

static struct connection *connection_of(struct MHD_Connection *mhd)
{
    return MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

enum MHD_Result request_on_access(void *context, struct MHD_Connection *mhd, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_bytes, void **state)
{
    struct connection *connection = *state;

    (void)context;
    if (connection == NULL) {
        connection = connection_of(mhd);
        *state = connection;
        return connection != NULL ? begin(connection, url, method, version) : MHD_NO;
    }
    if (*upload_bytes > 0)
        return on_upload(&connection->request, upload, upload_bytes);
    if (connection->request.worked)
        return send_answer(&connection->request);
    return on_complete(&connection->request);
}

void *request_on_line(void *context, const char *uri, struct MHD_Connection *mhd)
{
    struct connection *connection = connection_of(mhd);

    (void)context;
    if (connection != NULL) {
        connection->uri = raw_head_uri(uri);
        (void)connection_step(connection, CONNECTION_IDLE, CONNECTION_REQUEST);
    }
    return NULL;
}

void request_on_completed(void *context, struct MHD_Connection *mhd, void **state,
                          enum MHD_RequestTerminationCode code)
{
    struct connection *connection = *state;

    (void)context;
    (void)mhd;
    (void)code;
    if (connection == NULL || !connection->request.begun)
        return;
    request_drop(&connection->request);
    connection->request = (struct request){0};
    (void)connection_step(connection, CONNECTION_ANSWER, CONNECTION_IDLE);
}
