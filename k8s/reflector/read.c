/* SPDX-License-Identifier: Apache-2.0 */
/* read - reads events, items and lists, and puts their objects. */
#include <errno.h>

#include "k8s/reflector/internal.h"
#include "k8s/util/http_status.h"
#include "planner/base/tree.h"

#define INITIAL_EVENTS_END "k8s.io/initial-events-end"
#define TOO_LARGE_CAUSE "ResourceVersionTooLarge"

void reflector_set_reason(struct reflector *reflector, struct str reason)
{
    size_t len = reason.len < REFLECTOR_MAX_REASON_BYTES ? reason.len : REFLECTOR_MAX_REASON_BYTES;

    /* not in the middle of a UTF-8 character */
    while (len < reason.len && len > 0 && ((unsigned char)reason.ptr[len] & 0xC0) == 0x80)
        len--;
    if (len > 0)
        memcpy(reflector->reason, reason.ptr, len);
    reflector->reason[len] = '\0';
}

/* Sets the reason for a document that cannot be read. */
static int refuse(struct reflector *reflector, int error, struct document_error place)
{
    if (error == -EBADMSG)
        reflector_set_reason(reflector, str_of(place.what));
    if (error == -E2BIG) {
        reflector_set_reason(reflector, STR("it has too many values"));
        return -EMSGSIZE;
    }
    return error;
}

static int bad(struct reflector *reflector, const char *what)
{
    return refuse(reflector, -EBADMSG, (struct document_error){.what = what});
}

static int parse(struct str text, const struct document_shape *shape, struct arena *arena,
                 cJSON **ret_tree, struct document_error *reterr)
{
    /* members that are not used are not checked: other programs can write NUL into them, and nest
     * managedFields deeply; neither must end the watch of all objects */
    const struct document_options options = {
        .syntax = DOCUMENT_JSON, .rules = DOCUMENT_REVIEW, .shape = shape, .rest_unchecked = true};

    return document_read(text, &options, arena, ret_tree, reterr);
}

/* The result of parse(). */
static int take_tree(struct reflector *reflector, int result, struct document_error place,
                     const cJSON *tree)
{
    if (result < 0)
        return refuse(reflector, result, place);
    return tree_is(tree, cJSON_Object) ? 0 : bad(reflector, "not a JSON object");
}

static int read_tree(struct reflector *reflector, struct str text,
                     const struct document_shape *shape, struct arena *arena, cJSON **ret_tree)
{
    struct document_error place = {0};
    int r = parse(text, shape, arena, ret_tree, &place);

    return take_tree(reflector, r, place, *ret_tree);
}

/* An item of a list, or an event of a watch. *ret_cut: it has too many values, and was read again
 * without them. */
static int read_object(struct reflector *reflector, struct str text, bool is_event,
                       struct arena *arena, cJSON **ret_tree, bool *ret_cut)
{
    static const struct document_shape names[] = {
        {.key = "name"}, {.key = "namespace"}, {.key = "resourceVersion"}, {0}};
    static const struct document_shape object[] = {{.key = "metadata", .members = names}, {0}};
    static const struct document_shape event[] = {
        {.key = "type"}, {.key = "object", .members = object}, {0}};
    struct document_error place = {0};
    int r = parse(text, is_event ? reflector->event : reflector->object, arena, ret_tree, &place);

    *ret_cut = r == -E2BIG && reflector->options.take_cut;
    if (*ret_cut) {
        arena_release(arena);
        r = parse(text, is_event ? event : object, arena, ret_tree, &place);
    }
    return take_tree(reflector, r, place, *ret_tree);
}

static bool copy_version(struct str version, char ret_version[REFLECTOR_MAX_VERSION_BYTES + 1])
{
    if (version.len == 0 || version.len > REFLECTOR_MAX_VERSION_BYTES)
        return false;
    memcpy(ret_version, version.ptr, version.len);
    ret_version[version.len] = '\0';
    return true;
}

static int take_object(struct reflector *reflector, const cJSON *tree, bool cut,
                       struct reflector_object *ret_object)
{
    const cJSON *metadata = tree_get(tree, "metadata");
    const struct reflector_object object = {
        .namespace_name = tree_get_text(metadata, "namespace"),
        .name = tree_get_text(metadata, "name"),
        .resource_version = tree_get_text(metadata, "resourceVersion"),
        .tree = tree,
        .cut = cut,
    };

    if (object.name.len == 0)
        return bad(reflector, "an object without metadata.name");
    if (object.resource_version.len == 0 ||
        object.resource_version.len > REFLECTOR_MAX_VERSION_BYTES)
        return bad(reflector, "an object whose metadata.resourceVersion is missing or too long");
    *ret_object = object;
    if (!str_present(object.namespace_name))
        ret_object->namespace_name = STR("");
    return 0;
}

int reflector_read_item(struct reflector *reflector, struct str item,
                        struct reflector_change change)
{
    cleanup_arena struct arena arena = {0};
    struct reflector_object object = {0};
    cJSON *tree = NULL;
    bool cut = false;
    int r = read_object(reflector, item, false, &arena, &tree, &cut);

    if (r == 0)
        r = take_object(reflector, tree, cut, &object);
    if (r < 0)
        return r;
    return reflector_known_put(&reflector->known, &reflector->options.sink, &object, change);
}

