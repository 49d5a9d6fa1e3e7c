/* SPDX-License-Identifier: Apache-2.0 */
/* self_fake - an API server with a Secret and a webhook configuration. */
#define _GNU_SOURCE /* for PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP */
#include "self_fake.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "k8s/util/base64.h"
#include "k8s/document/document.h"
#include "planner/base/buffer.h"
#include "planner/base/tree.h"

#define FAKE_MAX_BYTES ((size_t)1 << 20)
#define WEBHOOKS_PATH "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/gate"
#define SECRET_PATH "/api/v1/namespaces/sandgate-system/secrets/gate-tls"

int __wrap_api_do(struct api *api, const struct api_request *request, struct arena *arena,
                  struct api_reply *ret_reply);

static void fake_assert(bool holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "self_fake: %s\n", what);
    abort();
}

static char *keep(struct str text)
{
    char *copy = strndup(text.len > 0 ? text.ptr : "", text.len);

    fake_assert(copy != NULL, "out of memory");
    return copy;
}

static void put(struct fake *fake, struct str key, struct str base64)
{
    size_t place = FAKE_KEYS;

    for (size_t i = FAKE_KEYS; i > 0; i--)
        if (fake->data[i - 1].value == NULL)
            place = i - 1;
    for (size_t i = 0; i < FAKE_KEYS; i++)
        if (fake->data[i].value != NULL && str_equal(str_of(fake->data[i].key), key))
            place = i;
    fake_assert(place < FAKE_KEYS && key.len < sizeof(fake->data[0].key), "too many keys");
    free(fake->data[place].value);
    fake->data[place].value = str_present(base64) ? keep(base64) : NULL;
    (void)snprintf(fake->data[place].key, sizeof(fake->data[place].key), "%.*s", (int)key.len,
                   key.ptr);
}

static struct str decode(const char *base64, struct arena *arena)
{
    size_t size = base64 != NULL ? strlen(base64) : 0, length = 0;
    unsigned char *bytes = arena_alloc(arena, size, 1);

    fake_assert(bytes != NULL, "out of memory");
    if (base64 == NULL || base64_decode(str_of(base64), size, bytes, &length) < 0)
        return STR("");
    return (struct str){.ptr = (const char *)bytes, .len = length};
}

struct str fake_get(const struct fake *fake, const char *key, struct arena *arena)
{
    for (size_t i = 0; i < FAKE_KEYS; i++)
        if (fake->data[i].value != NULL && str_equal(str_of(fake->data[i].key), str_of(key)))
            return decode(fake->data[i].value, arena);
    return STR("");
}

void fake_set(struct fake *fake, const char *key, struct str text)
{
    struct arena cleanup_arena arena = {0};
    struct str base64 = {0};

    fake_assert(base64_encode(text, &arena, &base64) == 0, "out of memory");
    put(fake, str_of(key), base64);
    fake->secret_version++;
}

void fake_empty_secret(struct fake *fake)
{
    for (size_t i = 0; i < FAKE_KEYS; i++) {
        free(fake->data[i].value);
        fake->data[i].value = NULL;
    }
    fake->secret_version++;
}

void fake_wipe_bundles(struct fake *fake)
{
    for (size_t i = 0; i < FAKE_WEBHOOKS; i++) {
        free(fake->bundle[i]);
        fake->bundle[i] = NULL;
    }
    fake->webhooks_version++;
}

void fake_init(struct fake *fake)
{
    /* recursive, because `between` can make calls */
    *fake = (struct fake){.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};
}

void fake_done(struct fake *fake)
{
    fake_empty_secret(fake);
    fake_wipe_bundles(fake);
}

struct certificate_bundle fake_bundle(const struct fake *fake, size_t index, struct arena *arena)
{
    struct certificate_bundle bundle = {0};

    fake_assert(certificate_read_bundle(decode(fake->bundle[index], arena), arena, &bundle) == 0,
                "out of memory");
    return bundle;
}

static struct str show_secret(const struct fake *fake, struct arena *arena)
{
    struct buffer b = buffer_make(arena, FAKE_MAX_BYTES);
    bool first = true;

    buffer_add_format(&b,
                      "{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
                      "\"gate-tls\",\"resourceVersion\":\"%u\",\"managedFields\":[{}]},"
                      "\"type\":\"Opaque\"",
                      fake->secret_version);
    for (size_t i = 0; i < FAKE_KEYS; i++) {
        if (fake->data[i].value == NULL)
            continue;
        buffer_add_format(&b, "%s\"%s\":\"%s\"", first ? ",\"data\":{" : ",", fake->data[i].key,
                          fake->data[i].value);
        first = false;
    }
    buffer_add(&b, first ? STR("}") : STR("}}"));
    return buffer_text(&b);
}

static struct str show_webhooks(const struct fake *fake, struct arena *arena)
{
    struct buffer b = buffer_make(arena, FAKE_MAX_BYTES);

