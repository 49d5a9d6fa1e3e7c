/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_BASE_ARENA_H
#define PLANNER_BASE_ARENA_H

/*
 * arena - memory with one lifetime: many allocations, one release.
 *
 * {0} is a valid empty arena without a limit. Not thread-safe: one arena belongs to one request
 * or one object. Nothing is freed before arena_release().
 *
 * Errors     NULL: out of memory, a size that overflows, or the arena's limit reached.
 * Units      bytes.
 */

#include <stddef.h>

#include "planner/base/text.h"

struct arena_block;

struct arena {
    struct arena_block *last; /* owned */
    char *free;               /* what is left of the current block */
    size_t free_bytes;
    size_t next_block_bytes;
    size_t held_bytes;  /* taken from the system so far */
    size_t limit_bytes; /* 0: none */

    /* Asked before every block is taken from the system; false refuses it. May be NULL. */
    bool (*may_grow)(void *context, size_t bytes);
    void *may_grow_context;
};

/* count * size zeroed bytes, aligned for any type. */
void *arena_alloc(struct arena *arena, size_t count, size_t size)
    __attribute__((warn_unused_result, nonnull));

/* So many zeroed bytes for a text, which need no alignment: many short ones lie close together. */
char *arena_alloc_text(struct arena *arena, size_t count)
    __attribute__((warn_unused_result, nonnull));

/* A copy of s with a NUL behind it; an absent text gives "" (never NULL but on failure). */
char *arena_copy(struct arena *arena, struct str s) __attribute__((warn_unused_result, nonnull(1)));

/* Text made by a printf format, with a NUL behind it; an absent text on failure. */
struct str arena_format(struct arena *arena, const char *format, ...)
    __attribute__((warn_unused_result, format(printf, 2, 3)));

/* What was handed out so far, with what its alignment cost. */
size_t arena_used_bytes(const struct arena *arena) __attribute__((nonnull));

/* So much will be asked for: the first block of an empty arena is to be of that size. */
void arena_expect(struct arena *arena, size_t bytes) __attribute__((nonnull));

/* Frees everything. The arena is empty again, its limit stays. */
void arena_release(struct arena *arena);

/* The same, and overwrites what was in it: for keys. */
void arena_wipe(struct arena *arena);

#define cleanup_arena __attribute__((cleanup(arena_release)))
#define cleanup_arena_wiped __attribute__((cleanup(arena_wipe)))

#endif
