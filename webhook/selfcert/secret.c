/* SPDX-License-Identifier: Apache-2.0 */
/* secret - reads the Secret, and writes it as a patch with new certificates. See secret.h. */

#include "webhook/selfcert/secret.h"

#include <assert.h>
#include <errno.h>

#include "k8s/document/document.h"
#include "k8s/util/base64.h"
#include "planner/base/buffer.h"
#include "planner/base/tree.h"

#define DAY_SEC INT64_C(86400)
#define MAX_PATCH_BYTES ((size_t)1 << 20)

static const struct document_shape shape_metadata[] = {{.key = "resourceVersion"}, {0}};
static const struct document_shape shape_data[] = {
    {.key = "ca.crt"},  {.key = "ca.key"},  {.key = "next-ca.key"},
    {.key = "tls.crt"}, {.key = "tls.key"}, {0},
};
static const struct document_shape shape_secret[] = {
    {.key = "kind"},
    {.key = "metadata", .members = shape_metadata},
    {.key = "data", .members = shape_data},
    {0},
};

/* Only the first reason is kept: the others can be a consequence of it. */
static void note_unusable(struct self_secret *secret, const char *reason)
{
    if (secret->unusable == NULL)
        secret->unusable = reason;
}

/* A value of data; empty where it is missing or cannot be read. */
static int read_value(const cJSON *data, const char *key, struct arena *arena,
                      struct str *ret_value, struct self_secret *secret)
{
    struct str text = tree_get_text(data, key);
    unsigned char *bytes = NULL;
    size_t length = 0, capacity = 0;

    *ret_value = STR("");
    if (text.len == 0)
        return 0;
    capacity = text.len < CERTIFICATE_MAX_BYTES ? text.len : CERTIFICATE_MAX_BYTES;
    bytes = arena_alloc(arena, capacity, 1);
    if (bytes == NULL)
        return -ENOMEM;
    if (base64_decode(text, capacity, bytes, &length) < 0) {
        note_unusable(secret, "a value is not base64, or holds more than 64 KiB");
        return 0;
    }
    *ret_value = (struct str){.ptr = (const char *)bytes, .len = length};
    return 0;
}

/* The CA that the key belongs to; no CA where there is no key. */
static void find_ca(const struct certificate_bundle *cas, struct str key,
                    struct certificate *ret_ca, struct self_secret *secret)
{
    for (size_t i = 0; key.len > 0 && i < cas->count; i++) {
        if (!cas->items[i].is_ca || !certificate_has_key(cas->items[i].pem, key))
            continue;
        *ret_ca = cas->items[i];
        return;
    }
    if (key.len > 0)
        note_unusable(secret, "the key of a CA belongs to no certificate in ca.crt");
}

static int read_serving(struct self_secret *secret, struct str text, struct arena *arena)
{
    struct certificate_bundle chain = {0};
    int r = certificate_read_bundle(text, arena, &chain);

    if (r < 0)
        return r;
    if (chain.count == 0 || !certificate_has_key(chain.items[0].pem, secret->serving_key)) {
        if (text.len > 0 || secret->serving_key.len > 0)
            note_unusable(secret, "tls.crt is not a certificate, or tls.key is not its key");
        return 0;
    }
    secret->serving = chain.items[0];
    for (size_t i = 0; i < secret->cas.count && !secret->serving_trusted; i++) {
        if (!secret->cas.items[i].is_ca ||
            !certificate_is_signed(secret->serving.pem, secret->cas.items[i].pem))
            continue;
        secret->serving_trusted = true;
        secret->serving_ca = secret->cas.items[i].id;
    }
    return 0;
}

static int read_data(struct self_secret *secret, const cJSON *data, struct arena *arena)
{
    struct str cas = {0}, serving = {0};
    int r = read_value(data, "ca.crt", arena, &cas, secret);

    if (r == 0)
        r = read_value(data, "ca.key", arena, &secret->ca_key, secret);
    if (r == 0)
        r = read_value(data, "next-ca.key", arena, &secret->next_key, secret);
    if (r == 0)
        r = read_value(data, "tls.crt", arena, &serving, secret);
    if (r == 0)
        r = read_value(data, "tls.key", arena, &secret->serving_key, secret);
    if (r == 0)
        r = certificate_read_bundle(cas, arena, &secret->cas);
    if (r < 0)
        return r;
    if (cas.len > 0 && secret->cas.flawed)
        note_unusable(secret, "ca.crt contains something other than certificates, or a duplicate");
    find_ca(&secret->cas, secret->ca_key, &secret->ca, secret);
    find_ca(&secret->cas, secret->next_key, &secret->next, secret);
    return read_serving(secret, serving, arena);
}

