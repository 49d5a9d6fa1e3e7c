/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_UTIL_HEAP_H
#define WEBHOOK_UTIL_HEAP_H

/*
 * heap - keeps the memory of a long-running program near to what it uses.
 *
 * glibc makes up to eight heaps for each core, and raises its own thresholds when large blocks are
 * freed: these then come from a heap, which keeps them. So memory grew with the number of threads
 * and with the largest request so far. Where the system gives huge pages to every program, the
 * stack of each thread takes 2 MiB at its first use.
 *
 * Threads    heap_limit() is called before the program starts any.
 * Units      bytes.
 */

#include <stddef.h>

#define HEAP_ARENAS 2 /* a second one, so that threads seldom wait for each other */
/* A larger allocation is a mapping of its own, which free() returns to the system. */
#define HEAP_MAPPED_BYTES ((size_t)128 * 1024)
/* Free memory at the end of a heap beyond this returns to the system. */
#define HEAP_TRIM_BYTES ((size_t)128 * 1024)

/* Never fails: a system or C library that does not know a setting keeps its own. */
void heap_limit(void);

#endif
