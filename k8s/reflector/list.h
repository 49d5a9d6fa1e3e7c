/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_REFLECTOR_LIST_H
#define K8S_REFLECTOR_LIST_H

/*
 * list - a list that comes in pieces, cut into its items; private to reflector*.c.
 *
 * Each item of the root's `items` is handed on as a text of its own. All else is kept, with a `0`
 * in the place of each item: its syntax is checked at the end as that of any document.
 *
 * Errors     0; -ENOMEM; -EMSGSIZE an item, or the rest, over REFLECTOR_MAX_OBJECT_BYTES; what the
 *            taker returns.
 */

#include <stdbool.h>
#include <stddef.h>

#include "planner/base/text.h"

/* Bytes that grow. {0} is empty. */
struct reflector_text {
    char *ptr; /* owned */
    size_t len;
    size_t room;
};

int reflector_text_add(struct reflector_text *text, struct str bytes)
    __attribute__((warn_unused_result));
/* Empty again; what was large is given back. */
void reflector_text_clear(struct reflector_text *text);
void reflector_text_done(struct reflector_text *text);
struct str reflector_text_str(const struct reflector_text *text);

struct reflector_list {
    struct reflector_text head; /* all but the items */
    struct reflector_text item; /* the one that is open */
    size_t depth;               /* brackets that are open */
    size_t name_begin;          /* in head: the last string at depth 1 */
    bool in_string;
    bool escaped;  /* the next byte stands behind a backslash */
    bool in_items; /* inside of the root's `items` */
};

int reflector_list_bytes(struct reflector_list *list, struct str bytes,
                         int (*take)(void *context, struct str item), void *context)
    __attribute__((warn_unused_result, nonnull(1, 3)));
void reflector_list_clear(struct reflector_list *list);
void reflector_list_done(struct reflector_list *list);

#endif
