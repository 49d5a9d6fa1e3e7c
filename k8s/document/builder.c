/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder - makes the nodes of a tree, and decides by the shape which values become nodes.
 *
 * Most of a review is not kept. Skipped values cost no allocation.
 */
#include "k8s/document/builder.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "k8s/document/json_text.h"
#include "planner/base/tree.h"

void builder_init(struct builder *b, const struct document_options *options, struct arena *arena)
{
    b->arena = arena;
    b->nodes_left = options->max_nodes != 0 ? options->max_nodes : DOCUMENT_MAX_NODES;
    b->apart_left =
        options->max_apart_nodes != 0 ? options->max_apart_nodes : DOCUMENT_MAX_APART_NODES;
    b->root = NULL;
    b->added = NULL;
    b->next = (struct build_rule){.keep = options->shape != NULL ? BUILD_MEMBERS : BUILD_WHOLE,
                                  .members = options->shape};
    b->key = NULL;
    b->key_offset = 0;
    b->depth = 0;
    b->digest = NULL;
}

static bool matches_any(const struct document_shape *row)
{
    return row->key[0] == '*' && row->key[1] == '\0';
}

/* outer: the rule of the object or list that has the value. */
static struct build_rule rule_of(const struct document_shape *row, struct build_rule outer)
{
    enum build_keep keep = row->members != NULL ? BUILD_MEMBERS : BUILD_SCALAR;

    return (struct build_rule){.keep = row->whole ? BUILD_WHOLE : keep,
                               .members = row->members,
                               .key = matches_any(row) ? NULL : row->key,
                               .apart = row->apart || outer.apart,
                               .digest = row->digest};
}

struct build_rule builder_rule(const struct builder *b, struct str raw, bool escaped)
{
    struct build_rule inside = b->levels[b->depth - 1].inside;
    char first = raw.len > 0 ? raw.ptr[0] : '\0';

    assert(b->depth > 0 && inside.keep >= BUILD_MEMBERS);
    if (inside.keep == BUILD_WHOLE)
        return (struct build_rule){.keep = BUILD_WHOLE, .apart = inside.apart};
    for (const struct document_shape *row = inside.members; row->key != NULL; row++) {
        /* tables are long, and few names begin with the same byte */
        if (row->key[0] != first && row->key[0] != '*' && !escaped)
            continue;
        if (matches_any(row) || json_text_equals(raw, escaped, row->key))
            return rule_of(row, inside);
    }
    return (struct build_rule){0};
}

/* The rule for the items of a list that has the rule `list`. */
static struct build_rule rule_of_items(struct build_rule list)
{
    if (list.keep == BUILD_WHOLE)
        return list;
    if (list.keep == BUILD_MEMBERS) {
        for (const struct document_shape *row = list.members; row->key != NULL; row++) {
            if (matches_any(row))
                return rule_of(row, list);
        }
    }
    return (struct build_rule){0};
}

/* As in cJSON's own lists: the `prev` of the first child is the last child. */
static void append(cJSON *parent, cJSON *node)
{
    cJSON *first = parent->child;

    if (first == NULL) {
        parent->child = first = node;
    } else {
        node->prev = first->prev;
        first->prev->next = node;
    }
    first->prev = node;
}

/* Adds a node for the next value to the tree; *ret_node is NULL where the value is skipped. */
static int add_node(struct builder *b, int type, uint32_t offset, struct document_node **ret_node)
{
    struct document_node *parent = b->depth > 0 ? b->levels[b->depth - 1].node : NULL;
    struct document_node *node = NULL;
    size_t *left = b->next.apart ? &b->apart_left : &b->nodes_left;

    *ret_node = NULL;
    if (b->next.keep == BUILD_SKIP)
        return 0;
    if (*left == 0)
        return -E2BIG;
    node = arena_alloc(b->arena, 1, sizeof(*node));
    if (node == NULL)
        return -ENOMEM;
    (*left)--;
    b->added = &node->node;
    node->node.type = b->key != NULL ? type | cJSON_StringIsConst : type;
    node->node.string = b->key;
    node->key_offset = b->key_offset;
    node->offset = offset;
    if (parent != NULL)
        append(&parent->node, &node->node);
    else
        b->root = &node->node;
    *ret_node = node;
    return 0;
}

