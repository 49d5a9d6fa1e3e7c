/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_UTIL_WIPE_H
#define K8S_UTIL_WIPE_H

/*
 * wipe - frees memory that can hold a key, a password or a token, and overwrites it first. For
 * memory that malloc() gave; arena_wipe() does the same for an arena.
 */

#include <stdlib.h>
#include <string.h>

/* NULL is allowed. */
static inline void wipe_bytes(void *ptr, size_t bytes)
{
    if (ptr != NULL)
        explicit_bzero(ptr, bytes);
    free(ptr);
}

/* NULL is allowed. */
static inline void wipe_text(char *text)
{
    wipe_bytes(text, text != NULL ? strlen(text) : 0);
}

#endif
