/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_DOCUMENT_BUILDER_H
#define K8S_DOCUMENT_BUILDER_H

/*
 * builder - makes the tree of a document while it is read, with the nodes that the shape asks for.
 *
 * Both readers call it: builder_key() for a member or builder_item() for an item, then either
 * builder_text() and builder_scalar(), or builder_open() and, after the content, builder_close().
 * builder_keeps() says whether the next value becomes a node. builder_scalar() may be left out for
 * one that does not.
 *
 * Errors     0; -ENOMEM; -E2BIG more nodes than allowed; -EIO as in value_digest.h.
 * Ownership  nodes and texts live in the given arena.
 */

#include <assert.h>
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "k8s/document/document.h"
#include "k8s/document/value_digest.h"

enum build_keep {
    BUILD_SKIP = 0,
    BUILD_SCALAR,  /* the value, without content of an object or list */
    BUILD_MEMBERS, /* the members that the table names */
    BUILD_WHOLE,
};

struct build_rule {
    enum build_keep keep;
    const struct document_shape *members; /* BUILD_MEMBERS */
    const char *key; /* the row's, where it is the name of the value; NULL: any name */
    bool apart;      /* counted apart */
    bool digest;     /* a digest is made of it */
};

struct build_level {
    struct document_node *node; /* NULL: skipped */
    struct build_rule inside;   /* for its members or items */
    bool is_list;
};

struct builder {
    struct arena *arena; /* borrowed */
    size_t nodes_left;
    size_t apart_left; /* the same, of nodes that are counted apart */
    cJSON *root;
    cJSON *added;           /* the last node that was made */
    struct build_rule next; /* for the next value */
    char *key;              /* name of the next value; NULL: it has none, or not yet */
    uint32_t key_offset;
    size_t depth;
    struct build_level levels[DOCUMENT_MAX_DEPTH];
    /* Inside of a value of which a digest is made: in the arena, because few documents have one.
     * Else NULL. */
    struct value_digest *digest;
    size_t digest_depth;   /* around that value */
    unsigned char *result; /* its digest, once it is complete; in the arena */
};

void builder_init(struct builder *b, const struct document_options *options, struct arena *arena);

/* The rule for a member of the object opened last; only builder_key() calls it. */
struct build_rule builder_rule(const struct builder *b, struct str raw, bool escaped);

static inline bool builder_keeps(const struct builder *b)
{
    return b->next.keep != BUILD_SKIP;
}

/* Whether the next value is read for its content. */
static inline bool builder_needs(const struct builder *b)
{
    return builder_keeps(b) || b->digest != NULL;
}

/* Whether a text that comes next is kept with its content. Where an object or list is due it is
 * not: it can be a value that must not be kept. */
static inline bool builder_keeps_text(const struct builder *b)
{
    return builder_keeps(b) && b->next.keep != BUILD_MEMBERS;
}

/* The next value is the member with that name. raw: the name as between the quotes of JSON. Where
 * builder_lacks_name(), builder_name() must follow. */
static inline void builder_key(struct builder *b, struct str raw, bool escaped, uint32_t offset)
{
    if (b->levels[b->depth - 1].inside.keep >= BUILD_MEMBERS)
        b->next = builder_rule(b, raw, escaped);
    else
        b->next = (struct build_rule){0};
    b->key = (char *)(uintptr_t)b->next.key;
    b->key_offset = offset;
    if (b->digest != NULL)
        value_digest_key(b->digest, raw, escaped);
}

/* Whether the next value is kept under a name that only the text has. The names of rows are not
 * copied: most members have one. */
static inline bool builder_lacks_name(const struct builder *b)
{
    return builder_keeps(b) && b->key == NULL;
}

/* The decoded name of the next value: in the arena, NUL-terminated. */
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

/* The text of a scalar that comes next, whether it is kept or not; as for value_digest_scalar(). */
static inline void builder_text(struct builder *b, int type, struct str raw, bool escaped)
{
    if (b->digest != NULL)
        value_digest_scalar(b->digest, type, raw, escaped);
}

/* type: cJSON_String (text: in the arena; NULL: without content), cJSON_Number, cJSON_True,
 * cJSON_False, cJSON_NULL. */
int builder_scalar(struct builder *b, int type, char *text, double number, uint32_t offset)
    __attribute__((warn_unused_result));

/* Only builder_open() calls it. */
int builder_open_kept(struct builder *b, bool is_list, uint32_t offset)
    __attribute__((warn_unused_result));

/* The next value is an object or a list; its content follows. At most DOCUMENT_MAX_DEPTH are open.
 */
__attribute__((warn_unused_result)) static inline int builder_open(struct builder *b, bool is_list,
                                                                   uint32_t offset)
{
    int r = 0;

    assert(b->depth < DOCUMENT_MAX_DEPTH);
    if (builder_keeps(b))
        r = builder_open_kept(b, is_list, offset);
    else
        b->levels[b->depth++] = (struct build_level){.is_list = is_list};
    if (r == 0 && b->digest != NULL)
        value_digest_open(b->digest, is_list);
    return r;
}

/* Only builder_close() calls it. */
void builder_close_digest(struct builder *b);

static inline void builder_close(struct builder *b)
{
    assert(b->depth > 0);
    b->depth--;
    if (b->digest != NULL)
        builder_close_digest(b);
}

/* The next value shares the content of another node. It counts as `weight` nodes. */
int builder_borrow(struct builder *b, const cJSON *node, size_t weight, uint32_t offset)
    __attribute__((warn_unused_result));

/* Adds a member to an object; it shares the content of `member`, which belongs to another object.
 * It does not count as a node. */
int builder_adopt(struct arena *arena, cJSON *object, const cJSON *member)
    __attribute__((warn_unused_result));

/* The last child of the object or list opened last; NULL where it has none. */
cJSON *builder_last_child(const struct builder *b);

#endif
