/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FREED_H
#define TESTS_FREED_H

/*
 * freed - watches memory that our code returns to the allocator. Link with FREED_WRAPS. Libraries
 * of the system are not watched.
 *
 * Threads    any; freed_watch() before they start.
 */

#include <stddef.h>

/* Texts that must not be in memory that is freed; NULL after the last one. */
void freed_watch(const char *const *texts);
/* The first of these texts that was found, or NULL. */
const char *freed_found(void);

#endif
