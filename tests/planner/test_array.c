/* SPDX-License-Identifier: Apache-2.0 */
/* test_array - growth and limits of an array. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "planner/base/array.h"

#define MAX_ITEMS 1000

Test(array, keeps_its_items_while_it_grows)
{
    int *items = NULL;
    size_t capacity = 0;

    for (size_t count = 0; count < MAX_ITEMS; count++) {
        cr_assert_eq(array_grow(&items, &capacity, count + 1, sizeof(*items), MAX_ITEMS), 0);
        cr_assert_gt(capacity, count);
        cr_assert_leq(capacity, MAX_ITEMS);
        items[count] = (int)count;
    }
    for (size_t i = 0; i < MAX_ITEMS; i++)
        cr_expect_eq(items[i], (int)i);
    free(items);
}

Test(array, refuses_more_than_the_maximum_and_stays_as_it_is)
{
    int *items = NULL;
    size_t capacity = 0;

    cr_assert_eq(array_grow(&items, &capacity, 3, sizeof(*items), 3), 0);
    int *before = items;
    cr_expect_eq(capacity, 3);
    cr_expect_eq(array_grow(&items, &capacity, 4, sizeof(*items), 3), -E2BIG);
    cr_expect_eq(items, before);
    cr_expect_eq(capacity, 3);
    free(items);
}

Test(array, grows_at_once_to_what_is_wanted)
{
    char *bytes = NULL;
    size_t capacity = 0;

    cr_assert_eq(array_grow(&bytes, &capacity, 700, 1, MAX_ITEMS), 0);
    cr_expect_eq(capacity, 700);
    cr_assert_eq(array_grow(&bytes, &capacity, 701, 1, MAX_ITEMS), 0);
    cr_expect_eq(capacity, MAX_ITEMS);
    free(bytes);
}

Test(array, does_nothing_where_the_capacity_suffices)
{
    int *items = NULL;
    size_t capacity = 0;

    cr_assert_eq(array_grow(&items, &capacity, 0, sizeof(*items), MAX_ITEMS), 0);
    cr_expect_null(items);
    cr_assert_eq(array_grow(&items, &capacity, 1, sizeof(*items), MAX_ITEMS), 0);
    int *before = items;
    size_t first = capacity;
    cr_assert_eq(array_grow(&items, &capacity, first, sizeof(*items), MAX_ITEMS), 0);
    cr_expect_eq(items, before);
    cr_expect_eq(capacity, first);
    free(items);
}

Test(array, a_size_that_overflows_is_out_of_memory)
{
    int *items = NULL;
    size_t capacity = 0;

    cr_assert_eq(array_grow(&items, &capacity, 1, sizeof(*items), SIZE_MAX), 0);
    int *before = items;
    size_t first = capacity;
    cr_expect_eq(array_grow(&items, &capacity, SIZE_MAX / 2, sizeof(*items), SIZE_MAX), -ENOMEM);
    cr_expect_eq(items, before);
    cr_expect_eq(capacity, first);
    free(items);
}

Test(array, grows_in_an_arena_and_stays_as_it_is_at_its_limit)
{
    cleanup_arena struct arena arena = {0};
    int *items = NULL;
    size_t capacity = 0;

    for (size_t count = 0; count < 100; count++) {
        cr_assert_eq(array_grow_in(&arena, &items, &capacity, count + 1, sizeof(*items), MAX_ITEMS),
                     0);
        cr_expect_eq(items[count], 0);
        items[count] = (int)count;
    }
    for (size_t i = 0; i < 100; i++)
        cr_expect_eq(items[i], (int)i);
    cr_expect_eq(array_grow_in(&arena, &items, &capacity, MAX_ITEMS + 1, sizeof(*items), MAX_ITEMS),
                 -E2BIG);
    arena.limit_bytes = arena.held_bytes;
    int *before = items;
    cr_expect_eq(array_grow_in(&arena, &items, &capacity, SIZE_MAX, sizeof(*items), SIZE_MAX),
                 -ENOMEM);
    cr_expect_eq(items, before);
    cr_expect_eq(capacity, 128);
}
