/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree - reads and makes cJSON nodes in an arena.
 */
#include "planner/base/tree.h"

const cJSON *tree_member(const cJSON *object, const char *key)
{
    if (!tree_is(object, cJSON_Object))
        return NULL;
    for (const cJSON *member = object->child; member != NULL; member = member->next) {
        if (member->string != NULL && strcmp(member->string, key) == 0)
            return member;
    }
    return NULL;
}

const cJSON *tree_get(const cJSON *object, const char *key)
{
    const cJSON *member = tree_member(object, key);

    return tree_is(member, cJSON_NULL) ? NULL : member;
}

size_t tree_count(const cJSON *node)
{
    const cJSON *child = NULL;
    size_t count = 0;

    cJSON_ArrayForEach(child, node)
    {
        count++;
    }
    return count;
}

struct str tree_text(const cJSON *node)
{
    return tree_is(node, cJSON_String) ? str_of(node->valuestring) : (struct str){0};
}

struct str tree_get_text(const cJSON *object, const char *key)
{
    return tree_text(tree_get(object, key));
}

struct str tree_key(const cJSON *node)
{
    return node == NULL ? (struct str){0} : str_of(node->string);
}

static cJSON *tree_make(struct arena *arena, int type)
{
    cJSON *node = arena_alloc(arena, 1, sizeof(*node));

    if (node != NULL)
        node->type = type;
    return node;
}

cJSON *tree_make_object(struct arena *arena)
{
    return tree_make(arena, cJSON_Object);
}

cJSON *tree_make_array(struct arena *arena)
{
    return tree_make(arena, cJSON_Array);
}

cJSON *tree_make_text(struct arena *arena, struct str s)
{
    cJSON *node = tree_make(arena, cJSON_String);

    if (node == NULL)
        return NULL;
    node->valuestring = arena_copy(arena, s);
    return node->valuestring != NULL ? node : NULL;
}

cJSON *tree_make_bool(struct arena *arena, bool value)
{
    return tree_make(arena, value ? cJSON_True : cJSON_False);
}

cJSON *tree_make_number(struct arena *arena, double value)
{
    cJSON *node = tree_make(arena, cJSON_Number);

    if (node != NULL)
        node->valuedouble = value;
    return node;
}

cJSON *tree_borrow(struct arena *arena, const cJSON *node)
{
    cJSON *copy = node != NULL ? tree_make(arena, node->type) : NULL;

    if (copy == NULL)
        return NULL;
    copy->child = node->child;
    copy->valuestring = node->valuestring;
    copy->valuedouble = node->valuedouble;
    return copy;
}

/* As in cJSON's own lists: the `prev` of the first child is the last child. */
bool tree_add_item(cJSON *array, cJSON *item)
{
    if (array == NULL || item == NULL)
        return false;
    if (array->child == NULL) {
        array->child = item;
    } else {
        item->prev = array->child->prev;
        item->prev->next = item;
    }
    array->child->prev = item;
    return true;
}

bool tree_add_member(cJSON *object, const char *key, cJSON *item)
{
    if (item == NULL)
        return false;
    /* cJSON has no const here. Names are never written to, and cJSON_Delete() is never called. */
    item->string = (char *)(uintptr_t)key;
    item->type |= cJSON_StringIsConst;
    return tree_add_item(object, item);
}
