/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange - reads the review, lets the gate decide and writes the response.
 *
 * Apart from the server, so that commands and fuzzers can handle a request without a connection.
 */

#include "webhook/answer/exchange.h"

#include <assert.h>
#include <errno.h>

#include "k8s/util/http_status.h"

/* Answers with an HTTP error and a body of kind Status, which is always JSON. */
static void refuse(int status, struct str message, struct arena *arena, struct exchange *exchange)
{
    *exchange = (struct exchange){.status = status};
    if (!str_present(message) || answer_write_status(status, message, arena, &exchange->body) < 0) {
        exchange->status = HTTP_INTERNAL_ERROR;
        exchange->body = (struct str){0};
    }
}

static void refuse_reading(int r, const struct document_error *error, struct arena *arena,
                           struct exchange *exchange)
{
    if (r == -EBADMSG)
        refuse(HTTP_BAD_REQUEST,
               arena_format(arena, "the body is not a readable review: line %zu, column %zu: %s",
                            error->line, error->column, error->what),
               arena, exchange);
    else if (r == -E2BIG)
        refuse(HTTP_TOO_LARGE, STR("the body has too many values for one request"), arena,
               exchange);
    else
        refuse(HTTP_INTERNAL_ERROR, STR("the review could not be read: out of memory"), arena,
               exchange);
}

void exchange_deny(int code, struct str message, struct arena *arena, struct exchange *exchange)
{
    struct exchange denied = {
        .status = HTTP_OK,
        .format = exchange->format,
        .undecided = code,
        .review = exchange->review,
        .decision = {.subject = exchange->decision.subject, .levels = exchange->decision.levels},
    };

    assert(code == HTTP_SERVICE_UNAVAILABLE || code == HTTP_GATEWAY_TIMEOUT);
    if (!str_present(message))
        message = STR("sandgate could not confirm the decision in time: try again");
    denied.undecided_message = message;
    if (answer_write_unavailable(code, message, denied.review.uid, denied.format, arena,
                                 &denied.body) < 0)
        refuse(HTTP_INTERNAL_ERROR, STR("the request could not be decided: out of memory"), arena,
               exchange);
    else
        *exchange = denied;
}

void exchange_leave_undecided(struct arena *arena, struct exchange *exchange)
{
    struct exchange left = {
        .status = HTTP_OK,
        .format = exchange->format,
        .decided = true,
        .review = exchange->review,
    };
    int r = gate_undecided(&exchange->decision, &left.decision);

    if (r == 0)
        r = answer_make(&left.decision, left.review.uid, arena, &left.response);
    if (r == 0)
        r = answer_write_response(left.response, left.format, arena, &left.body);
    if (r < 0)
        refuse(HTTP_INTERNAL_ERROR, STR("the request could not be decided: out of memory"), arena,
               exchange);
    else
        *exchange = left;
}

void exchange_review(struct str body, enum document_syntax syntax, enum answer_format format,
                     const struct snapshot *snapshot, struct moment now, struct arena *arena,
                     struct exchange *ret_exchange)
{
    struct exchange exchange = {.status = HTTP_OK, .format = format};
    struct document_error error = {0};
    const char *what = NULL;
    int r = review_read(body, syntax, arena, &exchange.review, &error);

    if (r < 0) {
        refuse_reading(r, &error, arena, ret_exchange);
        return;
    }
    r = gate_decide(&exchange.review, snapshot, now, arena, &exchange.decision, &what);
    if (r == -EBADMSG) {
        refuse(HTTP_BAD_REQUEST, str_of(what), arena, ret_exchange);
        return;
    }
    if (r == 0)
        r = answer_make(&exchange.decision, exchange.review.uid, arena, &exchange.response);
    if (r == 0)
        r = answer_write_response(exchange.response, format, arena, &exchange.body);
    if (r < 0) {
        refuse(HTTP_INTERNAL_ERROR, STR("the request could not be decided: out of memory"), arena,
               ret_exchange);
        return;
    }
    exchange.decided = true;
    *ret_exchange = exchange;
}
