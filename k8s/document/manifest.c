/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest - takes the Kubernetes objects out of the documents of a file, Lists opened.
 */
#include "k8s/document/manifest.h"

#include <assert.h>
#include <errno.h>

#include "k8s/document/builder.h"
#include "planner/base/tree.h"

#define LIST STR("List")

struct manifest manifest_make(struct str text, enum document_syntax syntax, struct arena *arena)
{
    return (struct manifest){
        .stream = document_stream_make(text, syntax, MANIFEST_MAX_NODES),
        .arena = arena,
        .cursor = {.line = 1},
    };
}

static void place(struct manifest *m, const cJSON *node, size_t *ret_line, size_t *ret_column)
{
    const struct document_node *n = (const struct document_node *)(const void *)node;

    *ret_column = document_advance(&m->cursor, m->stream.text, n->offset);
    *ret_line = m->cursor.line;
}

static int refuse(struct manifest *m, const cJSON *node, const char *what,
                  struct document_error *reterr)
{
    reterr->what = what;
    place(m, node, &reterr->line, &reterr->column);
    return -EBADMSG;
}

static bool ends_with_list(struct str kind)
{
    return kind.len >= LIST.len && memcmp(kind.ptr + kind.len - LIST.len, LIST.ptr, LIST.len) == 0;
}

/* A kind that ends in List is a list only where it has items: custom resources can be named so. */
static bool is_list(const cJSON *object)
{
    struct str kind = tree_get_text(object, "kind");

    return str_equal(kind, LIST) || (ends_with_list(kind) && tree_get(object, "items") != NULL);
}

static int open_list(struct manifest *m, const cJSON *list, struct document_error *reterr)
{
    const cJSON *items = tree_get(list, "items");

    if (m->depth == MANIFEST_MAX_LIST_DEPTH)
        return refuse(m, list, "Lists nested deeper than 16 levels", reterr);
    if (items != NULL && !tree_is(items, cJSON_Array))
        return refuse(m, items, "items must be a list", reterr);
    assert(m->depth < MANIFEST_MAX_LIST_DEPTH);
    m->levels[m->depth++] = (struct manifest_level){
        .list = list,
        .item = items != NULL ? items->child : NULL,
    };
    return 0;
}

/* A member of metadata whose values are texts, and its errors. */
struct text_map {
    const char *name;
    const char *not_object;
    const char *not_text;
    const char *not_quoted;
};

static int check_texts(struct manifest *m, const cJSON *metadata, const struct text_map *map,
                       struct document_error *reterr)
{
    const cJSON *texts = tree_get(metadata, map->name);

    if (texts == NULL)
        return 0;
    if (!tree_is(texts, cJSON_Object))
        return refuse(m, texts, map->not_object, reterr);
    for (const cJSON *value = texts->child; value != NULL; value = value->next) {
        if (tree_is(value, cJSON_Number) || tree_is(value, cJSON_True) ||
            tree_is(value, cJSON_False))
            return refuse(m, value, map->not_quoted, reterr);
        if (!tree_is(value, cJSON_String))
            return refuse(m, value, map->not_text, reterr);
    }
    return 0;
}

static const cJSON *object_at(const cJSON *object, const char *const *path, size_t count)
{
    for (size_t i = 0; i < count && object != NULL; i++)
        object = tree_get(object, path[i]);
    return object;
}

