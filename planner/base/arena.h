/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_BASE_ARENA_H
#define PLANNER_BASE_ARENA_H

/*
 * arena - memory with one lifetime: many allocations, one release.
 *
 * {0} is a valid empty arena without a limit. One arena belongs to one request or one object.
 * Nothing is freed before arena_release().
 *
 * Errors     NULL: out of memory, a size that overflows, or the arena's limit reached.
 * Units      bytes.
 * Threads    one arena is used by one thread at a time.
 */

#include <stddef.h>

#include "planner/base/text.h"

struct arena_block;

struct arena {
    struct arena_block *last; /* owned */
    char *free;               /* the unused part of the current block */
    size_t free_bytes;
    size_t next_block_bytes;
    size_t held_bytes;  /* taken from the system so far, or charged */
    size_t limit_bytes; /* 0: none */

    /* Called before each block is taken from the system, and for each charge; false refuses it.
     * NULL: no check. */
    bool (*may_grow)(void *context, size_t bytes);
    void *may_grow_context;
};

/* count * size zeroed bytes, aligned for any type. */
void *arena_alloc(struct arena *arena, size_t count, size_t size)
    __attribute__((warn_unused_result, nonnull));

/* count zeroed bytes for a text. They are not aligned, so that short texts are packed densely. */
char *arena_alloc_text(struct arena *arena, size_t count)
    __attribute__((warn_unused_result, nonnull));

/* A copy of s with a NUL after it. An absent text gives "": NULL means failure only. */
char *arena_copy(struct arena *arena, struct str s) __attribute__((warn_unused_result, nonnull(1)));

/* Text formatted as by printf(), with a NUL after it; an absent text on failure. */
struct str arena_format(struct arena *arena, const char *format, ...)
    __attribute__((warn_unused_result, format(printf, 2, 3)));

/* Bytes allocated so far, including those lost to alignment. */
size_t arena_used_bytes(const struct arena *arena) __attribute__((nonnull));

/* Counts memory that is taken elsewhere for the same purpose, such as that of a library, against
 * the limit and may_grow, until arena_release(). False where they refuse it. */
bool arena_charge(struct arena *arena, size_t bytes) __attribute__((warn_unused_result, nonnull));

/* A hint for an empty arena: its first block is made large enough for that many bytes. */
void arena_expect(struct arena *arena, size_t bytes) __attribute__((nonnull));

/* Frees everything. The arena is empty again and keeps its limit. */
void arena_release(struct arena *arena);

/* The same, but overwrites the memory first: for keys and passwords. */
void arena_wipe(struct arena *arena);

#define cleanup_arena __attribute__((cleanup(arena_release)))
#define cleanup_arena_wiped __attribute__((cleanup(arena_wipe)))

#endif
