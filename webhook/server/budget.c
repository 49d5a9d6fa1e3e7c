/* SPDX-License-Identifier: Apache-2.0 */
/* budget - atomic counters with limits. See budget.h. */

#include "webhook/server/budget.h"

#include <assert.h>

void budget_set_limits(struct budget *budget, uint64_t max_bytes, uint64_t max_in_flight)
{
    atomic_store(&budget->max_bytes, max_bytes);
    atomic_store(&budget->max_in_flight, max_in_flight);
}

static void subtract(_Atomic uint64_t *held, uint64_t less)
{
    uint64_t before = atomic_fetch_sub(held, less);

    assert(before >= less);
    (void)before;
}

static bool add_up_to(_Atomic uint64_t *held, uint64_t more, uint64_t max)
{
    uint64_t before = atomic_load(held);

    do {
        if (before > max || more > max - before)
            return false;
    } while (!atomic_compare_exchange_weak(held, &before, before + more));
    return true;
}

bool budget_take_slot(struct budget *budget)
{
    return add_up_to(&budget->in_flight, 1, atomic_load(&budget->max_in_flight));
}

void budget_return_slot(struct budget *budget)
{
    subtract(&budget->in_flight, 1);
}

bool budget_take_wait(struct budget *budget)
{
    uint64_t max = atomic_load(&budget->max_in_flight) / BUDGET_WAITING_SHARE;

    return add_up_to(&budget->waiting, 1, max > 0 ? max : 1);
}

void budget_return_wait(struct budget *budget)
{
    subtract(&budget->waiting, 1);
}

bool budget_take_bytes(struct budget *budget, uint64_t bytes)
{
    return add_up_to(&budget->bytes, bytes, atomic_load(&budget->max_bytes));
}

void budget_return_bytes(struct budget *budget, uint64_t bytes)
{
    subtract(&budget->bytes, bytes);
}

bool budget_take_unfinished(struct budget *budget, struct budget_share *share, uint64_t bytes)
{
    if (!add_up_to(&share->bytes, bytes, atomic_load(&budget->max_bytes) / BUDGET_UNFINISHED_SHARE))
        return false;
    if (budget_take_bytes(budget, bytes))
        return true;
    budget_finish(share, bytes);
    return false;
}

void budget_finish(struct budget_share *share, uint64_t bytes)
{
    subtract(&share->bytes, bytes);
}
