/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_UTIL_REFCOUNT_H
#define K8S_UTIL_REFCOUNT_H

/*
 * refcount - how many references to an immutable, shared object exist. The thread that drops
 * the last one releases the object. The type that has this count offers x_ref() and x_unref().
 *
 * Threads    any number may take and drop; a thread that takes one must hold a reference already.
 */

#include <assert.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>

struct refcount {
    _Atomic unsigned count;
};

/* One reference, the caller's. */
static inline void refcount_init(struct refcount *refcount)
{
    atomic_init(&refcount->count, 1);
}

static inline void refcount_take(struct refcount *refcount)
{
    unsigned before = atomic_fetch_add_explicit(&refcount->count, 1, memory_order_relaxed);

    assert(before > 0 && before < UINT_MAX);
    (void)before;
}

/* Whether it was the last one: then the caller releases the object. */
static inline bool refcount_drop(struct refcount *refcount)
{
    unsigned before = atomic_fetch_sub_explicit(&refcount->count, 1, memory_order_acq_rel);

    assert(before > 0);
    return before == 1;
}

#endif
