/* SPDX-License-Identifier: Apache-2.0 */
/* request_body - the memory of one request: its body as it arrives, and what body and arena may
 * take of the budget. request.c decides when. */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "webhook/server/connection.h"
#include "webhook/server/connection_table.h"
#include "webhook/server/request.h"
#include "webhook/server/shared.h"

#define CHUNKED_FIRST_BYTES ((size_t)16 * 1024)

void request_refuse(struct request *request, int status, const char *why)
{
    if (request->refused != 0)
        return;
    assert(status >= MHD_HTTP_BAD_REQUEST);
    request->refused = status;
    request->why = why;
}

static void return_charge(struct request *request)
{
    struct connection *connection = request->connection;

    assert(request->reserved_bytes <= request->charged_bytes);
    if (request->charged_to_peer)
        budget_finish(&connection->peer->share, request->charged_bytes);
    request->charged_to_peer = false;
    budget_return_bytes(&connection->shared->budget, request->charged_bytes);
    request->charged_bytes = request->reserved_bytes = 0;
}

void request_drop_body(struct request *request)
{
    free(request->body);
    request->body = NULL;
    request->body_bytes = request->body_capacity = 0;
    return_charge(request);
}

/* Makes the body large enough for so many more bytes; for all of it at once where the length is
 * known. 0, -E2BIG, -ENOMEM. */
static int grow_body(struct request *request, size_t bytes)
{
    uint64_t max_bytes = atomic_load(&request->shared->max_body_bytes);
    size_t wanted = request->body_bytes + bytes, capacity = request->body_capacity;
    char *body = NULL;

    if (wanted > max_bytes)
        return -E2BIG;
    if (wanted <= capacity)
        return 0;
    if (request->head.length_bytes >= wanted)
        capacity = request->head.length_bytes;
    else
        capacity = capacity > 0 ? capacity * 2 : CHUNKED_FIRST_BYTES;
    if (capacity < wanted)
        capacity = wanted;
    body = realloc(request->body, capacity);
    if (body == NULL)
        return -ENOMEM;
    request->body = body;
    request->body_capacity = capacity;
    return 0;
}

void request_add_body(struct request *request, const char *upload, size_t bytes)
{
    struct server_shared *shared = request->shared;
    int r = 0;

    if (!budget_take_unfinished(&shared->budget, &request->connection->peer->share, bytes)) {
        metrics_count_refusal(shared->metrics, METRICS_REFUSAL_BYTES);
        request_refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE,
                       "more reviews are in flight than the limits allow: try again");
        request_drop_body(request);
        return;
    }
    request->charged_bytes += bytes;
    request->charged_to_peer = true;
    r = grow_body(request, bytes);
    if (r == 0) {
        assert(bytes <= request->body_capacity - request->body_bytes);
        memcpy(request->body + request->body_bytes, upload, bytes);
        request->body_bytes += bytes;
        return;
    }
    if (r == -E2BIG)
        request_refuse(request, MHD_HTTP_CONTENT_TOO_LARGE,
                       "the review is larger than limits.maxBodyBytes");
    else
        request_refuse(request, MHD_HTTP_INTERNAL_SERVER_ERROR, "the gate is out of memory");
    request_drop_body(request);
}

bool request_may_grow(void *context, size_t bytes)
{
    struct request *request = context;

    if (request->reserved_bytes >= bytes) {
        request->reserved_bytes -= bytes;
        return true;
    }
    if (!budget_take_bytes(&request->shared->budget, bytes)) {
        request->over_budget = true;
        return false;
    }
    request->charged_bytes += bytes;
    return true;
}
