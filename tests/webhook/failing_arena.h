/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_WEBHOOK_FAILING_ARENA_H
#define TESTS_WEBHOOK_FAILING_ARENA_H

/*
 * failing_arena - makes one allocation from an arena fail. One thread only. A program that uses it
 * is linked with FAILING_ARENA_WRAPS of CMakeLists.txt.
 */

#include <stdbool.h>
#include <stddef.h>

/* The nth allocation from now fails, and no other. */
void failing_arena_arm(size_t nth);
/* Disarms. true if an allocation has failed. */
bool failing_arena_disarm(void);

/* Counts an allocation. true if it must fail. For programs that also wrap other functions. */
bool failing_arena_fails_now(void);

#endif