int self_secret_read(struct str json, struct arena *arena, struct self_secret *ret_secret)
{
    const struct document_options options = {
        .syntax = DOCUMENT_JSON, .rules = DOCUMENT_REVIEW, .shape = shape_secret};
    struct document_error error = {0};
    struct self_secret secret = {0};
    cJSON *tree = NULL;
    int r = document_read(json, &options, arena, &tree, &error);

    if (r == -ENOMEM)
        return r;
    if (r < 0 || !str_equal(tree_get_text(tree, "kind"), STR("Secret")))
        return -EBADMSG;
    secret.resource_version = tree_get_text(tree_get(tree, "metadata"), "resourceVersion");
    if (secret.resource_version.len == 0)
        return -EBADMSG;
    r = read_data(&secret, tree_get(tree, "data"), arena);
    if (r == 0)
        *ret_secret = secret;
    return r;
}

static struct self_validity span_of(const struct certificate *certificate)
{
    return (struct self_validity){.from_sec = certificate->from_sec, .to_sec = certificate->to_sec};
}

static bool is_former(const struct self_secret *secret, const struct certificate *one)
{
    return !certificate_same(&one->id, &secret->ca.id) &&
           !certificate_same(&one->id, &secret->next.id);
}

static bool has_name(const struct str_list *names, struct str wanted)
{
    for (size_t i = 0; i < names->count; i++)
        if (str_equal(names->items[i], wanted))
            return true;
    return false;
}

struct self_facts self_secret_facts(const struct self_secret *secret, const struct str_list *names,
                                    int64_t now_sec)
{
    struct self_facts facts = {
        .ca = span_of(&secret->ca),
        .next = span_of(&secret->next),
        .serving = span_of(&secret->serving),
        .serving_by_ca =
            secret->serving_trusted && certificate_same(&secret->serving_ca, &secret->ca.id),
        .serving_named = true,
    };

    for (size_t i = 0; i < names->count; i++)
        facts.serving_named &= has_name(&secret->serving.names, names->items[i]);
    for (size_t i = 0; i < secret->cas.count; i++)
        facts.old_ended |= is_former(secret, &secret->cas.items[i]) &&
                           secret->cas.items[i].to_sec + DAY_SEC < now_sec;
    return facts;
}

/* The new content of the Secret. */
struct content {
    struct certificate_pair ca;
    struct certificate_pair next;
    struct certificate_pair serving;
    struct buffer cas;
};

/* The names of the configuration, and those that a valid certificate has already: while replicas
 * with two configurations run during an update, one certificate serves both. */
static int all_names(const struct self_secret *secret, const struct str_list *wanted,
                     int64_t now_sec, struct arena *arena, struct str_list *ret_names)
{
    struct str *names =
        arena_alloc(arena, wanted->count + secret->serving.names.count, sizeof(*names));
    struct str_list all = {.items = names, .count = 0};
    struct self_facts facts = self_secret_facts(secret, wanted, now_sec);

    if (names == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < wanted->count; i++)
        names[all.count++] = wanted->items[i];
    for (size_t i = 0; i < secret->serving.names.count && !facts.serving_named &&
                       self_is_valid(facts.serving, now_sec) && all.count < CERTIFICATE_MAX_NAMES;
         i++)
        if (!has_name(&all, secret->serving.names.items[i]))
            names[all.count++] = secret->serving.names.items[i];
    *ret_names = all;
    return 0;
}

