/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/base/arena.h"

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
#define GUARD_BYTES 16 /* between two allocations, so that the sanitizer sees an overrun */
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
    _Alignas(max_align_t) struct arena_block *before; /* owned */
    size_t bytes;                                     /* of the whole block, this head included */
    char room[];
};

static bool arena_within_limit(const struct arena *arena, size_t bytes)
{
    return arena->limit_bytes == 0 || (arena->held_bytes <= arena->limit_bytes &&
                                       bytes <= arena->limit_bytes - arena->held_bytes);
}

static struct arena_block *arena_take(struct arena *arena, size_t bytes)
{
    struct arena_block *block = NULL;

    if (!arena_within_limit(arena, bytes))
        return NULL;
    if (arena->may_grow != NULL && !arena->may_grow(arena->may_grow_context, bytes))
        return NULL;
    block = malloc(bytes);
    if (block == NULL)
        return NULL;
    *block = (struct arena_block){.before = arena->last, .bytes = bytes};
    arena->last = block;
    arena->held_bytes += bytes;
    return block;
}

/* Of the current block's room: what is aligned from its front, texts from its back, so that
 * neither costs the other anything. */
static char *arena_take_front(struct arena *arena, size_t bytes)
{
    char *ptr = arena->free;

    arena->free += bytes;
    arena->free_bytes -= bytes;
    return ptr;
}

static char *arena_take_back(struct arena *arena, size_t bytes)
{
    arena->free_bytes -= bytes;
    return arena->free + arena->free_bytes;
}

/* Room for `bytes`, which the current block has not. What is too big for an ordinary block, or
 * for what the limit leaves of one, gets a block of its own; the current one stays in use then. */
static char *arena_grow(struct arena *arena, size_t bytes,
                        char *(*take)(struct arena *arena, size_t bytes))
{
    size_t ordinary = arena->next_block_bytes != 0 ? arena->next_block_bytes : FIRST_BLOCK_BYTES;
    bool own =
        bytes > ordinary - sizeof(struct arena_block) || !arena_within_limit(arena, ordinary);
    struct arena_block *block = NULL;

    if (bytes > SIZE_MAX - sizeof(struct arena_block))
        return NULL;
    block = arena_take(arena, own ? sizeof(struct arena_block) + bytes : ordinary);
    if (block == NULL)
        return NULL;
    guard_close(block->room, block->bytes - sizeof(struct arena_block));
    if (own)
        return block->room;
    arena->free = block->room;
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
    /* never nothing: two allocations have two addresses */
    if (wanted == 0)
        bytes++;
    bytes = (bytes - 1) / ALIGN_BYTES * ALIGN_BYTES;
    ptr = bytes <= arena->free_bytes ? arena_take_front(arena, bytes)
                                     : arena_grow(arena, bytes, arena_take_front);
    if (ptr == NULL)
        return NULL;
    guard_open(ptr, wanted);
    return memset(ptr, 0, wanted);
}

char *arena_alloc_text(struct arena *arena, size_t count)
{
    size_t bytes = count > 0 ? count : 1;
    char *ptr = NULL;

    if (GUARD_BYTES > 0) /* the sanitizer marks whole units */
        return arena_alloc(arena, count, 1);
    ptr = bytes <= arena->free_bytes ? arena_take_back(arena, bytes)
                                     : arena_grow(arena, bytes, arena_take_back);
    return ptr != NULL ? memset(ptr, 0, bytes) : NULL;
}

size_t arena_used_bytes(const struct arena *arena)
{
    size_t used = 0;

    for (const struct arena_block *block = arena->last; block != NULL; block = block->before)
        used += block->bytes - sizeof(struct arena_block);
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
        struct arena_block *before = block->before;

        guard_open(block->room, block->bytes - sizeof(struct arena_block));
        free(block);
        block = before;
    }
    arena->last = NULL;
    arena->free = NULL;
    arena->free_bytes = 0;
    arena->next_block_bytes = 0;
    arena->held_bytes = 0;
}

void arena_wipe(struct arena *arena)
{
    for (struct arena_block *block = arena->last; block != NULL; block = block->before) {
        guard_open(block->room, block->bytes - sizeof(struct arena_block));
        explicit_bzero(block->room, block->bytes - sizeof(struct arena_block));
    }
    arena_release(arena);
}
