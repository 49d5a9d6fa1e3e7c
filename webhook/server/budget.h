/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_BUDGET_H
#define WEBHOOK_SERVER_BUDGET_H

/*
 * budget - how much work can be in flight at once (gate-v1, sections 8 and 10), in slots and bytes.
 *
 * Only a request with a complete body takes a slot. Bytes are counted for bodies as they arrive,
 * for arenas as they grow, and for answers until they are sent. Bytes of unfinished bodies are also
 * counted for the address that sends them, which can hold a quarter of all bytes: a client that
 * never completes its requests cannot keep others from being answered.
 *
 * Reviews that wait for the cluster are counted a second time and can take half of the slots: many
 * pods without evidence at once cannot keep reviews that need no wait from being answered.
 *
 * Nothing blocks here: what does not fit is refused, and the caller answers 503.
 *
 * Threads    any number.
 * Units      bytes, slots.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BUDGET_UNFINISHED_SHARE 4 /* an address can hold this part of the bytes */
#define BUDGET_WAITING_SHARE 2 /* waiting reviews can hold this part of the slots, at least one */

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

/* Can be called while work is in flight: what is taken stays taken. */
void budget_set_limits(struct budget *budget, uint64_t max_bytes, uint64_t max_in_flight);

bool budget_take_slot(struct budget *budget) __attribute__((warn_unused_result));
void budget_return_slot(struct budget *budget);

/* The caller has a slot, and keeps it while it waits. */
bool budget_take_wait(struct budget *budget) __attribute__((warn_unused_result));
void budget_return_wait(struct budget *budget);

bool budget_take_bytes(struct budget *budget, uint64_t bytes) __attribute__((warn_unused_result));
void budget_return_bytes(struct budget *budget, uint64_t bytes);

/* Bytes of an unfinished body: they must fit into the share of the address and into the whole. */
bool budget_take_unfinished(struct budget *budget, struct budget_share *share, uint64_t bytes)
    __attribute__((warn_unused_result));
/* The body is complete or freed: its bytes leave the share. They are counted in the whole until
 * budget_return_bytes(). */
void budget_finish(struct budget_share *share, uint64_t bytes);

#endif
