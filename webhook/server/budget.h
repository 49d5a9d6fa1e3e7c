/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_BUDGET_H
#define WEBHOOK_SERVER_BUDGET_H

/*
 * budget - how much work may be in flight (gate-v1, sections 8 and 10): slots and bytes.
 *
 * A slot is taken by a complete body only. Bytes are those of bodies as they arrive and of arenas
 * as they grow; those of unfinished bodies also count for the address that sends them, which may
 * hold a quarter of all. So nobody who only begins keeps others from being answered.
 *
 * Slots of reviews that wait for the cluster are counted once more: they may be half of all, so
 * that pods that nobody has signed for, many at once, keep none from being answered that need no
 * wait.
 *
 * Nothing waits here: what does not fit is refused, and the caller answers 503.
 *
 * Threads    any number. Units bytes.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BUDGET_UNFINISHED_SHARE 4 /* an address may hold one part in so many */
#define BUDGET_WAITING_SHARE 2    /* of the slots, what waits; one at least */

struct budget {
    _Atomic uint64_t max_bytes;
    _Atomic uint64_t max_in_flight;
    _Atomic uint64_t bytes;
    _Atomic uint64_t in_flight;
    _Atomic uint64_t waiting; /* of those in flight */
};

/* What one address holds in unfinished bodies. */
struct budget_share {
    _Atomic uint64_t bytes;
};

/* May change while work is in flight: what is held stays held. */
void budget_set_limits(struct budget *budget, uint64_t max_bytes, uint64_t max_in_flight);

bool budget_take_slot(struct budget *budget) __attribute__((warn_unused_result));
void budget_return_slot(struct budget *budget);

/* For who has a slot, and keeps it. */
bool budget_take_wait(struct budget *budget) __attribute__((warn_unused_result));
void budget_return_wait(struct budget *budget);

bool budget_take_bytes(struct budget *budget, uint64_t bytes) __attribute__((warn_unused_result));
void budget_return_bytes(struct budget *budget, uint64_t bytes);

/* Bytes of an unfinished body: both the share and the whole must have room. */
bool budget_take_unfinished(struct budget *budget, struct budget_share *share, uint64_t bytes)
    __attribute__((warn_unused_result));
/* The body is complete, or gone: its bytes stay in the whole until budget_return_bytes(). */
void budget_finish(struct budget_share *share, uint64_t bytes);

#endif
