/* SPDX-License-Identifier: Apache-2.0 */
/* call - one call by libcurl: its options, its callbacks, its result. */
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "k8s/api/internal.h"
#include "k8s/util/clock.h"
#include "k8s/util/wipe.h"

#define KEEPALIVE_IDLE_SEC 30L
#define KEEPALIVE_PAUSE_SEC 10L
#define USER_TIMEOUT_MSEC 30000u /* a connection without acknowledgement for so long is closed */
#define MAX_RETRY_AFTER_SEC 86400

/* ---- callbacks of libcurl ---- */

static int set_socket(void *context, curl_socket_t fd, curlsocktype purpose)
{
    const unsigned msec = USER_TIMEOUT_MSEC;

    (void)context;
    (void)purpose;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &msec, sizeof(msec));
    return CURL_SOCKOPT_OK;
}

static size_t take_header(char *bytes, size_t size, size_t count, void *context)
{
    struct api_call *call = context;

    (void)bytes;
    call->last_byte_msec = clock_age_msec();
    return size * count;
}

static int status_of(const struct api_call *call)
{
    long status = 0;

    if (curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status) != CURLE_OK)
        return 0;
    return (int)status;
}

/* Like array_grow(), but a body can be a Secret, so the old memory is overwritten. */
static int grow(struct api_call *call, size_t wanted)
{
    size_t capacity = 2 * call->capacity > wanted ? 2 * call->capacity : wanted;
    char *bytes = NULL;

    if (wanted <= call->capacity)
        return 0;
    bytes = malloc(capacity);
    if (bytes == NULL)
        return -ENOMEM;
    if (call->len > 0)
        memcpy(bytes, call->bytes, call->len);
    wipe_bytes(call->bytes, call->capacity);
    call->bytes = bytes;
    call->capacity = capacity;
    return 0;
}

static size_t collect(struct api_call *call, const char *bytes, size_t count, int status)
{
    bool is_success = status >= 200 && status < 300;
    size_t max = is_success ? API_MAX_BODY_BYTES : API_MAX_STATUS_BYTES;

    if (count > max - call->len) {
        if (is_success) {
            call->failure = -EMSGSIZE;
            return CURL_WRITEFUNC_ERROR;
        }
        call->truncated = true;
        count = max - call->len;
    }
    if (grow(call, call->len + count) < 0) {
        call->failure = -ENOMEM;
        return CURL_WRITEFUNC_ERROR;
    }
    assert(count <= call->capacity - call->len);
    memcpy(call->bytes + call->len, bytes, count);
    call->len += count;
    return call->truncated ? CURL_WRITEFUNC_ERROR : count;
}

static size_t take_bytes(char *bytes, size_t size, size_t count, void *context)
{
    struct api_call *call = context;
    const struct api_request *request = &call->request;
    int status = status_of(call);

    (void)size; /* always 1 */
    call->last_byte_msec = clock_age_msec();
    if (call->dropped)
        return CURL_WRITEFUNC_ERROR;
    if (count == 0)
        return 0;
    if (status != 200 || request->on_bytes == NULL)
        return collect(call, bytes, count, status);
    if (request->on_bytes(request->context, bytes, count) != 0) {
        call->failure = -ECANCELED;
        return CURL_WRITEFUNC_ERROR;
    }
    return count;
}

/* ---- the beginning of a call ---- */

static bool copy_text(struct arena *arena, struct str *text)
{
    const size_t len = text->len;

    if (!str_present(*text))
        return true;
    text->ptr = arena_copy(arena, *text);
    text->len = len;
    return text->ptr != NULL;
}

int api_call_new(struct api *api, const struct api_request *request, struct arena *arena,
                 struct api_call **ret_call)
{
    struct api_call *call = calloc(1, sizeof(*call));

    if (call == NULL)
        return -ENOMEM;
    call->arena = arena != NULL ? arena : &call->own;
    call->request = *request;
    call->last_byte_msec = clock_age_msec();
    call->easy = curl_easy_init();
    if (call->easy == NULL || !copy_text(&call->own, &call->request.path) ||
        !copy_text(&call->own, &call->request.content_type) ||
        !copy_text(&call->own, &call->request.body)) {
        api_call_free(api, call);
        return -ENOMEM;
    }
    *ret_call = call;
    return 0;
}

/* A header can have a token or a password. */
static void drop_headers(struct curl_slist *list)
{
    for (struct curl_slist *one = list; one != NULL; one = one->next)
        explicit_bzero(one->data, strlen(one->data));
    curl_slist_free_all(list);
}

