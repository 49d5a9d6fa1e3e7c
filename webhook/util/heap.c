/* SPDX-License-Identifier: Apache-2.0 */
/* heap - settings of glibc's allocator, and of the pages of the process. See heap.h. */

#include "webhook/util/heap.h"

#include <malloc.h>
#include <sys/prctl.h>

void heap_limit(void)
{
    (void)mallopt(M_ARENA_MAX, HEAP_ARENAS);
    /* each of these two also ends the automatic change of both */
    (void)mallopt(M_MMAP_THRESHOLD, (int)HEAP_MAPPED_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, (int)HEAP_TRIM_BYTES);
    (void)prctl(PR_SET_THP_DISABLE, 1UL, 0UL, 0UL, 0UL);
}
