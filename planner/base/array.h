/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_BASE_ARRAY_H
#define PLANNER_BASE_ARRAY_H

/*
 * array - growth of arrays, on the heap and in an arena.
 *
 *     #define MAX_KEYS 1000
 *     struct key *keys = NULL;
 *     size_t capacity = 0, count = 0;
 *
 *     r = array_grow(&keys, &capacity, count + 1, sizeof(*keys), MAX_KEYS);
 *     if (r < 0)
 *         return r;
 *     keys[count++] = key;
 *
 * The capacity doubles, so that n items cost O(n) copies. The old memory is not overwritten: not
 * for secrets. For text in an arena use buffer.h.
 *
 * Errors     0, or -E2BIG: more than max items wanted; -ENOMEM: out of memory, or a size in bytes
 *            that does not fit into size_t. After an error the array and its capacity are
 *            unchanged.
 * Ownership  array_grow(): the caller owns the array and releases it with free(). New items are not
 *            zeroed. array_grow_in(): the array lives in the arena, and so does each smaller one
 *            before it. New items are zeroed.
 * Units      items of item_bytes bytes each.
 * Threads    none of its own state; the array belongs to one thread at a time.
 */

#include <stddef.h>

#include "planner/base/arena.h"

/*
 * Ensures a capacity of `wanted` items. array is the address of the pointer to the first item
 * (`struct key **` above); the pointer is NULL exactly where *capacity is 0. The capacity never
 * becomes more than max. Does nothing where the capacity suffices.
 */
int array_grow(void *array, size_t *capacity, size_t wanted, size_t item_bytes, size_t max)
    __attribute__((warn_unused_result, nonnull));

/* As array_grow(), in an arena. */
int array_grow_in(struct arena *arena, void *array, size_t *capacity, size_t wanted,
                  size_t item_bytes, size_t max) __attribute__((warn_unused_result, nonnull));

#endif