int builder_scalar(struct builder *b, int type, char *text, double number, uint32_t offset)
{
    static char nothing[] = "";
    struct document_node *node = NULL;
    int r = add_node(b, type, offset, &node);

    if (r == 0 && node != NULL) {
        node->node.valuestring = text == NULL && type == cJSON_String ? nothing : text;
        node->node.valuedouble = number;
    }
    return r;
}

/* The digest of an object or list is where a string has its text. */
static int begin_digest(struct builder *b, struct document_node *node)
{
    struct value_digest *digest = arena_alloc(b->arena, 1, sizeof(*digest));
    int r = digest != NULL ? value_digest_begin(digest) : -ENOMEM;

    if (r < 0)
        return r;
    node->node.valuestring = arena_alloc_text(b->arena, DOCUMENT_DIGEST_BYTES);
    if (node->node.valuestring == NULL)
        return -ENOMEM;
    b->result = (unsigned char *)node->node.valuestring;
    b->digest_depth = b->depth;
    b->digest = digest;
    return 0;
}

void builder_close_digest(struct builder *b)
{
    value_digest_close(b->digest, b->levels[b->depth].is_list);
    if (b->depth > b->digest_depth)
        return;
    value_digest_end(b->digest, b->result);
    b->digest = NULL;
}

bool document_digest(const cJSON *node, unsigned char ret_digest[static DOCUMENT_DIGEST_BYTES])
{
    if ((!tree_is(node, cJSON_Object) && !tree_is(node, cJSON_Array)) || node->valuestring == NULL)
        return false;
    memcpy(ret_digest, node->valuestring, DOCUMENT_DIGEST_BYTES);
    return true;
}

int builder_open_kept(struct builder *b, bool is_list, uint32_t offset)
{
    struct document_node *node = NULL;
    int r = add_node(b, is_list ? cJSON_Array : cJSON_Object, offset, &node);
    struct build_level *level = &b->levels[b->depth];

    assert(r < 0 || node != NULL); /* the value is kept */
    if (r == 0 && b->next.digest && b->digest == NULL)
        r = begin_digest(b, node);
    if (r < 0)
        return r;
    level->node = node;
    level->is_list = is_list;
    level->inside = is_list ? rule_of_items(b->next) : b->next;
    b->depth++;
    return 0;
}

/* Gives a node the value of another one; the children are shared, not copied. */
static void share(cJSON *node, const cJSON *from)
{
    node->child = from->child;
    node->valuestring = from->valuestring;
    node->valuedouble = from->valuedouble;
}

int builder_borrow(struct builder *b, const cJSON *node, size_t weight, uint32_t offset)
{
    struct document_node *added = NULL;
    int r = 0;

    assert(weight > 0);
    if (weight > b->nodes_left)
        return -E2BIG;
    r = add_node(b, node->type & 0xFF, offset, &added);
    if (r < 0 || added == NULL)
        return r;
    share(&added->node, node);
    b->nodes_left -= weight - 1;
    return 0;
}

int builder_adopt(struct arena *arena, cJSON *object, const cJSON *member)
{
    const struct document_node *from = (const struct document_node *)(const void *)member;
    struct document_node *added = arena_alloc(arena, 1, sizeof(*added));

    if (added == NULL)
        return -ENOMEM;
    added->node.type = member->type;
    added->node.string = member->string;
    added->key_offset = from->key_offset;
    added->offset = from->offset;
    share(&added->node, member);
    append(object, &added->node);
    return 0;
}

cJSON *builder_last_child(const struct builder *b)
{
    const struct document_node *node = b->levels[b->depth - 1].node;

    return node != NULL && node->node.child != NULL ? node->node.child->prev : NULL;
}
