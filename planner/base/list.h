/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_BASE_LIST_H
#define PLANNER_BASE_LIST_H

/*
 * list - several texts in a row. The row lives in an arena, the texts are borrowed.
 */

#include <stdbool.h>
#include <stddef.h>

#include "planner/base/text.h"

struct str_list {
    const struct str *items;
    size_t count;
};

/* Puts the texts into bytewise order, equal ones once; how many are left. */
size_t list_sort_once(struct str *items, size_t count);

bool str_list_has(struct str_list list, struct str text);

#endif
