/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_alias - keys, anchors, aliases and merge keys of YAML.
 *
 * An alias shares the nodes of its anchor instead of copying them, but each use counts them, so
 * that a short text cannot expand to a huge tree.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "k8s/document/yaml.h"
#include "planner/base/array.h"

#define NAME_MAX_GROWTH 6 /* the longest JSON escape of one byte */
#define FIRST_PRINTABLE 0x20

static size_t put_name_byte(char *out, char c)
{
    static const char hex[] = "0123456789abcdef";
    unsigned char byte = (unsigned char)c;

    if (byte >= FIRST_PRINTABLE && c != '"' && c != '\\') {
        out[0] = c;
        return 1;
    }
    memcpy(out, "\\u00", 4);
    out[4] = hex[byte >> 4];
    out[5] = hex[byte & 0xF];
    return NAME_MAX_GROWTH;
}

int yaml_add_name(struct yaml *y, struct str name, bool *ret_twice)
{
    struct yaml_names *names = &y->names;
    struct key key = {0};
    size_t begin = 0, bytes = 0;
    int r = 0;

    if (__builtin_mul_overflow(name.len, NAME_MAX_GROWTH, &bytes) ||
        __builtin_add_overflow(bytes, 2, &bytes))
        return -E2BIG;
    if (bytes > names->max_bytes - names->len)
        return -E2BIG;
    /* the capacity doubles, so that twice what is needed is enough */
    if (names->len + bytes > names->capacity && !arena_charge(y->arena, 2 * (names->len + bytes)))
        return -ENOMEM;
    r = array_grow(&names->ptr, &names->capacity, names->len + bytes, 1, names->max_bytes);
    if (r < 0)
        return r;
    names->ptr[names->len++] = '"';
    begin = names->len;
    for (size_t i = 0; i < name.len; i++)
        names->len += put_name_byte(names->ptr + names->len, name.ptr[i]);
    key = (struct key){.offset = (uint32_t)begin,
                       .bytes = (uint32_t)(names->len - begin),
                       .escaped = names->len - begin != name.len};
    names->ptr[names->len++] = '"';
    y->keys.text = (struct str){names->ptr, names->len};
    return keys_add(&y->keys, key, ret_twice);
}

int yaml_add_anchor(struct yaml *y, const yaml_char_t *name, size_t offset,
                    struct yaml_anchor **ret_anchor)
{
    struct yaml_anchor *anchor = NULL;

    *ret_anchor = NULL;
    if (name == NULL)
        return 0;
    if (y->anchor_count == YAML_MAX_ANCHORS)
        return yaml_refuse(y, offset, "more than 1000 anchors");
    if (y->anchors == NULL)
        y->anchors = arena_alloc(y->arena, YAML_MAX_ANCHORS, sizeof(*y->anchors));
    if (y->anchors == NULL)
        return -ENOMEM;
    anchor = &y->anchors[y->anchor_count];
    anchor->name = arena_copy(y->arena, str_of((const char *)name));
    if (anchor->name == NULL)
        return -ENOMEM;
    anchor->open = true;
    y->anchor_count++;
    *ret_anchor = anchor;
    return 0;
}

int yaml_take_alias(struct yaml *y, const yaml_char_t *name, size_t offset)
{
    const struct yaml_anchor *anchor = NULL;
    struct yaml_level *level = NULL;

    /* the last anchor of that name counts */
    for (size_t i = y->anchor_count; i > 0 && anchor == NULL; i--) {
        if (strcmp(y->anchors[i - 1].name, (const char *)name) == 0)
            anchor = &y->anchors[i - 1];
    }
    if (anchor == NULL)
        return yaml_refuse(y, offset, "an alias without its anchor");
    if (anchor->open)
        return yaml_refuse(y, offset, "an alias inside the value of its own anchor");
    if (anchor->height > DOCUMENT_MAX_DEPTH - y->builder.depth)
        return yaml_refuse(y, offset, READER_WHAT_DEPTH);
    /* an object or list is open: a document that is only an alias has no anchor before it */
    assert(y->builder.depth > 0 && anchor->node != NULL);
    level = &y->levels[y->builder.depth - 1];
    if (level->height < anchor->height)
        level->height = anchor->height;
    return builder_borrow(&y->builder, anchor->node, anchor->weight, (uint32_t)offset);
}

/* Whether one of the first `count` members of the object has that name. */
static bool has_before(const cJSON *object, size_t count, const char *name)
{
    const cJSON *member = object->child;

    for (size_t i = 0; i < count && member != NULL; i++, member = member->next) {
        if (strcmp(member->string, name) == 0)
            return true;
    }
    return false;
}

static int merge_object(struct yaml *y, struct yaml_level *level, cJSON *object,
                        const cJSON *source, size_t *left)
{
    for (const cJSON *member = source->child; member != NULL; member = member->next) {
        bool twice = false;
        int r = 0;

        if ((*left)-- == 0)
            return yaml_refuse(y, level->merge_offset, "a merge key adds more than 1000 members");
        r = yaml_add_name(y, str_of(member->string), &twice);
        if (r < 0)
            return r;
        if (twice && has_before(object, level->merge_members, member->string))
            return yaml_refuse(
                y, level->merge_offset,
                "readers differ on which of two equal keys counts: put the merge key first");
        if (!twice) {
            r = builder_adopt(y->arena, object, member);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

static void remove_child(cJSON *object, cJSON *node)
{
    cJSON *last = object->child->prev;

    if (node == object->child)
        object->child = node->next;
    else
        node->prev->next = node->next;
    if (node->next != NULL)
        node->next->prev = node->prev;
    if (object->child != NULL)
        object->child->prev = node == last ? node->prev : last;
}

int yaml_merge(struct yaml *y, struct yaml_level *level, cJSON *object)
{
    const cJSON *merge = level->merge, *source = NULL;
    size_t left = YAML_MAX_MERGED;
    int r = 0;

    if (merge == NULL)
        return 0;
    remove_child(object, level->merge);
    if ((merge->type & 0xFF) == cJSON_Object)
        return merge_object(y, level, object, merge, &left);
    if ((merge->type & 0xFF) != cJSON_Array)
        return yaml_refuse(y, level->merge_offset, "a merge key needs an object");
    for (source = merge->child; source != NULL && r == 0; source = source->next) {
        if ((source->type & 0xFF) != cJSON_Object)
            return yaml_refuse(y, level->merge_offset, "a merge key needs an object");
        r = merge_object(y, level, object, source, &left);
    }
    return r;
}
