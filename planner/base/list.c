/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list - sorting and searching of lists of texts.
 */
#include "planner/base/list.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const struct str *left = a, *right = b;

    return str_compare(*left, *right);
}

size_t list_sort_once(struct str *items, size_t count)
{
    size_t kept = 0;

    if (count == 0)
        return 0;
    qsort(items, count, sizeof(*items), compare);
    for (size_t i = 1; i < count; i++) {
        if (!str_equal(items[kept], items[i]))
            items[++kept] = items[i];
    }
    return kept + 1;
}

bool str_list_has(struct str_list list, struct str text)
{
    for (size_t i = 0; i < list.count; i++) {
        if (str_equal(list.items[i], text))
            return true;
    }
    return false;
}