void api_call_free(struct api *api, struct api_call *call)
{
    if (call == NULL)
        return;
    curl_easy_cleanup(call->easy);
    drop_headers(call->headers);
    api_identity_unref(api, call->identity);
    wipe_bytes(call->bytes, call->capacity);
    arena_wipe(&call->own);
    free(call);
}

/* Adds a header. A failure is remembered, so that a series is checked once. */
static void add_header(struct curl_slist **list, bool *failed, const char *line)
{
    struct curl_slist *longer = line != NULL ? curl_slist_append(*list, line) : NULL;

    if (longer == NULL)
        *failed = true;
    else
        *list = longer;
}

static int make_headers(const struct api *api, struct api_call *call)
{
    bool failed = false;
    struct curl_slist *list = NULL;

    drop_headers(call->headers);
    call->headers = NULL;
    add_header(&list, &failed, "Accept: application/json");
    add_header(&list, &failed, "Expect:"); /* no "100 Continue" before a large body */
    if (api->host_header != NULL)
        add_header(&list, &failed, api->host_header);
    if (str_present(call->request.content_type))
        add_header(
            &list, &failed,
            arena_format(&call->own, "Content-Type: %s", call->request.content_type.ptr).ptr);
    if (str_present(call->token))
        add_header(&list, &failed,
                   arena_format(&call->own, "Authorization: Bearer %s", call->token.ptr).ptr);
    else if (str_present(api->basic))
        add_header(&list, &failed, api->basic.ptr);
    for (size_t i = 0; i < api->extra.count; i++)
        add_header(&list, &failed, api->extra.items[i].ptr);
    call->headers = list;
    return failed ? -ENOMEM : 0;
}

static int set_request(const struct api *api, struct api_call *call)
{
    static const char *const methods[] = {[API_GET] = NULL,
                                          [API_POST] = NULL,
                                          [API_PUT] = "PUT",
                                          [API_PATCH] = "PATCH",
                                          [API_DELETE] = "DELETE"};
    const struct api_request *request = &call->request;
    CURL *easy = call->easy;
    struct str url = arena_format(&call->own, "%s%s", api->base_url,
                                  str_present(request->path) ? request->path.ptr : "/");
    int failed = 0;

    if (!str_present(url))
        return -ENOMEM;
    failed |= (int)curl_easy_setopt(easy, CURLOPT_URL, url.ptr);
    failed |= (int)curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    failed |= (int)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, call->headers);
    failed |= (int)curl_easy_setopt(easy, CURLOPT_CONNECT_TO, api->connect_to);
    if (str_present(request->body) || request->method == API_POST) {
        failed |= (int)curl_easy_setopt(easy, CURLOPT_POST, 1L);
        failed |=
            (int)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
        failed |= (int)curl_easy_setopt(easy, CURLOPT_POSTFIELDS,
                                        request->body.len > 0 ? request->body.ptr : "");
    } else {
        failed |= (int)curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    }
    if (methods[request->method] != NULL)
        failed |= (int)curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, methods[request->method]);
    return failed != 0 ? -ENOMEM : 0;
}

/* HTTP/1.1: each watch has its own connection, so that a dead one does not affect other calls. */
static int set_connection(const struct api *api, struct api_call *call)
{
    CURL *easy = call->easy;
    int failed = 0;

    failed |= (int)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, api->plain ? "http" : "https");
    failed |= (int)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    failed |= (int)curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    failed |= (int)curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    failed |= (int)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    failed |=
        (int)curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* do not wait for a DNS thread */
    failed |= (int)curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    failed |= (int)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)API_CONNECT_MSEC);
    failed |= (int)curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    failed |= (int)curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, KEEPALIVE_IDLE_SEC);
    failed |= (int)curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, KEEPALIVE_PAUSE_SEC);
    failed |= (int)curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, set_socket);
    failed |= (int)curl_easy_setopt(easy, CURLOPT_USERAGENT, "sandgate/" SANDGATE_VERSION);
    if (api->proxy != NULL)
        failed |= (int)curl_easy_setopt(easy, CURLOPT_PROXY, api->proxy);
    failed |= (int)curl_easy_setopt(easy, CURLOPT_PRIVATE, call);
    failed |= (int)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, call->error_text);
    failed |= (int)curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    failed |= (int)curl_easy_setopt(easy, CURLOPT_HEADERDATA, call);
    failed |= (int)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_bytes);
    failed |= (int)curl_easy_setopt(easy, CURLOPT_WRITEDATA, call);
    return failed != 0 ? -ENOMEM : 0;
}

