/* SPDX-License-Identifier: Apache-2.0 */
/* api - the address of the API server and of its proxy; blocking calls. */
#include "k8s/api/api.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "k8s/api/internal.h"

/* ---- the address ---- */

static void part_free(char **part)
{
    curl_free(*part);
}

#define cleanup_part __attribute__((cleanup(part_free)))

static void url_free(CURLU **url)
{
    curl_url_cleanup(*url);
}

#define cleanup_url __attribute__((cleanup(url_free)))

static char *part_of(CURLU *url, CURLUPart what, unsigned flags)
{
    char *part = NULL;

    return curl_url_get(url, what, &part, flags) == CURLUE_OK ? part : NULL;
}

/* Whether the host is this machine, for which a proxy of the environment is not used. */
static bool is_loopback(struct str host)
{
    return str_equal_ascii_nocase(host, STR("localhost")) || str_starts_with(host, STR("127.")) ||
           str_equal(host, STR("[::1]"));
}

/* The certificate must be for `name` instead of the host: the URL contains `name`, and libcurl
 * connects to `host`. */
static int set_tls_name(struct api *api, const char *host, const char *port, const char *path,
                        struct str name)
{
    bool is_ipv6 = memchr(name.ptr, ':', name.len) != NULL && name.ptr[0] != '[';
    struct str shown =
        arena_format(&api->arena, is_ipv6 ? "[%.*s]" : "%.*s", (int)name.len, name.ptr);
    struct str base = {0};
    struct str connect = {0};
    struct str header = {0};

    if (!str_present(shown))
        return -ENOMEM;
    base = arena_format(&api->arena, "https://%s:%s%s", shown.ptr, port, path);
    connect = arena_format(&api->arena, "%s:%s:%s:%s", shown.ptr, port, host, port);
    header = arena_format(&api->arena, "Host: %s:%s", host, port);
    if (!str_present(base) || !str_present(connect) || !str_present(header))
        return -ENOMEM;
    api->base_url = base.ptr;
    api->host_header = header.ptr;
    api->connect_to = curl_slist_append(NULL, connect.ptr);
    return api->connect_to != NULL ? 0 : -ENOMEM;
}

static bool is_host_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.ptr[i];

        if (c <= ' ' || c >= 0x7f || strchr("/?#@%\\", c) != NULL)
            return false;
    }
    return name.len > 0;
}

static int refuse(struct str *reterr_reason, const char *what)
{
    *reterr_reason = str_of(what);
    return -EINVAL;
}

