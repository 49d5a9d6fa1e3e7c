/* SPDX-License-Identifier: Apache-2.0 */
/* reflector_site - one reflector with a sink and a clock, for tests of the reflector. */
#include "tests/k8s/reflector_site.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "planner/base/buffer.h"
#include "planner/base/tree.h"

#define SITE_BEGIN_MSEC 1000000
#define SITE_MAX_SHOWN 128

struct reflector_site rsite;

static const struct document_shape data_shape[] = {{.key = "v"}, {0}};
static const struct document_shape metadata_shape[] = {{.key = "name"},
                                                       {.key = "namespace"},
                                                       {.key = "resourceVersion"},
                                                       {.key = "annotations", .whole = true},
                                                       {0}};
const struct document_shape rsite_shape[] = {
    {.key = "metadata", .members = metadata_shape}, {.key = "data", .members = data_shape}, {0}};

static int put(void *context, const struct reflector_object *object, void **value)
{
    struct reflector_site *site = context;
    struct str v = tree_get_text(tree_get(object->tree, "data"), "v");
    char *copy = NULL;

    if (object->cut)
        v = STR("(cut)");
    if (site->put_result < 0)
        return site->put_result;
    copy = strndup(v.len > 0 ? v.ptr : "", v.len);
    cr_assert_not_null(copy);
    free(*value);
    *value = copy;
    site->puts++;
    return 0;
}

static void drop(void *context, void *value)
{
    struct reflector_site *site = context;

    site->drops++;
    free(value);
}

void rsite_begin_with(const struct reflector_options *options)
{
    struct reflector_options full = *options;

    rsite = (struct reflector_site){.now_msec = SITE_BEGIN_MSEC};
    full.members = rsite_shape;
    full.sink = (struct reflector_sink){.context = &rsite, .put = put, .drop = drop};
    full.seed = 7;
    cr_assert_eq(reflector_new(&full, &rsite.reflector), 0);
}

void rsite_begin(void)
{
    const struct reflector_options options = {.path = STR("/api/v1/configmaps"),
                                              .selector = STR("labelSelector=x%3Dtrue")};

    rsite_begin_with(&options);
}

void rsite_done(void)
{
    reflector_free(rsite.reflector);
    arena_release(&rsite.arena);
}

struct shown {
    char *items[SITE_MAX_SHOWN];
    size_t count;
    bool with_namespace;
};

static int show(void *context, struct str namespace_name, struct str name, void **value)
{
    struct shown *shown = context;
    struct str text = arena_format(&rsite.arena, "%.*s%s%.*s=%s",
                                   shown->with_namespace ? (int)namespace_name.len : 0,
                                   namespace_name.ptr, shown->with_namespace ? "/" : "",
                                   (int)name.len, name.ptr, (const char *)*value);

    cr_assert(shown->count < SITE_MAX_SHOWN);
    shown->items[shown->count++] = arena_copy(&rsite.arena, text);
    return 0;
}

static int find_other(void *context, struct str namespace_name, struct str name, void **value)
{
    struct str *first = context;

    (void)name;
    (void)value;
    if (!str_present(*first))
        *first = namespace_name;
    return str_equal(*first, namespace_name) ? 0 : 1;
}

