/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "webhook/answer/answer.h"
#include "webhook/server/request.h"

#define RETRY_AFTER_SEC "1"

/* For when there is no memory to say more. */
static const char last_words[] =
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
    "\"message\":\"the gate is out of memory\",\"reason\":\"InternalError\",\"code\":500}";

static struct answer_text text_copy(struct str text, const char *type)
{
    struct answer_text answer = {.type = type, .len = text.len};

    answer.ptr = malloc(text.len);
    if (answer.ptr != NULL)
        memcpy(answer.ptr, text.ptr, text.len);
    return answer;
}

struct answer_text request_status_text(int status, const char *why)
{
    struct arena cleanup_arena arena = {0};
    struct str body = {0};

    if (status == MHD_HTTP_OK)
        return text_copy(STR("ok"), "text/plain");
    if (answer_write_status(status, str_of(why), &arena, &body) < 0)
        body = (struct str){.ptr = last_words, .len = sizeof(last_words) - 1};
    return text_copy(body, "application/json");
}

static void response_done(struct MHD_Response **response)
{
    if (*response != NULL)
        MHD_destroy_response(*response);
}

static enum MHD_Result add_guards(struct MHD_Response *response, const struct answer_text *answer)
{
    enum MHD_Result r = MHD_YES;

    if (answer->confidential) {
        r = MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
        if (r == MHD_YES)
            r = MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    }
    if (r == MHD_YES && answer->policy != NULL)
        r = MHD_add_response_header(response, "Content-Security-Policy", answer->policy);
    return r;
}

enum MHD_Result request_queue(struct MHD_Connection *mhd, int status, struct answer_text *answer,
                              const char *allow, bool close)
{
    __attribute__((cleanup(response_done))) struct MHD_Response *response =
        MHD_create_response_from_buffer(answer->len, answer->ptr, MHD_RESPMEM_MUST_FREE);
    enum MHD_Result r = MHD_YES;

    if (response == NULL)
        return MHD_NO;
    answer->ptr = NULL; /* the response's now */
    r = MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->type);
    if (r == MHD_YES)
        r = add_guards(response, answer);
    if (r == MHD_YES && allow != NULL)
        r = MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, allow);
    if (r == MHD_YES && status == MHD_HTTP_SERVICE_UNAVAILABLE)
        r = MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, RETRY_AFTER_SEC);
    if (r == MHD_YES && close)
        r = MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    if (r == MHD_YES)
        r = MHD_queue_response(mhd, (unsigned)status, response);
    return r;
}
