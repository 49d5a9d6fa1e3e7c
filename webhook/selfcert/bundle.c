/* SPDX-License-Identifier: Apache-2.0 */
/* bundle - reads caBundles, and writes the patch that completes them. See bundle.h. */

#include "webhook/selfcert/bundle.h"

#include <assert.h>
#include <errno.h>

#include "k8s/document/document.h"
#include "k8s/util/base64.h"
#include "planner/base/buffer.h"
#include "planner/base/tree.h"

#define MAX_PATCH_BYTES ((size_t)4 << 20)

static const struct document_shape shape_metadata[] = {{.key = "resourceVersion"}, {0}};
static const struct document_shape shape_client[] = {{.key = "caBundle"}, {0}};
static const struct document_shape shape_webhook[] = {
    {.key = "clientConfig", .members = shape_client},
    {0},
};
static const struct document_shape shape_webhooks[] = {{.key = "*", .members = shape_webhook}, {0}};
static const struct document_shape shape_root[] = {
    {.key = "kind"},
    {.key = "metadata", .members = shape_metadata},
    {.key = "webhooks", .members = shape_webhooks},
    {0},
};

/* A bundle that cannot be read is flawed and empty. */
static int read_bundle(const cJSON *webhook, struct arena *arena,
                       struct certificate_bundle *ret_bundle)
{
    struct str text = tree_get_text(tree_get(webhook, "clientConfig"), "caBundle");
    unsigned char *bytes = NULL;
    size_t length = 0, capacity = 0;

    if (text.len == 0)
        return certificate_read_bundle(STR(""), arena, ret_bundle);
    capacity = text.len < CERTIFICATE_MAX_BYTES ? text.len : CERTIFICATE_MAX_BYTES;
    bytes = arena_alloc(arena, capacity, 1);
    if (bytes == NULL)
        return -ENOMEM;
    if (base64_decode(text, capacity, bytes, &length) < 0)
        length = 0;
    return certificate_read_bundle((struct str){.ptr = (const char *)bytes, .len = length}, arena,
                                   ret_bundle);
}

int self_bundle_read(struct str json, struct arena *arena, struct self_webhooks *ret_webhooks)
{
    const struct document_options options = {
        .syntax = DOCUMENT_JSON, .rules = DOCUMENT_REVIEW, .shape = shape_root};
    struct document_error error = {0};
    const cJSON *webhook = NULL;
    cJSON *tree = NULL;
    int r = document_read(json, &options, arena, &tree, &error);

    if (r == -ENOMEM)
        return r;
    ret_webhooks->count = 0;
    ret_webhooks->resource_version = tree_get_text(tree_get(tree, "metadata"), "resourceVersion");
    if (r < 0 || ret_webhooks->resource_version.len == 0 ||
        !str_equal(tree_get_text(tree, "kind"), STR("ValidatingWebhookConfiguration")))
        return -EBADMSG;
    cJSON_ArrayForEach(webhook, tree_get(tree, "webhooks"))
    {
        if (ret_webhooks->count == SELF_MAX_WEBHOOKS)
            return -E2BIG;
        r = read_bundle(webhook, arena, &ret_webhooks->items[ret_webhooks->count++]);
        if (r < 0)
            return r;
    }
    return 0;
}

static bool add_missing(struct certificate_bundle *to, const struct certificate_bundle *from,
                        int64_t now_sec)
{
    bool added = false;

    for (size_t i = 0; i < from->count && to->count < CERTIFICATE_MAX_BUNDLE; i++) {
        if (from->items[i].to_sec <= now_sec || certificate_find(to, &from->items[i].id) != NULL)
            continue;
        assert(to->count < CERTIFICATE_MAX_BUNDLE);
        to->items[to->count++] = from->items[i];
        added = true;
    }
    return added;
}

/* The wanted content of a caBundle: all of cas, and what it has already, without expired CAs. False
 * where it has this content already. */
static bool complete_one(const struct certificate_bundle *present,
                         const struct certificate_bundle *cas, int64_t now_sec,
                         struct certificate_bundle *ret_wanted)
{
    struct certificate_bundle wanted = {0};
    bool same = !present->flawed;

    (void)add_missing(&wanted, cas, now_sec);
    (void)add_missing(&wanted, present, now_sec);
    for (size_t i = 0; i < wanted.count; i++)
        same = same && certificate_find(present, &wanted.items[i].id) != NULL;
    *ret_wanted = wanted;
    return wanted.count > 0 && !(same && wanted.count == present->count);
}

static int add_value(struct buffer *patch, const struct certificate_bundle *wanted,
                     struct arena *arena)
{
    struct buffer pem = buffer_make(arena, 2 * CERTIFICATE_MAX_BYTES);
    struct str text = {0}, encoded = {0};

    for (size_t i = 0; i < wanted->count; i++) {
        buffer_add(&pem, wanted->items[i].pem);
        buffer_add_char(&pem, '\n');
    }
    text = buffer_text(&pem);
    if (!str_present(text) || base64_encode(text, arena, &encoded) < 0)
        return -ENOMEM;
    buffer_add_json(patch, encoded);
    return 0;
}

int self_bundle_add(const struct self_webhooks *webhooks, const struct certificate_bundle *cas,
                    int64_t now_sec, struct arena *arena, struct str *ret_patch)
{
    struct buffer patch = buffer_make(arena, MAX_PATCH_BYTES);
    bool any = false;

    /* if the object was changed since it was read, its webhooks can be in another order */
    buffer_add(&patch, STR("[{\"op\":\"test\",\"path\":\"/metadata/resourceVersion\",\"value\":"));
    buffer_add_json(&patch, webhooks->resource_version);
    buffer_add_char(&patch, '}');
    for (size_t i = 0; i < webhooks->count; i++) {
        struct certificate_bundle wanted = {0};

        if (!complete_one(&webhooks->items[i], cas, now_sec, &wanted))
            continue;
        any = true;
        buffer_add_format(
            &patch,
            ",{\"op\":\"add\",\"path\":\"/webhooks/%zu/clientConfig/caBundle\",\"value\":", i);
        if (add_value(&patch, &wanted, arena) < 0)
            return -ENOMEM;
        buffer_add_char(&patch, '}');
    }
    buffer_add_char(&patch, ']');
    *ret_patch = any ? buffer_text(&patch) : (struct str){0};
    return any && !str_present(*ret_patch) ? -ENOMEM : 0;
}

size_t self_bundle_present(const struct self_webhooks *webhooks,
                           const struct certificate_bundle *cas,
                           struct certificate_id ret_ids[static CERTIFICATE_MAX_BUNDLE])
{
    size_t count = 0;

    for (size_t i = 0; i < cas->count; i++) {
        bool everywhere = true;

        for (size_t k = 0; k < webhooks->count; k++)
            everywhere =
                everywhere && certificate_find(&webhooks->items[k], &cas->items[i].id) != NULL;
        if (everywhere)
            ret_ids[count++] = cas->items[i].id;
    }
    return count;
}