    buffer_add_format(&b,
                      "{\"kind\":\"ValidatingWebhookConfiguration\",\"metadata\":{\"name\":"
                      "\"gate\",\"resourceVersion\":\"%u\"},\"webhooks\":[",
                      fake->webhooks_version);
    for (size_t i = 0; i < FAKE_WEBHOOKS; i++)
        buffer_add_format(&b, "%s{\"name\":\"w%zu.example.com\",\"clientConfig\":{%s%s%s}}",
                          i > 0 ? "," : "", i, fake->bundle[i] != NULL ? "\"caBundle\":\"" : "",
                          fake->bundle[i] != NULL ? fake->bundle[i] : "",
                          fake->bundle[i] != NULL ? "\"" : "");
    buffer_add(&b, STR("]}"));
    return buffer_text(&b);
}

static bool is_version(struct str text, unsigned version)
{
    char wanted[16];

    (void)snprintf(wanted, sizeof(wanted), "%u", version);
    return str_equal(text, str_of(wanted));
}

/* application/merge-patch+json */
static int patch_secret(struct fake *fake, const cJSON *patch)
{
    const cJSON *member = NULL;

    if (!is_version(tree_get_text(tree_get(patch, "metadata"), "resourceVersion"),
                    fake->secret_version)) {
        fake->conflicts++;
        return 409;
    }
    cJSON_ArrayForEach(member, tree_get(patch, "data"))
        put(fake, tree_key(member), tree_text(member));
    fake->secret_version++;
    fake->writes++;
    return 200;
}

/* application/json-patch+json */
static int patch_webhooks(struct fake *fake, const cJSON *patch)
{
    const cJSON *operation = NULL;

    cJSON_ArrayForEach(operation, patch)
    {
        struct str op = tree_get_text(operation, "op"), path = tree_get_text(operation, "path");
        struct str value = tree_get_text(operation, "value");

        if (str_equal(op, STR("test"))) {
            fake_assert(str_equal(path, STR("/metadata/resourceVersion")), "another test");
            if (!is_version(value, fake->webhooks_version)) {
                fake->conflicts++;
                return 422;
            }
            continue;
        }
        fake_assert(str_equal(op, STR("add")), "another operation");
        for (size_t i = 0; i < FAKE_WEBHOOKS; i++) {
            char wanted[64];

            (void)snprintf(wanted, sizeof(wanted), "/webhooks/%zu/clientConfig/caBundle", i);
            if (!str_equal(path, str_of(wanted)))
                continue;
            free(fake->bundle[i]);
            fake->bundle[i] = keep(value);
        }
    }
    fake->webhooks_version++;
    return 200;
}

static int patch(struct fake *fake, const struct api_request *request, bool webhooks,
                 struct arena *arena, struct api_reply *ret_reply)
{
    const struct document_options options = {.syntax = DOCUMENT_JSON, .rules = DOCUMENT_REVIEW};
    void (*between)(struct fake * fake, bool webhooks) = fake->between;
    struct document_error error = {0};
    cJSON *tree = NULL;

    fake->between = NULL;
    if (between != NULL)
        between(fake, webhooks);
    fake_assert(str_equal(request->content_type, webhooks ? STR("application/json-patch+json")
                                                          : STR("application/merge-patch+json")),
                "another content type");
    fake_assert(document_read(request->body, &options, arena, &tree, &error) == 0, "no JSON");
    ret_reply->status = webhooks ? patch_webhooks(fake, tree) : patch_secret(fake, tree);
    ret_reply->body = STR("{}");
    if (ret_reply->status != 200 || fake->lose == 0)
        return 0;
    fake->lose--;
    ret_reply->status = 0;
    ret_reply->reason = STR("the answer was lost");
    return -ETIMEDOUT;
}

static int answer(struct fake *fake, const struct api_request *request, struct arena *arena,
                  struct api_reply *ret_reply)
{
    bool webhooks = str_starts_with(request->path, STR(WEBHOOKS_PATH));
    int status = fake->status[request->method][webhooks];

    *ret_reply = (struct api_reply){0};
    fake_assert(webhooks || str_starts_with(request->path, STR(SECRET_PATH)), "another path");
    fake_assert(request->deadline_msec != 0, "no deadline");
    if (fake->away != 0) {
        ret_reply->reason = STR("GET https://127.0.0.1:6443: cannot connect");
        return fake->away;
    }
    if (status != 0) {
        ret_reply->status = status;
        ret_reply->reason = STR("the server says no");
        return 0;
    }
    if (request->method == API_PATCH)
        return patch(fake, request, webhooks, arena, ret_reply);
    fake_assert(request->method == API_GET, "another method");
    ret_reply->status = 200;
    ret_reply->body = webhooks ? show_webhooks(fake, arena) : show_secret(fake, arena);
    return 0;
}

int __wrap_api_do(struct api *api, const struct api_request *request, struct arena *arena,
                  struct api_reply *ret_reply)
{
    struct fake *fake = (struct fake *)(void *)api;
    int r = 0;

    (void)pthread_mutex_lock(&fake->lock);
    r = answer(fake, request, arena, ret_reply);
    (void)pthread_mutex_unlock(&fake->lock);
    return r;
}
