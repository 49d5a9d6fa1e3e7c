/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list - finds the items of a list in a stream of bytes.
 *
 * Only brackets and strings are followed here; the parser checks the syntax of each item, and of
 * the rest at the end.
 */
#include "k8s/reflector/list.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "k8s/document/json_text.h"
#include "k8s/reflector/reflector.h"
#include "planner/base/array.h"

#define TEXT_KEPT_BYTES 65536 /* larger buffers are freed after an item */
#define ITEMS_DEPTH 2         /* inside the root and its list */

int reflector_text_add(struct reflector_text *text, struct str bytes)
{
    int r = 0;

    if (bytes.len == 0)
        return 0;
    if (bytes.len > REFLECTOR_MAX_OBJECT_BYTES - text->len)
        return -EMSGSIZE;
    r = array_grow(&text->ptr, &text->capacity, text->len + bytes.len, 1,
                   REFLECTOR_MAX_OBJECT_BYTES);
    if (r < 0)
        return r;
    assert(bytes.len <= text->capacity - text->len);
    memcpy(text->ptr + text->len, bytes.ptr, bytes.len);
    text->len += bytes.len;
    return 0;
}

void reflector_text_clear(struct reflector_text *text)
{
    text->len = 0;
    if (text->capacity > TEXT_KEPT_BYTES)
        reflector_text_done(text);
}

void reflector_text_done(struct reflector_text *text)
{
    free(text->ptr);
    *text = (struct reflector_text){0};
}

struct str reflector_text_str(const struct reflector_text *text)
{
    return text->len > 0 ? (struct str){.ptr = text->ptr, .len = text->len} : STR("");
}

void reflector_list_clear(struct reflector_list *list)
{
    struct reflector_list empty = {.head = list->head, .item = list->item};

    reflector_text_clear(&empty.head);
    reflector_text_clear(&empty.item);
    *list = empty;
}

void reflector_list_done(struct reflector_list *list)
{
    reflector_text_done(&list->head);
    reflector_text_done(&list->item);
}

/* A walk over the bytes of one call. The bytes from `from` to `p` are not stored yet. */
struct walk {
    struct reflector_list *list;
    const char *from, *p, *end;
    int (*take)(void *context, struct str item);
    void *context;
};

static bool in_item(const struct reflector_list *list)
{
    return list->in_items && list->depth > ITEMS_DEPTH;
}

static int store(struct walk *walk)
{
    struct reflector_list *list = walk->list;
    struct str bytes = {.ptr = walk->from, .len = (size_t)(walk->p - walk->from)};

    walk->from = walk->p;
    return reflector_text_add(in_item(list) ? &list->item : &list->head, bytes);
}

static size_t position_in_head(const struct walk *walk)
{
    return walk->list->head.len + (size_t)(walk->p - walk->from);
}

/* Whether the head ends with `"items":`. */
static bool is_after_items(const struct reflector_list *list)
{
    struct str head = reflector_text_str(&list->head);
    struct str rest = {.ptr = head.ptr + list->name_begin, .len = head.len - list->name_begin};

    assert(list->name_begin <= head.len);
    if (!str_starts_with(rest, STR("\"items\"")))
        return false;
    rest = str_trim((struct str){.ptr = rest.ptr + 7, .len = rest.len - 7});
    return str_equal(rest, STR(":"));
}

static int open_bracket(struct walk *walk, bool is_list)
{
    struct reflector_list *list = walk->list;
    int r = 0;

    if (list->depth < ITEMS_DEPTH || (list->in_items && list->depth == ITEMS_DEPTH)) {
        r = store(walk);
        if (r < 0)
            return r;
        if (list->in_items)
            r = reflector_text_add(&list->head, STR("0"));
        else if (is_list && list->depth == 1)
            list->in_items = is_after_items(list);
    }
    list->depth++;
    walk->p++;
    return r;
}

static int close_bracket(struct walk *walk)
{
    struct reflector_list *list = walk->list;
    int r = 0;

    if (list->in_items && list->depth == ITEMS_DEPTH) {
        r = store(walk);
        list->in_items = false;
    } else if (list->in_items && list->depth == ITEMS_DEPTH + 1) {
        walk->p++;
        r = store(walk);
        walk->p--;
        if (r == 0)
            r = walk->take(walk->context, reflector_text_str(&list->item));
        reflector_text_clear(&list->item);
    }
    if (list->depth > 0) /* else the syntax is wrong, which the parser finds at the end */
        list->depth--;
    walk->p++;
    return r;
}

static void walk_string(struct walk *walk)
{
    struct reflector_list *list = walk->list;

    if (list->escaped) {
        list->escaped = false;
        walk->p++;
        return;
    }
    walk->p = json_text_skip_plain(walk->p, walk->end);
    if (walk->p == walk->end)
        return;
    list->escaped = *walk->p == '\\';
    list->in_string = *walk->p != '"';
    walk->p++;
}

static int walk_byte(struct walk *walk)
{
    struct reflector_list *list = walk->list;

    switch (*walk->p) {
    case '"':
        if (list->depth == 1)
            list->name_begin = position_in_head(walk);
        list->in_string = true;
        break;
    case '{':
    case '[':
        return open_bracket(walk, *walk->p == '[');
    case '}':
    case ']':
        return close_bracket(walk);
    default:
        break;
    }
    walk->p++;
    return 0;
}

int reflector_list_bytes(struct reflector_list *list, struct str bytes,
                         int (*take)(void *context, struct str item), void *context)
{
    struct walk walk = {
        .list = list,
        .from = bytes.ptr,
        .p = bytes.ptr,
        .end = bytes.ptr + bytes.len,
        .take = take,
        .context = context,
    };

    if (bytes.len == 0)
        return 0;
    while (walk.p < walk.end) {
        int r = 0;

        if (list->in_string)
            walk_string(&walk);
        else
            r = walk_byte(&walk);
        if (r < 0)
            return r;
    }
    return store(&walk);
}