static int make_content(struct content *content, const struct self_secret *secret, unsigned steps,
                        const struct config_self *settings, int64_t now_sec, struct arena *arena)
{
    struct str_list names = {0};
    int r = 0;

    content->ca = (struct certificate_pair){secret->ca.pem, secret->ca_key};
    content->next = (struct certificate_pair){secret->next.pem, secret->next_key};
    content->serving = (struct certificate_pair){secret->serving.pem, secret->serving_key};
    if (!self_is_valid(span_of(&secret->next), now_sec))
        content->next = (struct certificate_pair){0};
    if ((steps & SELF_PROMOTE) != 0) {
        content->ca = content->next;
        content->next = (struct certificate_pair){0};
    }
    if ((steps & SELF_MAKE_CA) != 0)
        r = certificate_make_ca(now_sec, settings->ca_days, arena, &content->ca);
    if (r == 0 && (steps & SELF_MAKE_NEXT) != 0)
        r = certificate_make_ca(now_sec, settings->ca_days, arena, &content->next);
    if (r == 0 && (steps & SELF_MAKE_SERVING) != 0)
        r = all_names(secret, &settings->dns_names, now_sec, arena, &names);
    if (r == 0 && (steps & SELF_MAKE_SERVING) != 0)
        r = certificate_make_serving(&content->ca, &names, now_sec, settings->certificate_days,
                                     arena, &content->serving);
    return r == -EBADMSG ? -EIO : r;
}

static void add_pem(struct buffer *cas, struct str pem)
{
    buffer_add(cas, pem);
    if (pem.len > 0 && pem.ptr[pem.len - 1] != '\n')
        buffer_add_char(cas, '\n');
}

/* The CA that signs, then the next one, then the former ones, the newest first. */
static void list_cas(struct content *content, const struct self_secret *secret, int64_t now_sec)
{
    size_t count = 2;

    add_pem(&content->cas, content->ca.certificate);
    add_pem(&content->cas, content->next.certificate);
    for (size_t i = 0; i < secret->cas.count && count < SELF_MAX_CAS; i++) {
        struct str pem = secret->cas.items[i].pem;

        if (secret->cas.items[i].to_sec + DAY_SEC < now_sec ||
            str_equal(pem, str_trim(content->ca.certificate)) ||
            str_equal(pem, str_trim(content->next.certificate)))
            continue;
        add_pem(&content->cas, pem);
        count++;
    }
}

static int add_value(struct buffer *patch, const char *key, struct str value, struct arena *arena)
{
    struct str text = {0};

    if (!str_present(value) || value.len == 0) {
        buffer_add_format(patch, "\"%s\":null", key);
        return 0;
    }
    if (base64_encode(value, arena, &text) < 0)
        return -ENOMEM;
    buffer_add_format(patch, "\"%s\":\"", key);
    buffer_add(patch, text);
    buffer_add_char(patch, '"');
    return 0;
}

static int write_patch(const struct content *content, struct str cas,
                       const struct self_secret *secret, struct arena *arena, struct str *ret_patch)
{
    const struct {
        const char *key;
        struct str value;
    } values[] = {
        {"ca.crt", cas},
        {"ca.key", content->ca.key},
        {"next-ca.key", content->next.key},
        {"tls.crt", content->serving.certificate},
        {"tls.key", content->serving.key},
    };
    struct buffer patch = buffer_make(arena, MAX_PATCH_BYTES);

    buffer_add(&patch, STR("{\"metadata\":{\"resourceVersion\":"));
    buffer_add_json(&patch, secret->resource_version);
    buffer_add(&patch, STR("},\"data\":{"));
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        if (i > 0)
            buffer_add_char(&patch, ',');
        if (add_value(&patch, values[i].key, values[i].value, arena) < 0)
            return -ENOMEM;
    }
    buffer_add(&patch, STR("}}"));
    *ret_patch = buffer_text(&patch);
    return str_present(*ret_patch) ? 0 : -ENOMEM;
}

int self_secret_change(const struct self_secret *secret, unsigned steps,
                       const struct config_self *settings, int64_t now_sec, struct arena *arena,
                       struct str *ret_patch)
{
    struct content content = {.cas = buffer_make(arena, MAX_PATCH_BYTES)};
    struct str cas = {0};
    int r = 0;

    assert(steps != 0);
    r = make_content(&content, secret, steps, settings, now_sec, arena);

    if (r < 0)
        return r;
    list_cas(&content, secret, now_sec);
    cas = buffer_text(&content.cas);
    if (!str_present(cas))
        return -ENOMEM;
    return write_patch(&content, cas, secret, arena, ret_patch);
}
