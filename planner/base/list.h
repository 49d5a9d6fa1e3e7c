/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_BASE_LIST_H
#define PLANNER_BASE_LIST_H

/*
 * list - an array of texts.
 *
 * Ownership  the array lives in an arena, the texts are borrowed. Nothing here allocates or fails.
 */

#include <stdbool.h>
#include <stddef.h>

#include "planner/base/text.h"

struct str_list {
    const struct str *items;
    size_t count;
};

/* Sorts the texts bytewise and keeps one of equal ones; returns how many are left. */
size_t list_sort_once(struct str *items, size_t count);

/* Compared byte for byte. */
bool str_list_has(struct str_list list, struct str text);

#endif
