/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer - makes the content of a response, and writes it or a Status.
 *
 * annotations.c, message.c, rows.c and hint.c make the parts, body.c the text.
 */

#include "webhook/answer/answer.h"

#include <errno.h>

#include "k8s/util/http_status.h"
#include "webhook/answer/internal.h"
#include "webhook/util/clean.h"

#define RETRY_AFTER_SEC 1
#define MAX_STATUS_BODY_BYTES (8 * ANSWER_MAX_MESSAGE_BYTES)

int answer_write_response(const struct answer_response *response, enum answer_format format,
                          struct arena *arena, struct str *ret_body)
{
    return format == ANSWER_YAML ? answer_write_yaml(response, arena, ret_body)
                                 : answer_write_json(response, arena, ret_body);
}

int answer_make(const struct decision *decision, struct str uid, struct arena *arena,
                const struct answer_response **ret_response)
{
    struct answer_response *response = arena_alloc(arena, 1, sizeof(*response));
    int r = 0;

    if (response == NULL)
        return -ENOMEM;
    response->uid = uid;
    response->allowed = decision->allowed;
    r = answer_annotate(decision, arena, response);
    if (r == 0)
        r = answer_warnings(decision, arena, response->warnings, &response->warning_count);
    if (r == 0 && !decision->allowed) {
        response->code = HTTP_FORBIDDEN;
        response->reason = "Forbidden";
        r = answer_message(decision, arena, &response->message);
    }
    if (r == 0)
        *ret_response = response;
    return r;
}

int answer_write(const struct decision *decision, struct str uid, enum answer_format format,
                 struct arena *arena, struct str *ret_body)
{
    const struct answer_response *response = NULL;
    int r = answer_make(decision, uid, arena, &response);

    return r == 0 ? answer_write_response(response, format, arena, ret_body) : r;
}

static int clean_message(struct str message, struct arena *arena, struct str *ret_message)
{
    struct str kept = str_cut(message, ANSWER_MAX_MESSAGE_BYTES);
    char *copy = arena_copy(arena, kept);

    if (copy == NULL)
        return -ENOMEM;
    *ret_message = (struct str){.ptr = copy, .len = clean_text(copy, kept.len)};
    return 0;
}

int answer_write_unavailable(int code, struct str message, struct str uid,
                             enum answer_format format, struct arena *arena, struct str *ret_body)
{
    struct answer_response response = {
        .uid = uid,
        .code = code,
        .reason = code == HTTP_SERVICE_UNAVAILABLE ? "ServiceUnavailable" : "Timeout",
        .retry_after_sec = RETRY_AFTER_SEC,
    };
    int r = clean_message(message, arena, &response.message);

    return r == 0 ? answer_write_response(&response, format, arena, ret_body) : r;
}

/* The reason that the Kubernetes API uses for this status; HTTP's name if it has none. */
static const char *reason_of(int code)
{
    static const struct {
        int code;
        const char *reason;
    } reasons[] = {
        {400, "BadRequest"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "NotFound"},
        {405, "MethodNotAllowed"},
        {411, "LengthRequired"},
        {413, "RequestEntityTooLarge"},
        {415, "UnsupportedMediaType"},
        {431, "RequestHeaderFieldsTooLarge"},
        {503, "ServiceUnavailable"},
        {504, "Timeout"},
    };

    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (reasons[i].code == code)
            return reasons[i].reason;
    }
    return "InternalError";
}

int answer_write_status(int code, struct str message, struct arena *arena, struct str *ret_body)
{
    struct buffer b = buffer_make(arena, MAX_STATUS_BODY_BYTES);
    struct str body = {0};
    int r = clean_message(message, arena, &message);

    if (r < 0)
        return r;
    buffer_add(&b, STR("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
                       "\"status\":\"Failure\",\"message\":"));
    buffer_add_json(&b, message);
    buffer_add_format(&b, ",\"reason\":\"%s\",\"code\":%d}", reason_of(code), code);
    body = buffer_text(&b);
    if (!str_present(body))
        return -ENOMEM;
    *ret_body = body;
    return 0;
}