int reflector_read_head(struct reflector *reflector, struct str head, struct arena *arena,
                        struct reflector_head *ret_head)
{
    static const struct document_shape metadata_shape[] = {
        {.key = "resourceVersion"}, {.key = "continue"}, {0}};
    static const struct document_shape shape[] = {
        {.key = "metadata", .members = metadata_shape}, {.key = "items"}, {0}};
    cJSON *tree = NULL;
    const cJSON *metadata = NULL;
    const cJSON *items = NULL;
    int r = read_tree(reflector, head, shape, arena, &tree);

    if (r < 0)
        return r;
    metadata = tree_get(tree, "metadata");
    if (!copy_version(tree_get_text(metadata, "resourceVersion"), ret_head->version))
        return bad(reflector, "a list whose metadata.resourceVersion is missing or too long");
    items = tree_member(tree, "items");
    ret_head->has_items = tree_is(items, cJSON_Array) || tree_is(items, cJSON_NULL);
    ret_head->token = tree_get_text(metadata, "continue");
    if (ret_head->token.len > REFLECTOR_MAX_TOKEN_BYTES)
        return bad(reflector, "a list whose metadata.continue is too long");
    return 0;
}

bool reflector_read_status(struct reflector *reflector, struct str body)
{
    static const struct document_shape causes[] = {{.key = "*", .whole = true}, {0}};
    static const struct document_shape details[] = {{.key = "causes", .members = causes}, {0}};
    static const struct document_shape shape[] = {
        {.key = "message"}, {.key = "details", .members = details}, {0}};
    cleanup_arena struct arena arena = {0};
    const struct document_options options = {
        .syntax = DOCUMENT_JSON, .rules = DOCUMENT_REVIEW, .shape = shape};
    struct document_error place = {0};
    const cJSON *cause = NULL;
    cJSON *tree = NULL;

    /* a body that is not a Status, or is incomplete, gives no reason */
    if (body.len == 0 || document_read(body, &options, &arena, &tree, &place) < 0)
        return false;
    reflector_set_reason(reflector, tree_get_text(tree, "message"));
    cJSON_ArrayForEach(cause, tree_get(tree_get(tree, "details"), "causes"))
    {
        if (str_equal(tree_get_text(cause, "reason"), STR(TOO_LARGE_CAUSE)))
            return true;
    }
    return false;
}

/* The server ended the watch. */
static int take_error(struct reflector *reflector, const cJSON *status)
{
    const cJSON *code = tree_get(status, "code");
    struct str reason = tree_get_text(status, "reason");

    reflector_set_reason(reflector, tree_get_text(status, "message"));
    reflector->call.error_code = HTTP_INTERNAL_ERROR;
    if (tree_is(code, cJSON_Number) && code->valuedouble >= 100 && code->valuedouble < 1000)
        reflector->call.error_code = (int)code->valuedouble;
    if (str_equal(reason, STR("Expired")) || str_equal(reason, STR("Gone")))
        reflector->call.error_code = HTTP_GONE;
    return -EREMOTEIO;
}

static int take_bookmark(struct reflector *reflector, const cJSON *tree,
                         struct reflector_line *ret_line)
{
    const cJSON *metadata = tree_get(tree, "metadata");
    struct reflector_line line = {0};

    if (!copy_version(tree_get_text(metadata, "resourceVersion"), line.version))
        return bad(reflector, "a bookmark whose metadata.resourceVersion is missing or too long");
    if (reflector->call.initial_events)
        line.ends_list = str_equal(
            tree_get_text(tree_get(metadata, "annotations"), INITIAL_EVENTS_END), STR("true"));
    else
        memcpy(reflector->version, line.version, sizeof(line.version));
    *ret_line = line;
    return 0;
}

static int take_change(struct reflector *reflector, const cJSON *tree, bool cut, bool is_deleted)
{
    struct reflector_change change = {.source = REFLECTOR_BY_WATCH};
    struct reflector_object object = {0};
    int r = take_object(reflector, tree, cut, &object);

    if (r < 0)
        return r;
    if (reflector->call.initial_events)
        change = reflector->listing.change;
    if (is_deleted)
        reflector_known_drop(&reflector->known, &reflector->options.sink, &object);
    else
        r = reflector_known_put(&reflector->known, &reflector->options.sink, &object, change);
    /* only after success, so that an event that failed is requested again */
    if (r == 0 && !reflector->call.initial_events)
        (void)copy_version(object.resource_version, reflector->version);
    return r;
}

int reflector_read_line(struct reflector *reflector, struct str line,
                        struct reflector_line *ret_line)
{
    cleanup_arena struct arena arena = {0};
    const cJSON *object = NULL;
    cJSON *tree = NULL;
    struct str type = {0};
    bool cut = false;
    int r = 0;

    *ret_line = (struct reflector_line){0};
    if (str_trim(line).len == 0)
        return 0;
    r = read_object(reflector, line, true, &arena, &tree, &cut);
    if (r < 0)
        return r;
    type = tree_get_text(tree, "type");
    if (type.len == 0) /* a Status, or a list in response to a watch */
        return bad(reflector, "the response is not a watch event");
    object = tree_get(tree, "object");
    if (str_equal(type, STR("ERROR")))
        return take_error(reflector, object);
    if (str_equal(type, STR("ADDED")) || str_equal(type, STR("MODIFIED")))
        r = take_change(reflector, object, cut, false);
    else if (str_equal(type, STR("DELETED")))
        r = take_change(reflector, object, cut, true);
    else if (str_equal(type, STR("BOOKMARK")))
        r = take_bookmark(reflector, object, ret_line);
    ret_line->is_event = r == 0;
    return r;
}
