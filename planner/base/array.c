/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array - growth of arrays, on the heap and in an arena.
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

/* Sets *ret_wider to the new capacity, or to 0 where the capacity suffices. The new capacity in
 * bytes fits into size_t. */
static int next_growth(size_t capacity, size_t wanted, size_t item_bytes, size_t max,
                       size_t *ret_wider)
{
    size_t wider = wanted > capacity ? next_capacity(capacity, wanted, max) : 0;
    size_t bytes = 0;

    assert(item_bytes > 0);
    if (wanted > max)
        return -E2BIG;
    if (__builtin_mul_overflow(wider, item_bytes, &bytes))
        return -ENOMEM;
    *ret_wider = wider;
    return 0;
}

/* The pointer is copied, not cast: a `void **` may not alias a pointer to items. */
static void *load(const void *array, size_t capacity)
{
    void *items = NULL;

    memcpy(&items, array, sizeof(items));
    assert((items == NULL) == (capacity == 0));
    return items;
}

int array_grow(void *array, size_t *capacity, size_t wanted, size_t item_bytes, size_t max)
{
    void *items = NULL;
    size_t wider = 0;
    int r = next_growth(*capacity, wanted, item_bytes, max, &wider);

    if (r < 0 || wider == 0)
        return r;
    items = realloc(load(array, *capacity), wider * item_bytes);
    if (items == NULL)
        return -ENOMEM;
    memcpy(array, &items, sizeof(items));
    *capacity = wider;
    return 0;
}

int array_grow_in(struct arena *arena, void *array, size_t *capacity, size_t wanted,
                  size_t item_bytes, size_t max)
{
    const void *old = NULL;
    void *items = NULL;
    size_t wider = 0;
    int r = next_growth(*capacity, wanted, item_bytes, max, &wider);

    if (r < 0 || wider == 0)
        return r;
    old = load(array, *capacity);
    items = arena_alloc(arena, wider, item_bytes);
    if (items == NULL)
        return -ENOMEM;
    if (old != NULL)
        memcpy(items, old, *capacity * item_bytes);
    memcpy(array, &items, sizeof(items));
    *capacity = wider;
    return 0;
}
