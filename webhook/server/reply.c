/* SPDX-License-Identifier: Apache-2.0 */
/* reply - makes libmicrohttpd responses, with their header fields; error bodies are Status objects.
 * Both ports use it. */

#include <stdlib.h>
#include <string.h>

#include "webhook/answer/answer.h"
#include "webhook/server/request.h"

#define RETRY_AFTER_SEC "1"

/* Sent where there is no memory to write another text. */
static const char out_of_memory[] =
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
    "\"message\":\"the gate is out of memory\",\"reason\":\"InternalError\",\"code\":500}";

static struct answer_text copy_text(struct str text, const char *type)
{
    struct answer_text answer = {.type = type, .len = text.len};

    answer.ptr = malloc(text.len + 1);
    if (answer.ptr != NULL && text.len > 0)
        memcpy(answer.ptr, text.ptr, text.len);
    return answer;
}

struct answer_text request_status_text(int status, const char *why)
{
    struct arena cleanup_arena arena = {0};
    struct str body = {0};

    if (status == MHD_HTTP_OK)
        return copy_text(str_of(why), "text/plain");
    if (answer_write_status(status, str_of(why), &arena, &body) < 0)
        body = (struct str){.ptr = out_of_memory, .len = sizeof(out_of_memory) - 1};
    return copy_text(body, "application/json");
}

static void drop_response(struct MHD_Response **response)
{
    if (*response != NULL)
        MHD_destroy_response(*response);
}

#define cleanup_response __attribute__((cleanup(drop_response)))

static enum MHD_Result add_protection(struct MHD_Response *response,
                                      const struct answer_text *answer)
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

enum MHD_Result request_send(struct MHD_Connection *mhd, int status, struct answer_text *answer,
                             const char *allow, bool close)
{
    struct MHD_Response *cleanup_response response =
        MHD_create_response_from_buffer(answer->len, answer->ptr, MHD_RESPMEM_MUST_FREE);
    enum MHD_Result r = MHD_YES;

    if (response == NULL)
        return MHD_NO;
    answer->ptr = NULL; /* owned by the response */
    r = MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->type);
    if (r == MHD_YES)
        r = add_protection(response, answer);
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
