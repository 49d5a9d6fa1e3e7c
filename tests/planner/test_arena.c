/* SPDX-License-Identifier: Apache-2.0 */
/* test_arena - memory, limits and failures of an arena. */
#include <criterion/criterion.h>
#include <stdalign.h>
#include <stdint.h>

#include "planner/base/arena.h"

#define BLOCK_BYTES 4096
#define BIG_BYTES ((size_t)3 << 20)

static bool all_zero(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

Test(arena, memory_is_zeroed_aligned_and_does_not_overlap)
{
    cleanup_arena struct arena arena = {0};
    char *before = NULL;

    for (size_t size = 0; size < 3000; size += 7) {
        char *bytes = arena_alloc(&arena, 1, size);

        cr_assert_not_null(bytes);
        cr_expect_eq((uintptr_t)bytes % alignof(max_align_t), 0);
        cr_expect_neq(bytes, before);
        cr_expect(all_zero(bytes, size), "size %zu", size);
        memset(bytes, 0xAA, size);
        before = bytes;
    }
}

Test(arena, blocks_grow_from_4_kib_to_1_mib)
{
    cleanup_arena struct arena arena = {0};
    size_t want = BLOCK_BYTES, held = 0;

    for (int block = 0; block < 12; block++) {
        held = arena.held_bytes;
        while (arena.held_bytes == held)
            cr_assert_not_null(arena_alloc(&arena, 1, 1000));
        cr_expect_eq(arena.held_bytes - held, want, "block %d", block);
        want = want < ((size_t)1 << 20) ? want * 2 : want;
    }
}

Test(arena, a_big_request_has_its_own_block_and_the_current_one_stays)
{
    cleanup_arena struct arena arena = {0};
    size_t held = 0;

    cr_assert_not_null(arena_alloc(&arena, 1, 8));
    cr_assert_not_null(arena_alloc(&arena, 1, BIG_BYTES));
    held = arena.held_bytes;
    cr_expect_lt(held, BIG_BYTES + 2 * BLOCK_BYTES);
    cr_assert_not_null(arena_alloc(&arena, 1, 8));
    cr_expect_eq(arena.held_bytes, held);
}

Test(arena, a_size_that_overflows_is_refused)
{
    cleanup_arena struct arena arena = {0};

    cr_expect_null(arena_alloc(&arena, SIZE_MAX, 2));
    cr_expect_null(arena_alloc(&arena, SIZE_MAX, 1));
    cr_expect_null(arena_alloc(&arena, SIZE_MAX - 40, 1));
    cr_expect_null(arena_copy(&arena, (struct str){.ptr = "", .len = SIZE_MAX}));
    cr_expect_eq(arena.held_bytes, 0);
}

Test(arena, the_limit_is_exact)
{
    cleanup_arena struct arena arena = {.limit_bytes = (size_t)3 * BLOCK_BYTES / 2};

    cr_assert_not_null(arena_alloc(&arena, 1, 4000));
    cr_expect_not_null(arena_alloc(&arena, 1, 1900), "fits what the limit leaves of a block");
    cr_expect_null(arena_alloc(&arena, 1, 1900));
    cr_expect_leq(arena.held_bytes, arena.limit_bytes);
    arena_release(&arena);
    cr_expect_eq(arena.held_bytes, 0);
    cr_expect_not_null(arena_alloc(&arena, 1, 4000), "usable again");
    cr_expect_null(arena_alloc(&arena, 1, 4000), "the limit stays");
}

struct gate {
    size_t asked, allowed;
};

static bool may_grow(void *context, size_t bytes)
{
    struct gate *gate = context;

    gate->asked += bytes;
    return gate->asked <= gate->allowed;
}

Test(arena, the_callback_is_asked_before_the_arena_grows)
{
    struct gate gate = {.allowed = BLOCK_BYTES};
    cleanup_arena struct arena arena = {.may_grow = may_grow, .may_grow_context = &gate};

    cr_expect_not_null(arena_alloc(&arena, 1, 16));
    cr_expect_eq(gate.asked, BLOCK_BYTES);
    cr_expect_not_null(arena_alloc(&arena, 1, 16),
                       "the callback is not asked for memory that the arena already has");
    cr_expect_eq(gate.asked, BLOCK_BYTES);
    cr_expect_null(arena_alloc(&arena, 1, BLOCK_BYTES));
    cr_expect_eq(arena.held_bytes, BLOCK_BYTES);
}

Test(arena, memory_taken_elsewhere_counts)
{
    struct gate gate = {.allowed = 3000};
    cleanup_arena struct arena arena = {
        .limit_bytes = 2000, .may_grow = may_grow, .may_grow_context = &gate};

    cr_expect(arena_charge(&arena, 1500));
    cr_expect_eq(gate.asked, 1500);
    cr_expect_eq(arena.held_bytes, 1500);
    cr_expect_not(arena_charge(&arena, 501), "the limit");
    cr_expect_eq(gate.asked, 1500, "the callback is not asked beyond the limit");
    cr_expect(arena_charge(&arena, 500));
    cr_expect_null(arena_alloc(&arena, 1, 1));
    arena_release(&arena);
    cr_expect_eq(arena.held_bytes, 0);
    cr_expect_not(arena_charge(&arena, 1001), "the callback");
    cr_expect_eq(arena.held_bytes, 0);
}

Test(arena, copied_and_formatted_texts_end_with_nul)
{
    cleanup_arena struct arena arena = {0};
    char long_text[1000];
    struct str text = {0};

    cr_expect_str_eq(arena_copy(&arena, STR("abc")), "abc");
    cr_expect_str_eq(arena_copy(&arena, (struct str){0}), "");
    text = arena_format(&arena, "%s[%d]", "paths", 3);
    cr_expect(str_equal(text, STR("paths[3]")));
    cr_expect_eq(text.ptr[text.len], '\0');
    memset(long_text, 'x', sizeof(long_text));
    text = arena_format(&arena, "%.*s!", (int)sizeof(long_text), long_text);
    cr_expect_eq(text.len, sizeof(long_text) + 1);
    cr_expect_eq(text.ptr[sizeof(long_text) - 1], 'x');
    cr_expect_eq(text.ptr[sizeof(long_text)], '!');
    cr_expect_eq(text.ptr[text.len], '\0');
}

Test(arena, wiping_frees_everything_and_leaves_an_empty_arena)
{
    struct arena arena = {0};

    arena_wipe(&arena);
    for (size_t i = 0; i < 3; i++)
        cr_assert_not_null(arena_copy(&arena, STR("a key")));
    cr_assert_not_null(arena_alloc(&arena, (size_t)1 << 20, 1));
    arena_wipe(&arena);
    cr_assert_eq(arena_used_bytes(&arena), 0);
    cr_assert_eq(arena.held_bytes, 0);
    cr_assert_not_null(arena_copy(&arena, STR("again")));
    arena_wipe(&arena);
}

Test(arena, texts_take_no_padding_and_other_memory_stays_aligned)
{
    struct arena trial = {0};
    struct arena arena = {0};

    arena_expect(&arena, 4096);
    for (size_t round = 0; round < 2; round++) {
        struct arena *one = round == 0 ? &trial : &arena;
        char *texts[40];

        for (size_t i = 0; i < 40; i++) {
            void *memory = arena_alloc(one, 1, 24);

            texts[i] = arena_alloc_text(one, i * 7);
            cr_assert_not_null(memory);
            cr_assert_not_null(texts[i]);
            cr_assert_eq((uintptr_t)memory % _Alignof(max_align_t), 0);
            memset(memory, 'r', 24);
            memset(texts[i], (int)i, i * 7);
        }
        for (size_t i = 0; i < 40; i++) {
            for (size_t k = 0; k < i * 7; k++)
                cr_assert_eq(texts[i][k], (char)i);
        }
        if (round == 0) { /* one block of this size holds the same a second time */
            arena_release(&arena);
            arena_expect(&arena, arena_used_bytes(&trial));
        }
    }
    cr_expect_leq(arena.held_bytes, arena_used_bytes(&trial) + 64);
    arena_release(&trial);
    arena_release(&arena);
}
