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

/* A body grows as it arrives, whatever length its head gives, and what it takes is charged. It
 * doubles at first. A larger one is a mapping of its own, which grows without a copy, so it has
 * little more than what has arrived. */
#define BODY_FIRST_BYTES ((size_t)16 * 1024)
#define BODY_DOUBLED_BYTES ((size_t)128 * 1024)
#define BODY_LATER_PART 8

void request_refuse(struct request *request, int status, const char *why)
{
    if (request->refused != 0)
        return;
    assert(status >= MHD_HTTP_BAD_REQUEST);
    request->refused = status;
    request->why = why;
}

static void return_charge(struct request *request, uint64_t kept_bytes)
{
    struct connection *connection = request->connection;

    assert(request->reserved_bytes <= request->charged_bytes);
    if (kept_bytes > request->charged_bytes)
        kept_bytes = request->charged_bytes;
    if (request->charged_to_peer)
        budget_finish(&connection->peer->share, request->charged_bytes);
    request->charged_to_peer = false;
    budget_return_bytes(&connection->shared->budget, request->charged_bytes - kept_bytes);
    request->charged_bytes = kept_bytes;
    request->reserved_bytes = 0;
}

void request_drop_body(struct request *request)
{
    free(request->body);
    request->body = NULL;
    request->body_bytes = request->body_capacity = 0;
    return_charge(request, request->answer.len);
}

void request_drop(struct request *request)
{
    free(request->answer.ptr);
    request->answer.ptr = NULL;
    request->answer.len = 0;
    request_drop_body(request);
}

static size_t next_capacity(const struct request *request, size_t wanted, size_t max_bytes)
{
    size_t capacity = request->body_capacity;
    size_t length = request->head.length_bytes >= wanted ? request->head.length_bytes : max_bytes;

    if (capacity < BODY_FIRST_BYTES)
        capacity = BODY_FIRST_BYTES;
    else
        capacity += capacity < BODY_DOUBLED_BYTES ? capacity : capacity / BODY_LATER_PART;
    if (capacity < wanted)
        capacity = wanted;
    return capacity < length ? capacity : length;
}

/* Makes the body large enough for so many more bytes. 0, -E2BIG, -EBUSY: the budget is used up,
 * -ENOMEM. */
static int grow_body(struct request *request, size_t bytes)
{
    uint64_t max_bytes = atomic_load(&request->shared->max_body_bytes);
    size_t wanted = request->body_bytes + bytes, capacity = 0, more = 0;
    char *body = NULL;

    if (wanted > max_bytes)
        return -E2BIG;
    if (wanted <= request->body_capacity)
        return 0;
    capacity = next_capacity(request, wanted, max_bytes);
    more = capacity - request->body_capacity;
    if (!budget_take_unfinished(&request->shared->budget, &request->connection->peer->share, more))
        return -EBUSY;
    request->charged_bytes += more;
    request->charged_to_peer = true;
    body = realloc(request->body, capacity);
    if (body == NULL)
        return -ENOMEM;
    request->body = body;
    request->body_capacity = capacity;
    return 0;
}

static void refuse_growth(struct request *request, int r)
{
    switch (r) {
    case -E2BIG:
        request_refuse(request, MHD_HTTP_CONTENT_TOO_LARGE,
                       "the review is larger than limits.maxBodyBytes");
        break;
    case -EBUSY:
        metrics_count_refusal(request->shared->metrics, METRICS_REFUSAL_BYTES);
        request_refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE,
                       "more reviews are in flight than the limits allow: try again");
        break;
    default:
        request_refuse(request, MHD_HTTP_INTERNAL_SERVER_ERROR, "the gate is out of memory");
    }
    request_drop_body(request);
}

void request_add_body(struct request *request, const char *upload, size_t bytes)
{
    int r = grow_body(request, bytes);

    if (r < 0) {
        refuse_growth(request, r);
        return;
    }
    assert(bytes <= request->body_capacity - request->body_bytes);
    memcpy(request->body + request->body_bytes, upload, bytes);
    request->body_bytes += bytes;
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