static int set_server(struct api *api, const struct access *access, struct str *reterr_reason)
{
    cleanup_url CURLU *url = curl_url();
    cleanup_part char *scheme = NULL;
    cleanup_part char *host = NULL;
    cleanup_part char *port = NULL;
    cleanup_part char *path = NULL;
    const char *text = arena_copy(&api->arena, access->server);
    size_t path_len = 0;

    if (url == NULL || text == NULL)
        return -ENOMEM;
    if (curl_url_set(url, CURLUPART_URL, text, CURLU_DISALLOW_USER) != CURLUE_OK)
        return refuse(reterr_reason,
                      "the API server's address must be a URL of the form https://host:port");
    scheme = part_of(url, CURLUPART_SCHEME, 0);
    host = part_of(url, CURLUPART_HOST, 0);
    port = part_of(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
    path = part_of(url, CURLUPART_PATH, 0);
    if (scheme == NULL || host == NULL || port == NULL || path == NULL)
        return -ENOMEM;
    api->plain = strcmp(scheme, "http") == 0;
    if (!api->plain && strcmp(scheme, "https") != 0)
        return refuse(reterr_reason, "the API server's address must begin with https://");
    if (api->plain && api_has_secret(access))
        return refuse(reterr_reason, "the API server's address begins with http://, and "
                                     "credentials are never sent unencrypted; use https://");
    path_len = strlen(path);
    while (path_len > 0 && path[path_len - 1] == '/')
        path[--path_len] = '\0';
    api->server = arena_format(&api->arena, "%s://%s:%s%s", scheme, host, port, path);
    if (!str_present(api->server))
        return -ENOMEM;
    api->base_url = api->server.ptr;
    if (!str_present(access->proxy_url) && is_loopback(str_of(host)))
        api->proxy = "";
    if (!str_present(access->tls_server_name) || api->plain)
        return 0;
    if (!is_host_name(access->tls_server_name))
        return refuse(reterr_reason, "tls-server-name must be a host name");
    return set_tls_name(api, host, port, path, access->tls_server_name);
}

static int set_proxy(struct api *api, const struct access *access, struct str *reterr_reason)
{
    cleanup_url CURLU *url = NULL;
    cleanup_part char *password = NULL;

    if (!str_present(access->proxy_url))
        return 0;
    url = curl_url();
    api->proxy = arena_copy(&api->arena, access->proxy_url);
    if (url == NULL || api->proxy == NULL)
        return -ENOMEM;
    if (curl_url_set(url, CURLUPART_URL, api->proxy, CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
        return refuse(reterr_reason, "proxy-url must be a URL of the form http://host:port");
    password = part_of(url, CURLUPART_PASSWORD, CURLU_URLDECODE);
    if (password == NULL)
        return 0;
    api->proxy_password = str_of(arena_copy(&api->arena, str_of(password)));
    explicit_bzero(password, strlen(password));
    return str_present(api->proxy_password) ? 0 : -ENOMEM;
}

/* ---- the object ---- */

static void global_init(void)
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
}

int api_new(const struct access *access, struct arena *arena, struct api **ret_api,
            struct str *reterr_reason)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct api *api = NULL;
    struct str reason = {0}; /* about the credentials; the server's address is added below */
    int r = 0;

    (void)pthread_once(&once, global_init);
    api = calloc(1, sizeof(*api));
    if (api == NULL)
        return -ENOMEM;
    api->ca.fd = -1;
    (void)pthread_mutex_init(&api->mutex, NULL);
    api->insecure = access->insecure;
    r = set_server(api, access, reterr_reason);
    if (r == 0)
        r = set_proxy(api, access, reterr_reason);
    if (r == 0)
        r = api_credentials_init(api, access, &reason);
    if (r == -EINVAL && str_present(reason)) {
        *reterr_reason = arena_format(arena, "%s: %s", api->server.ptr, reason.ptr);
        r = str_present(*reterr_reason) ? r : -ENOMEM;
    }
    if (r < 0) {
        api_free(api);
        return r;
    }
    *ret_api = api;
    return 0;
}

void api_free(struct api *api)
{
    struct arena arena = {0};

    if (api == NULL)
        return;
    for (size_t i = 0; i < api->idle_count; i++)
        api_loop_free(api->idle[i]);
    api_credentials_done(api);
    curl_slist_free_all(api->connect_to);
    (void)pthread_mutex_destroy(&api->mutex);
    arena = api->arena;
    arena_wipe(&arena);
    free(api);
}

struct str api_server(const struct api *api)
{
    return api->server;
}

/* ---- blocking calls ---- */

/* Idle loops are kept so that their idle connections are reused. */
static int loop_take(struct api *api, struct api_loop **ret_loop)
{
    struct api_loop *loop = NULL;

    (void)pthread_mutex_lock(&api->mutex);
    assert(api->idle_count <= API_MAX_IDLE_LOOPS);
    if (api->idle_count > 0)
        loop = api->idle[--api->idle_count];
    (void)pthread_mutex_unlock(&api->mutex);
    if (loop == NULL)
        return api_loop_new(api, ret_loop);
    *ret_loop = loop;
    return 0;
}

static void loop_put_back(struct api *api, struct api_loop *loop)
{
    (void)pthread_mutex_lock(&api->mutex);
    if (api->idle_count < API_MAX_IDLE_LOOPS) {
        api->idle[api->idle_count++] = loop;
        loop = NULL;
    }
    (void)pthread_mutex_unlock(&api->mutex);
    api_loop_free(loop);
}

/* A blocking call, for its callbacks. */
struct blocking {
    const struct api_request *request;
    struct api_reply reply;
    int result;
    bool done;
};

static void take_reply(void *context, int result, const struct api_reply *reply)
{
    struct blocking *blocking = context;

    blocking->reply = *reply;
    blocking->result = result;
    blocking->done = true;
}

static int pass_bytes(void *context, const char *bytes, size_t count)
{
    struct blocking *blocking = context;

    return blocking->request->on_bytes(blocking->request->context, bytes, count);
}

int api_do(struct api *api, const struct api_request *request, struct arena *arena,
           struct api_reply *ret_reply)
{
    struct blocking blocking = {.request = request};
    struct api_request own = *request;
    struct api_loop *loop = NULL;
    int r = loop_take(api, &loop);

    if (r < 0)
        return r;
    own.context = &blocking;
    own.on_bytes = request->on_bytes != NULL ? pass_bytes : NULL;
    r = api_loop_begin(loop, &own, arena, take_reply, NULL);
    while (r == 0 && !blocking.done)
        r = api_loop_turn(loop, API_CONNECT_MSEC);
    if (r < 0) {
        api_loop_free(loop);
        return r;
    }
    assert(blocking.done);
    loop_put_back(api, loop);
    *ret_reply = blocking.reply;
    return blocking.result;
}
