/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reason - says in one sentence why a call failed.
 *
 * The text of a server is outside input: it is made printable, shortened, and left out if it
 * repeats a credential.
 */
#include <assert.h>
#include <errno.h>

#include "k8s/api/internal.h"
#include "k8s/document/document.h"
#include "k8s/util/clock.h"
#include "k8s/util/file.h"
#include "planner/base/buffer.h"
#include "planner/base/tree.h"

#define MAX_REASON_BYTES 8192
#define MAX_MESSAGE_CHARACTERS 2000 /* of the server's own message */
#define MAX_TEXT_CHARACTERS 300     /* of a body that is not a Status */

/* Makes outside text safe for terminals and logs: no control characters, no line ends. */
static struct str printable(struct arena *arena, struct str text, size_t max_characters)
{
    struct buffer out = buffer_make(arena, MAX_REASON_BYTES);
    bool gap = false;

    text = str_trim(text);
    while (text.len > 0 && max_characters > 0) {
        uint32_t character = 0;
        size_t len = str_utf8_next(text, &character);
        bool blank = len > 0 && (text_is_control(character) || character == ' ');

        if (!blank) {
            if (gap)
                buffer_add_char(&out, ' ');
            if (len == 0 || text_is_bidi_control(character))
                buffer_add_char(&out, '?');
            else
                buffer_add(&out, (struct str){.ptr = text.ptr, .len = len});
            max_characters--;
        }
        gap = blank;
        len = len > 0 ? len : 1;
        text.ptr += len;
        text.len -= len;
    }
    return buffer_text(&out);
}

/* The message of a Status, or the beginning of any other body. */
static struct str message_of(const struct api_call *call, struct arena *arena)
{
    static const struct document_shape shape[] = {{.key = "message"}, {0}};
    const struct document_options options = {
        .syntax = DOCUMENT_JSON, .rules = DOCUMENT_REVIEW, .shape = shape};
    const struct str body = {.ptr = call->bytes, .len = call->len};
    struct document_error error = {0};
    cJSON *tree = NULL;
    struct str message = {0};

    if (body.len > 0 && !call->truncated &&
        document_read(body, &options, arena, &tree, &error) == 0)
        message = tree_get_text(tree, "message");
    if (message.len > 0)
        return printable(arena, message, MAX_MESSAGE_CHARACTERS);
    return printable(arena, body, MAX_TEXT_CHARACTERS);
}

static bool has_secret(struct str text, struct str secret)
{
    return secret.len > 0 && str_contains(text, secret);
}

/* A server, or a proxy in front of it, can repeat what it was sent. */
static struct str without_secrets(const struct api *api, const struct api_call *call,
                                  struct str text)
{
    struct str basic = api->basic;

    if (str_present(basic)) {
        basic.ptr += sizeof("Authorization: Basic ") - 1;
        basic.len -= sizeof("Authorization: Basic ") - 1;
    }
    if (has_secret(text, call->token) || has_secret(text, api->password) ||
        has_secret(text, basic) || has_secret(text, api->proxy_password))
        return STR("(the message has a credential, so it is not shown)");
    return text;
}

static const char *failure_text(int result)
{
    switch (result) {
    case -ECONNREFUSED:
        return "cannot connect";
    case -EHOSTUNREACH:
        return "the server cannot be reached";
    case -ECONNRESET:
        return "the connection was lost";
    case -EPROTO:
        return "TLS or HTTP failed";
    case -ECANCELED:
        return "ended, because the response cannot be used";
    case -EMSGSIZE:
        return "the response is too large";
    case -ENOMEM:
        return "out of memory";
    default:
        return "failed";
    }
}

/* The message of libcurl, without the path of the certificate authorities, which is a memory file.
 */
static struct str curl_error_of(const struct api_call *call, struct arena *scratch)
{
    const char *end = strstr(call->error_text, " CAfile: ");
    struct str words = str_of(call->error_text);

    if (end != NULL)
        words.len = (size_t)(end - words.ptr);
    return printable(scratch, words, MAX_TEXT_CHARACTERS);
}

static void add_failure(struct buffer *out, const struct api *api, const struct api_call *call,
                        int result, struct arena *scratch)
{
    const struct api_request *request = &call->request;
    struct str said = without_secrets(api, call, curl_error_of(call, scratch));

    if (result == -EACCES) {
        buffer_add_format(out, "the token file %s cannot be read, and requests need a token",
                          file_shown_name(api->token_file, scratch).ptr);
    } else if (result == -ETIMEDOUT) {
        if (request->deadline_msec != 0 && clock_msec() >= request->deadline_msec)
            buffer_add(out, STR("no response before the deadline"));
        else
            buffer_add_format(out, "no data for %u s", request->idle_sec);
    } else {
        buffer_add(out, str_of(failure_text(result)));
        if (said.len > 0 && result != -ECANCELED && result != -EMSGSIZE && result != -ENOMEM) {
            buffer_add(out, STR(": "));
            buffer_add(out, said);
        }
    }
}

static void add_status(struct buffer *out, const struct api *api, const struct api_call *call,
                       int status, struct arena *scratch)
{
    struct str said = without_secrets(api, call, message_of(call, scratch));

    buffer_add_format(out, "status %d", status);
    if (status < 400)
        buffer_add(out, STR(", a redirect, which is not followed"));
    else if (said.len > 0)
        buffer_add_format(out, ": %.*s", (int)said.len, said.ptr);
}

struct str api_reason(const struct api *api, const struct api_call *call, int result, int status)
{
    static const char *const methods[] = {[API_GET] = "GET",
                                          [API_POST] = "POST",
                                          [API_PUT] = "PUT",
                                          [API_PATCH] = "PATCH",
                                          [API_DELETE] = "DELETE"};
    cleanup_arena struct arena scratch = {0};
    struct buffer out = buffer_make(call->arena, MAX_REASON_BYTES);
    struct str path = call->request.path;
    const char *query = path.len > 0 ? memchr(path.ptr, '?', path.len) : NULL;

    assert(result < 0 || status >= 300);
    if (query != NULL)
        path.len = (size_t)(query - path.ptr);
    buffer_add_format(&out, "%s ", methods[call->request.method]);
    buffer_add(&out, api->server);
    buffer_add(&out, path);
    buffer_add(&out, STR(": "));
    if (result < 0)
        add_failure(&out, api, call, result, &scratch);
    else
        add_status(&out, api, call, status, &scratch);
    return buffer_text(&out);
}
