/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_BASE_TREE_H
#define PLANNER_BASE_TREE_H

/*
 * tree - reads and makes cJSON nodes in an arena.
 *
 * Texts in nodes are UTF-8 without NUL. Numbers are read from `valuedouble` only; `valueint` is not
 * set.
 *
 * A tree that was read is not changed afterwards. A new tree takes parts of it as shallow copies
 * (tree_borrow), which share the texts and children of the original. Nothing is added to a copy.
 *
 * Errors     functions that make nodes return NULL when out of memory. tree_add_*() accept NULL for
 *            the item and return false, so that only the last call of a chain is checked.
 * Ownership  every node lives in an arena: cJSON's allocator is not used, and cJSON_Delete() is
 *            never called.
 */

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"

/* Whether the node is of that type (cJSON_Object, cJSON_True, …); false for NULL. */
static inline bool tree_is(const cJSON *node, int type)
{
    return node != NULL && (node->type & 0xFF) == type;
}

/* The member of that name, compared byte for byte. NULL where it is absent or `null`, and where
 * object is not an object. */
const cJSON *tree_get(const cJSON *object, const char *key);

/* The same, but returns a member that is `null`, too. */
const cJSON *tree_member(const cJSON *object, const char *key);

/* The number of items or members; 0 for NULL. */
size_t tree_count(const cJSON *node);

/* The text of a string node; an absent text for anything else, NULL included. */
struct str tree_text(const cJSON *node);

/* tree_text(tree_get(...)) */
struct str tree_get_text(const cJSON *object, const char *key);

/* The name of a member; absent for a node that is not a member of an object. */
struct str tree_key(const cJSON *node);

cJSON *tree_make_object(struct arena *arena);
cJSON *tree_make_array(struct arena *arena);
cJSON *tree_make_text(struct arena *arena, struct str s); /* copies s */
cJSON *tree_make_bool(struct arena *arena, bool value);
cJSON *tree_make_number(struct arena *arena, double value);

/* A shallow copy without siblings and name. */
cJSON *tree_borrow(struct arena *arena, const cJSON *node);

/* key is borrowed and must outlive the tree. */
bool tree_add_member(cJSON *object, const char *key, cJSON *item);
bool tree_add_item(cJSON *array, cJSON *item);

#endif
