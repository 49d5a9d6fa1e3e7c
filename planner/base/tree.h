/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_BASE_TREE_H
#define PLANNER_BASE_TREE_H

/*
 * tree - how we look at and make cJSON nodes.
 *
 * Every node lives in an arena and dies with it: no node is made by cJSON's allocator, and
 * cJSON_Delete() is never called. Texts in nodes are UTF-8 without NUL. A node's `valueint` means
 * nothing; numbers are read from `valuedouble` alone.
 *
 * A tree that was read is never changed. What is composed out of it takes shallow copies
 * (tree_borrow), which share the texts and children of the original; nothing is added to a copy.
 *
 * Errors     functions that make nodes return NULL when out of memory; tree_add_* take NULL for
 *            the item and then return false, so that a chain is checked by its last call.
 */

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"

/* Whether it is of that one type (cJSON_Object, cJSON_True, …); false for NULL. */
static inline bool tree_is(const cJSON *node, int type)
{
    return node != NULL && (node->type & 0xFF) == type;
}

/* The member of that exact name, compared with case; NULL where object is none or has none.
 * A member that is `null` counts as absent too. */
const cJSON *tree_get(const cJSON *object, const char *key);

/* The same, but a `null` is a member too. */
const cJSON *tree_member(const cJSON *object, const char *key);

/* The text of a string node; an absent text for anything else, NULL included. */
struct str tree_text(const cJSON *node);

/* tree_text(tree_get(...)) */
struct str tree_get_text(const cJSON *object, const char *key);

/* The name that an object's member has; absent for what is no member. */
struct str tree_key(const cJSON *node);

cJSON *tree_make_object(struct arena *arena);
cJSON *tree_make_array(struct arena *arena);
cJSON *tree_make_text(struct arena *arena, struct str s); /* copies s */
cJSON *tree_make_bool(struct arena *arena, bool value);
cJSON *tree_make_number(struct arena *arena, double value);

/* A shallow copy, free of its siblings and its name. */
cJSON *tree_borrow(struct arena *arena, const cJSON *node);

/* key is borrowed and must outlive the tree. */
bool tree_add_member(cJSON *object, const char *key, cJSON *item);
bool tree_add_item(cJSON *array, cJSON *item);

#endif
