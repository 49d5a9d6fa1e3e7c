/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena - memory with one lifetime: many allocations, one release.
 *
 * An arena takes blocks from the system and hands out pieces of the newest one. Blocks double in
 * size, so that a small request costs little and a large one few calls of malloc().
 */
#include "planner/base/arena.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_GUARDED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_GUARDED 1
#endif
#endif

#ifdef ARENA_GUARDED
#include <sanitizer/asan_interface.h>
#define GUARD_BYTES 16 /* between two allocations, so that the sanitizer finds an overrun */
#define guard_close(ptr, bytes) ASAN_POISON_MEMORY_REGION(ptr, bytes)
#define guard_open(ptr, bytes) ASAN_UNPOISON_MEMORY_REGION(ptr, bytes)
#else
#define GUARD_BYTES 0
#define guard_close(ptr, bytes) ((void)0)
#define guard_open(ptr, bytes) ((void)0)
#endif

#define ALIGN_BYTES (_Alignof(max_align_t))
#define FIRST_BLOCK_BYTES ((size_t)4 << 10)
#define LAST_BLOCK_BYTES ((size_t)1 << 20)

struct arena_block {
    _Alignas(max_align_t) struct arena_block *previous; /* owned */
    size_t bytes;                                       /* of the whole block, with this header */
    char data[];
};

static bool is_within_limit(const struct arena *arena, size_t bytes)
{
    return arena->limit_bytes == 0 || (arena->held_bytes <= arena->limit_bytes &&
                                       bytes <= arena->limit_bytes - arena->held_bytes);
}

bool arena_charge(struct arena *arena, size_t bytes)
{
    if (!is_within_limit(arena, bytes))
        return false;
    if (arena->may_grow != NULL && !arena->may_grow(arena->may_grow_context, bytes))
        return false;
    arena->held_bytes += bytes;
    return true;
}

static struct arena_block *add_block(struct arena *arena, size_t bytes)
{
    struct arena_block *block = NULL;

    if (!arena_charge(arena, bytes))
        return NULL;
    block = malloc(bytes);
    if (block == NULL) {
        arena->held_bytes -= bytes;
        return NULL;
    }
    *block = (struct arena_block){.previous = arena->last, .bytes = bytes};
    arena->last = block;
    return block;
}

/* Aligned memory is taken from the front of the current block, text from its back: so text leaves
 * no gaps for alignment. */
static char *take_front(struct arena *arena, size_t bytes)
{
    char *ptr = arena->free;

    assert(bytes <= arena->free_bytes);
    arena->free += bytes;
    arena->free_bytes -= bytes;
    return ptr;
}

static char *take_back(struct arena *arena, size_t bytes)
{
    assert(bytes <= arena->free_bytes);
    arena->free_bytes -= bytes;
    return arena->free + arena->free_bytes;
}

/* Takes `bytes` that do not fit into the current block. An allocation that is too big for an
 * ordinary block, or for the rest of the limit, gets a block of its own; the current one stays in
 * use. */
static char *take_from_new_block(struct arena *arena, size_t bytes,
                                 char *(*take)(struct arena *arena, size_t bytes))
{
    size_t ordinary = arena->next_block_bytes != 0 ? arena->next_block_bytes : FIRST_BLOCK_BYTES;
    bool own = bytes > ordinary - sizeof(struct arena_block) || !is_within_limit(arena, ordinary);
    struct arena_block *block = NULL;

    if (bytes > SIZE_MAX - sizeof(struct arena_block))
        return NULL;
    block = add_block(arena, own ? sizeof(struct arena_block) + bytes : ordinary);
    if (block == NULL)
        return NULL;
    guard_close(block->data, block->bytes - sizeof(struct arena_block));
    if (own)
        return block->data;
    arena->free = block->data;
    arena->free_bytes = block->bytes - sizeof(struct arena_block);
    arena->next_block_bytes = ordinary < LAST_BLOCK_BYTES ? ordinary * 2 : ordinary;
    return take(arena, bytes);
}

void *arena_alloc(struct arena *arena, size_t count, size_t size)
{
    size_t wanted = 0, bytes = 0;
    char *ptr = NULL;

    if (__builtin_mul_overflow(count, size, &wanted) ||
        __builtin_add_overflow(wanted, ALIGN_BYTES + GUARD_BYTES, &bytes))
        return NULL;
    /* at least one unit: two allocations have two addresses */
    if (wanted == 0)
        bytes++;
    bytes = (bytes - 1) / ALIGN_BYTES * ALIGN_BYTES;
    ptr = bytes <= arena->free_bytes ? take_front(arena, bytes)
                                     : take_from_new_block(arena, bytes, take_front);
    if (ptr == NULL)
        return NULL;
    guard_open(ptr, wanted);
    return memset(ptr, 0, wanted);
}

char *arena_alloc_text(struct arena *arena, size_t count)
{
    size_t bytes = count > 0 ? count : 1;
    char *ptr = NULL;

    if (GUARD_BYTES > 0) /* the sanitizer marks whole units of memory only */
        return arena_alloc(arena, count, 1);
    ptr = bytes <= arena->free_bytes ? take_back(arena, bytes)
                                     : take_from_new_block(arena, bytes, take_back);
    return ptr != NULL ? memset(ptr, 0, bytes) : NULL;
}

size_t arena_used_bytes(const struct arena *arena)
{
    size_t used = 0;

    for (const struct arena_block *block = arena->last; block != NULL; block = block->previous)
        used += block->bytes - sizeof(struct arena_block);
    assert(used >= arena->free_bytes);
    return used - arena->free_bytes;
}

void arena_expect(struct arena *arena, size_t bytes)
{
    if (bytes <= SIZE_MAX / 4)
        arena->next_block_bytes = sizeof(struct arena_block) + bytes;
}

void arena_release(struct arena *arena)
{
    struct arena_block *block = arena->last;

    while (block != NULL) {
        struct arena_block *previous = block->previous;

        guard_open(block->data, block->bytes - sizeof(struct arena_block));
        free(block);
        block = previous;
    }
    arena->last = NULL;
    arena->free = NULL;
    arena->free_bytes = 0;
    arena->next_block_bytes = 0;
    arena->held_bytes = 0;
}

void arena_wipe(struct arena *arena)
{
    for (struct arena_block *block = arena->last; block != NULL; block = block->previous) {
        guard_open(block->data, block->bytes - sizeof(struct arena_block));
        explicit_bzero(block->data, block->bytes - sizeof(struct arena_block));
    }
    arena_release(arena);
}