static int set_tls(const struct api *api, struct api_call *call)
{
    CURL *easy = call->easy;
    int failed = 0;

    failed |= (int)curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    failed |= (int)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, api->insecure ? 0L : 1L);
    failed |= (int)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, api->insecure ? 0L : 2L);
    if (api->ca.fd >= 0) {
        /* and no other certificate authorities of this machine */
        failed |= (int)curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
        failed |= (int)curl_easy_setopt(easy, CURLOPT_CAINFO, api->ca.path);
    }
    if (call->identity != NULL) {
        failed |= (int)curl_easy_setopt(easy, CURLOPT_SSLCERTTYPE, "PEM");
        failed |= (int)curl_easy_setopt(easy, CURLOPT_SSLCERT, call->identity->certificate.path);
        failed |= (int)curl_easy_setopt(easy, CURLOPT_SSLKEYTYPE, "PEM");
        failed |= (int)curl_easy_setopt(easy, CURLOPT_SSLKEY, call->identity->key.path);
    }
    return failed != 0 ? -ENOMEM : 0;
}

int api_call_prepare(struct api *api, struct api_call *call)
{
    int r = 0;

    call->last_byte_msec = clock_age_msec();
    if (!call->retried) /* else api_call_retry() has set the new token */
        r = api_token_take(api, false, &call->own, &call->token);
    if (r == 0 && call->identity == NULL)
        call->identity = api_identity_take(api);
    if (r == 0)
        r = make_headers(api, call);
    if (r == 0)
        r = set_request(api, call);
    if (r == 0)
        r = set_connection(api, call);
    if (r == 0)
        r = set_tls(api, call);
    return r;
}

/* ---- the end of a call ---- */

bool api_call_retry(struct api *api, struct api_call *call, CURLcode code)
{
    struct str token = {0};

    if (call->retried || api->token_file == NULL || api_call_result(call, code) != 0 ||
        status_of(call) != 401)
        return false;
    /* a token that is equal would be refused again */
    if (api_token_take(api, true, &call->own, &token) < 0 || !str_present(token) ||
        str_equal(token, call->token))
        return false;
    call->token = token;
    call->retried = true;
    call->len = 0;
    call->truncated = false;
    call->error_text[0] = '\0';
    return true;
}

static int connect_result(const struct api_call *call)
{
    long number = 0;

    if (curl_easy_getinfo(call->easy, CURLINFO_OS_ERRNO, &number) != CURLE_OK)
        number = 0;
    return number == EHOSTUNREACH || number == ENETUNREACH || number == ETIMEDOUT ? -EHOSTUNREACH
                                                                                  : -ECONNREFUSED;
}

int api_call_result(const struct api_call *call, CURLcode code)
{
    if (call->failure < 0)
        return call->failure;
    if (call->truncated)
        return 0;
    switch ((int)code) {
    case CURLE_OK:
        return 0;
    case CURLE_OUT_OF_MEMORY:
        return -ENOMEM;
    case CURLE_COULDNT_CONNECT:
        return connect_result(call);
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_OPERATION_TIMEDOUT: /* while connecting: libcurl is given no other timeout */
        return -EHOSTUNREACH;
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_PROXY:
        return -ECONNRESET;
    default:
        return -EPROTO;
    }
}

int api_call_reply(struct api *api, struct api_call *call, int result, struct api_reply *ret_reply)
{
    struct api_reply reply = {.status = status_of(call)};
    curl_off_t seconds = 0;

    if (curl_easy_getinfo(call->easy, CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK && seconds > 0) {
        reply.has_retry_after = true;
        reply.retry_after_sec =
            seconds < MAX_RETRY_AFTER_SEC ? (uint32_t)seconds : MAX_RETRY_AFTER_SEC;
    }
    if (result == 0) {
        reply.body.ptr =
            arena_copy(call->arena, (struct str){.ptr = call->bytes, .len = call->len});
        reply.body.len = call->len;
        if (reply.body.ptr == NULL) {
            reply.body.len = 0;
            result = -ENOMEM;
        }
    }
    if (result < 0 || reply.status >= 300) {
        reply.reason = api_reason(api, call, result, reply.status);
        if (!str_present(reply.reason))
            result = result < 0 ? result : -ENOMEM;
    }
    *ret_reply = reply;
    return result;
}
