/* SPDX-License-Identifier: Apache-2.0 */
#include "webhook/server/budget.h"

void budget_set_limits(struct budget *budget, uint64_t max_bytes, uint64_t max_in_flight)
{
    atomic_store(&budget->max_bytes, max_bytes);
    atomic_store(&budget->max_in_flight, max_in_flight);
}

static bool budget_add(_Atomic uint64_t *held, uint64_t more, uint64_t max)
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
    return budget_add(&budget->in_flight, 1, atomic_load(&budget->max_in_flight));
}

void budget_return_slot(struct budget *budget)
{
    (void)atomic_fetch_sub(&budget->in_flight, 1);
}

bool budget_take_wait(struct budget *budget)
{
    uint64_t max = atomic_load(&budget->max_in_flight) / BUDGET_WAITING_SHARE;

    return budget_add(&budget->waiting, 1, max > 0 ? max : 1);
}

void budget_return_wait(struct budget *budget)
{
    (void)atomic_fetch_sub(&budget->waiting, 1);
}

bool budget_take_bytes(struct budget *budget, uint64_t bytes)
{
    return budget_add(&budget->bytes, bytes, atomic_load(&budget->max_bytes));
}

void budget_return_bytes(struct budget *budget, uint64_t bytes)
{
    (void)atomic_fetch_sub(&budget->bytes, bytes);
}

bool budget_take_unfinished(struct budget *budget, struct budget_share *share, uint64_t bytes)
{
    if (!budget_add(&share->bytes, bytes,
                    atomic_load(&budget->max_bytes) / BUDGET_UNFINISHED_SHARE))
        return false;
    if (budget_take_bytes(budget, bytes))
        return true;
    budget_finish(share, bytes);
    return false;
}

void budget_finish(struct budget_share *share, uint64_t bytes)
{
    (void)atomic_fetch_sub(&share->bytes, bytes);
}