static int order(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *rsite_store(void)
{
    struct shown shown = {0};
    struct str first = {0};
    struct buffer b = buffer_make(&rsite.arena, 1 << 20);

    shown.with_namespace = reflector_each(rsite.reflector, find_other, &first) == 1;
    cr_assert_eq(reflector_each(rsite.reflector, show, &shown), 0);
    if (shown.count > 0)
        qsort(shown.items, shown.count, sizeof(shown.items[0]), order);
    for (size_t i = 0; i < shown.count; i++)
        buffer_add_format(&b, "%s%s", i > 0 ? " " : "", shown.items[i]);
    buffer_add(&b, STR(""));
    return shown.count > 0 ? buffer_text(&b).ptr : "";
}

/* The value of a query parameter. Absent if the query does not have it. */
static struct str parameter(const char *name)
{
    const char *at = rsite.task.path.ptr;
    size_t len = strlen(name);

    cr_assert_not_null(at);
    while ((at = strpbrk(at, "?&")) != NULL) {
        at++;
        if (strncmp(at, name, len) == 0 && at[len] == '=')
            return (struct str){.ptr = at + len + 1, .len = strcspn(at + len + 1, "&")};
    }
    return (struct str){0};
}

const char *rsite_next(void)
{
    struct str version = {0};
    struct str token = {0};
    struct buffer b = buffer_make(&rsite.arena, 4096);

    cr_assert_eq(reflector_next(rsite.reflector, rsite.now_msec, &rsite.task), 0);
    cr_assert_eq(strlen(rsite.task.path.ptr), rsite.task.path.len);
    version = parameter("resourceVersion");
    token = parameter("continue");
    buffer_add(&b, rsite.task.step == REFLECTOR_LIST ? STR("list") : STR("watch"));
    if (str_present(parameter("sendInitialEvents")))
        buffer_add(&b, STR(" initial"));
    if (str_present(version))
        buffer_add_format(&b, " %.*s", (int)version.len, version.ptr);
    if (str_present(token))
        buffer_add_format(&b, " %.*s", (int)token.len, token.ptr);
    if (rsite.task.step == REFLECTOR_LIST && !str_present(parameter("limit")))
        buffer_add(&b, STR(" whole"));
    if (rsite.task.pause_msec > 0)
        buffer_add(&b, STR(" paused"));
    return buffer_text(&b).ptr;
}

int rsite_bytes(struct str bytes)
{
    return reflector_bytes(rsite.reflector, bytes, rsite.now_msec);
}

void rsite_answer_pieces(struct str bytes, size_t piece)
{
    (void)rsite_next();
    rsite.now_msec += rsite.task.pause_msec;
    for (size_t at = 0; at < bytes.len; at += piece) {
        size_t len = bytes.len - at < piece ? bytes.len - at : piece;
        int r = rsite_bytes((struct str){.ptr = bytes.ptr + at, .len = len});

        if (r < 0) {
            reflector_failed(rsite.reflector, 0, STR(""), 0, rsite.now_msec);
            return;
        }
    }
    if (reflector_ended(rsite.reflector, rsite.now_msec) < 0)
        reflector_failed(rsite.reflector, 0, STR(""), 0, rsite.now_msec);
}

void rsite_answer(struct str bytes)
{
    rsite_answer_pieces(bytes, bytes.len > 0 ? bytes.len : 1);
}

void rsite_fail(int status, const char *body, uint32_t retry_after_sec)
{
    (void)rsite_next();
    rsite.now_msec += rsite.task.pause_msec;
    reflector_failed(rsite.reflector, status, str_of(body), retry_after_sec, rsite.now_msec);
}

/* `namespace/name=version:v` or `name=version:v`. */
static void add_object(struct buffer *b, const char *item, size_t len)
{
    const char *slash = memchr(item, '/', len);
    const char *name = slash != NULL ? slash + 1 : item;
    const char *equals = memchr(item, '=', len);
    const char *colon = memchr(item, ':', len);

    cr_assert(equals != NULL && colon != NULL);
    buffer_add_format(b, "{\"metadata\":{\"name\":\"%.*s\",\"namespace\":\"%.*s\",",
                      (int)(equals - name), name, slash != NULL ? (int)(slash - item) : 1,
                      slash != NULL ? item : "n");
    buffer_add_format(b, "\"resourceVersion\":\"%.*s\"},\"data\":{\"v\":\"%.*s\"}}",
                      (int)(colon - equals - 1), equals + 1, (int)(item + len - colon - 1),
                      colon + 1);
}

struct str rsite_list(const char *version, const char *token, const char *items)
{
    struct buffer b = buffer_make(&rsite.arena, 1 << 24);
    const char *at = items;

    buffer_add_format(&b,
                      "{\"kind\":\"ConfigMapList\",\"metadata\":{\"resourceVersion\":\"%s\","
                      "\"continue\":\"%s\"},\"items\":[",
                      version, token);
    while (*at != '\0') {
        size_t len = strcspn(at, " ");

        if (at != items)
            buffer_add(&b, STR(","));
        add_object(&b, at, len);
        at += len;
        at += *at == ' ';
    }
    buffer_add(&b, STR("]}\n"));
    return buffer_text(&b);
}

struct str rsite_event(const char *type, const char *item)
{
    struct buffer b = buffer_make(&rsite.arena, 1 << 24);

    buffer_add_format(&b, "{\"type\":\"%s\",\"object\":", type);
    if (strcmp(type, "BOOKMARK") == 0)
        buffer_add_format(&b, "{\"metadata\":{\"resourceVersion\":\"%s\"}}", item);
    else
        add_object(&b, item, strlen(item));
    buffer_add(&b, STR("}\n"));
    return buffer_text(&b);
}

void rsite_listed(void)
{
    rsite_answer(rsite_list("100", "", "a=90:1 b=91:1"));
    cr_assert_str_eq(rsite_store(), "a=1 b=1");
}

void rsite_watching(void)
{
    rsite_listed();
    cr_assert_str_eq(rsite_next(), "watch 100");
    rsite.now_msec += 5000;
}

void rsite_send(const char *type, const char *item)
{
    cr_assert_eq(rsite_bytes(rsite_event(type, item)), 0);
}

void rsite_end(void)
{
    cr_assert_eq(reflector_ended(rsite.reflector, rsite.now_msec), 0);
}

void rsite_fail_with(int status)
{
    reflector_failed(rsite.reflector, status, STR(""), 0, rsite.now_msec);
}
