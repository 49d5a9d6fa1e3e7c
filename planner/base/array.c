/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array - growth of an array on the heap.
 *
 * One place for the arithmetic of capacities: doubling, the named maximum, and sizes that overflow.
 */
#include "planner/base/array.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ITEMS 16

static size_t next_capacity(size_t capacity, size_t wanted, size_t max)
{
    size_t doubled = capacity <= max / 2 ? capacity * 2 : max;
    size_t least = FIRST_ITEMS < max ? FIRST_ITEMS : max;

    if (doubled < least)
        doubled = least;
    return doubled > wanted ? doubled : wanted;
}

int array_grow(void *array, size_t *capacity, size_t wanted, size_t item_bytes, size_t max)
{
    void *items = NULL;
    size_t wider = 0;

    assert(item_bytes > 0);
    if (wanted > max)
        return -E2BIG;
    if (wanted <= *capacity)
        return 0;
    /* copied, not cast: a `void **` may not alias a pointer to items */
    memcpy(&items, array, sizeof(items));
    assert((items == NULL) == (*capacity == 0));
    wider = next_capacity(*capacity, wanted, max);
    items = reallocarray(items, wider, item_bytes);
    if (items == NULL)
        return -ENOMEM;
    memcpy(array, &items, sizeof(items));
    *capacity = wider;
    return 0;
}