/* The metadata of the object, and of the pod templates in the kinds that are judged. */
static int check_metadata(struct manifest *m, const cJSON *object, struct document_error *reterr)
{
    static const struct text_map annotations = {"annotations", "annotations must be an object",
                                                "an annotation must be text",
                                                "an annotation must be text: quote it"};
    static const struct text_map labels = {"labels", "labels must be an object",
                                           "a label must be text",
                                           "a label must be text: quote it"};
    static const char *const deepest[] = {"spec", "jobTemplate", "spec", "template", "metadata"};
    static const char *const inner[] = {"spec", "template", "metadata"};
    static const char *const job[] = {"spec", "jobTemplate", "metadata"};
    static const char *const plain[] = {"template", "metadata"};
    const cJSON *all[] = {
        tree_get(object, "metadata"), object_at(object, inner, 3),   object_at(object, plain, 2),
        object_at(object, job, 3),    object_at(object, deepest, 5),
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        int r = check_texts(m, all[i], &annotations, reterr);

        if (r == 0)
            r = check_texts(m, all[i], &labels, reterr);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Adds a member whose text is not in the document; it gets the place of `from`. */
static int add_text(struct manifest *m, cJSON *object, const char *key, struct str text,
                    const cJSON *from)
{
    const struct document_node *item = (const struct document_node *)(const void *)from;
    struct document_node node = {.offset = item->offset, .key_offset = item->offset};

    node.node.type = cJSON_String | cJSON_StringIsConst;
    node.node.valuestring = arena_copy(m->arena, text);
    node.node.string = arena_copy(m->arena, str_of(key));
    if (node.node.valuestring == NULL || node.node.string == NULL)
        return -ENOMEM;
    return builder_adopt(m->arena, object, &node.node);
}

/* Gives an item of a typed list, such as PodList, its kind and apiVersion where it has no kind. */
static int complete_item(struct manifest *m, const cJSON *list, const cJSON *item,
                         const cJSON **ret_item)
{
    struct str kind = tree_get_text(list, "kind"), version = tree_get_text(list, "apiVersion");
    struct document_node *copy = NULL;
    int r = 0;

    *ret_item = item;
    if (kind.len <= LIST.len || tree_get(item, "kind") != NULL)
        return 0;
    kind.len -= LIST.len;
    copy = arena_alloc(m->arena, 1, sizeof(*copy));
    if (copy == NULL)
        return -ENOMEM;
    copy->node.type = cJSON_Object;
    copy->offset = ((const struct document_node *)(const void *)item)->offset;
    r = add_text(m, &copy->node, "kind", kind, item);
    if (r == 0 && tree_get(item, "apiVersion") == NULL && str_present(version))
        r = add_text(m, &copy->node, "apiVersion", version, item);
    for (const cJSON *member = item->child; member != NULL && r == 0; member = member->next) {
        /* a kind or apiVersion that is null counts as absent, and was added above */
        if (!tree_is(member, cJSON_NULL))
            r = builder_adopt(m->arena, &copy->node, member);
    }
    if (r == 0)
        *ret_item = &copy->node;
    return r;
}

/* The next document, or item of an open List; NULL at the end. *ret_list: the List that holds it.
 */
static int next_value(struct manifest *m, const cJSON **ret_value, const cJSON **ret_list,
                      struct document_error *reterr)
{
    struct manifest_level *level = m->depth > 0 ? &m->levels[m->depth - 1] : NULL;
    cJSON *tree = NULL;
    int r = 0;

    while (level != NULL && level->item == NULL) {
        m->depth--;
        level = m->depth > 0 ? &m->levels[m->depth - 1] : NULL;
    }
    *ret_list = level != NULL ? level->list : NULL;
    if (level != NULL) {
        *ret_value = level->item;
        level->item = level->item->next;
        return 0;
    }
    do
        r = document_next(&m->stream, m->arena, &tree, &m->document, reterr);
    while (r == 0 && tree_is(tree, cJSON_NULL));
    *ret_value = tree;
    return r;
}

/* The next object that is not a List. */
static int next_object(struct manifest *m, const cJSON **ret_object, const cJSON **ret_list,
                       struct document_error *reterr)
{
    for (;;) {
        int r = next_value(m, ret_object, ret_list, reterr);

        if (r < 0 || *ret_object == NULL)
            return r;
        if (!tree_is(*ret_object, cJSON_Object))
            return refuse(m, *ret_object, "not a Kubernetes object", reterr);
        if (!is_list(*ret_object))
            return check_metadata(m, *ret_object, reterr);
        r = open_list(m, *ret_object, reterr);
        if (r < 0)
            return r;
    }
}

int manifest_next(struct manifest *manifest, struct manifest_object *ret_object,
                  struct document_error *reterr)
{
    const cJSON *object = NULL, *list = NULL;
    struct manifest_object result = {0};
    int r = next_object(manifest, &object, &list, reterr);

    if (r < 0)
        return r;
    if (object != NULL) {
        result.tree = object;
        result.text = manifest->document;
        place(manifest, object, &result.line, &result.column);
        if (list != NULL)
            r = complete_item(manifest, list, object, &result.tree);
    }
    if (r == 0)
        *ret_object = result;
    return r;
}
