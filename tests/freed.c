/* SPDX-License-Identifier: Apache-2.0 */
/* freed - wraps free() and realloc() of our code. See freed.h. */

#define _GNU_SOURCE /* memmem */
#include "tests/freed.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char *const *watched;
static _Atomic(const char *) found;

void __real_free(void *ptr);
void __wrap_free(void *ptr);
void *__wrap_realloc(void *ptr, size_t bytes);

void freed_watch(const char *const *texts)
{
    watched = texts;
    atomic_store(&found, NULL);
}

const char *freed_found(void)
{
    return atomic_load(&found);
}

static void look(const void *ptr, size_t bytes)
{
    for (size_t i = 0; watched != NULL && watched[i] != NULL; i++) {
        if (memmem(ptr, bytes, watched[i], strlen(watched[i])) != NULL)
            atomic_store(&found, watched[i]);
    }
}

void __wrap_free(void *ptr)
{
    if (ptr != NULL)
        look(ptr, malloc_usable_size(ptr));
    __real_free(ptr);
}

/* Always moves: the old memory is then free, as it can be at any time. */
void *__wrap_realloc(void *ptr, size_t bytes)
{
    size_t old_bytes = ptr != NULL ? malloc_usable_size(ptr) : 0;
    void *moved = malloc(bytes);

    if (moved != NULL && ptr != NULL) {
        memcpy(moved, ptr, old_bytes < bytes ? old_bytes : bytes);
        __wrap_free(ptr);
    }
    return moved;
}
