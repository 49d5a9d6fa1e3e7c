/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_DOCUMENT_BUILDER_H
#define K8S_DOCUMENT_BUILDER_H

/*
 * builder - the tree of a document, made as its parts come, kept where the shape says so.
 *
 * Both readers drive it: for a member builder_key(), for an item builder_item(), then one of
 * builder_scalar() or builder_open() … builder_close(). builder_keeps() says whether the value
 * that comes next is kept; for one that is not, builder_scalar() need not be called.
 *
 * Errors     0; -ENOMEM; -E2BIG one node more than may be.
 */

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "k8s/document/document.h"

enum build_keep {
    BUILD_SKIP = 0,
    BUILD_SCALAR,  /* itself, nothing inside */
    BUILD_MEMBERS, /* what the table names */
    BUILD_WHOLE,
};

struct build_rule {
    enum build_keep keep;
    const struct document_shape *members; /* BUILD_MEMBERS */
};

struct build_level {
    struct document_node *node; /* NULL: left behind */
    struct build_rule inside;
    bool is_list;
};

struct builder {
    struct arena *arena; /* borrowed */
    size_t nodes_left;
    cJSON *root;
    cJSON *added;           /* the node made last */
    struct build_rule next; /* how the next value is kept */
    char *key;              /* the next value's name, in the arena */
    uint32_t key_offset;
    size_t depth;
    struct build_level levels[DOCUMENT_MAX_DEPTH];
};

void builder_init(struct builder *b, const struct document_options *options, struct arena *arena);

/* For builder_key(). */
struct build_rule builder_rule(const struct builder *b, struct str raw, bool escaped);

static inline bool builder_keeps(const struct builder *b)
{
    return b->next.keep != BUILD_SKIP;
}

/* The next value is the member of that name, given as it stands between the quotes of JSON. Where
 * it is kept, builder_name() must follow. */
static inline void builder_key(struct builder *b, struct str raw, bool escaped, uint32_t offset)
{
    if (b->levels[b->depth - 1].inside.keep >= BUILD_MEMBERS)
        b->next = builder_rule(b, raw, escaped);
    else
        b->next = (struct build_rule){0};
    b->key_offset = offset;
}

/* name: in the arena, NUL-terminated. */
static inline void builder_name(struct builder *b, char *name)
{
    b->key = name;
}

/* The next value is an item of the list opened last. */
static inline void builder_item(struct builder *b)
{
    b->next = b->levels[b->depth - 1].inside;
    b->key = NULL;
    b->key_offset = 0;
}

/* type: cJSON_String (text: in the arena), cJSON_Number, cJSON_True, cJSON_False, cJSON_NULL. */
int builder_scalar(struct builder *b, int type, char *text, double number, uint32_t offset)
    __attribute__((warn_unused_result));

/* As builder_open(), for a value that is kept. */
int builder_open_kept(struct builder *b, bool is_list, uint32_t offset)
    __attribute__((warn_unused_result));

__attribute__((warn_unused_result)) static inline int builder_open(struct builder *b, bool is_list,
                                                                   uint32_t offset)
{
    if (builder_keeps(b))
        return builder_open_kept(b, is_list, offset);
    b->levels[b->depth++] = (struct build_level){.is_list = is_list};
    return 0;
}

static inline void builder_close(struct builder *b)
{
    b->depth--;
}

/* A value that shares what is in another node, and counts as `weight` nodes. */
int builder_borrow(struct builder *b, const cJSON *node, size_t weight, uint32_t offset)
    __attribute__((warn_unused_result));

/* One more member of an object, which shares what is in another object's member. Not counted. */
int builder_adopt(struct arena *arena, cJSON *object, const cJSON *member)
    __attribute__((warn_unused_result));

/* The value given last to the object opened last; NULL where there is none. */
cJSON *builder_last_child(const struct builder *b);

#endif
