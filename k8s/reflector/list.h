/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_REFLECTOR_LIST_H
#define K8S_REFLECTOR_LIST_H

/*
 * list - cuts a list that arrives in pieces into its items; for the files of this directory only.
 *
 * Each item of the member `items` of the root is passed on as a text. Everything else is kept, with
 * a `0` in place of each item: it is parsed at the end like any document, which checks its syntax.
 *
 * Errors     0; -ENOMEM; -EMSGSIZE an item, or the rest, exceeds REFLECTOR_MAX_OBJECT_BYTES; errors
 *            of `take`.
 */

#include <stdbool.h>
#include <stddef.h>

#include "planner/base/text.h"

/* Bytes that grow. {0} is empty. */
struct reflector_text {
    char *ptr; /* owned */
    size_t len;
    size_t capacity;
};

int reflector_text_add(struct reflector_text *text, struct str bytes)
    __attribute__((warn_unused_result));
/* Makes it empty; frees the memory if it was large. */
void reflector_text_clear(struct reflector_text *text);
void reflector_text_done(struct reflector_text *text);
struct str reflector_text_str(const struct reflector_text *text);

struct reflector_list {
    struct reflector_text head; /* everything but the items */
    struct reflector_text item; /* the item in progress */
    size_t depth;               /* number of open brackets */
    size_t name_begin;          /* in head: the beginning of the last string at depth 1 */
    bool in_string;
    bool escaped;  /* the last byte was a backslash */
    bool in_items; /* inside the member `items` of the root */
};

int reflector_list_bytes(struct reflector_list *list, struct str bytes,
                         int (*take)(void *context, struct str item), void *context)
    __attribute__((warn_unused_result, nonnull(1, 3)));
void reflector_list_clear(struct reflector_list *list);
void reflector_list_done(struct reflector_list *list);

#endif
