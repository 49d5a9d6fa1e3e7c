/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_FINDINGS_H
#define PLANNER_FINDINGS_H

/*
 * findings - the findings of one evaluation, and the decision that follows from them.
 *
 * Errors     sticky: after the first failure nothing more is added, and `error` is set. Rules do
 *            not check each call; a plan is made only where `error` is 0.
 */

#include "planner/base/arena.h"
#include "planner/plan.h"

struct findings {
    struct arena *arena; /* borrowed; owns list and messages */
    struct plan_finding *items;
    size_t count;
    size_t capacity;
    int error; /* 0 or -ENOMEM */
};

/* message must live as long as the arena. An absent one is taken for a failed allocation. */
void findings_add(struct findings *findings, enum plan_code code, struct str message);

/* Sorts by the order of PLAN_CODES, and bytewise by message within one code; equal findings once.
 */
void findings_sort_once(struct findings *findings);

/* The decision that a finding of this code leads to: its class in the contract's table. */
enum plan_decision findings_class(enum plan_code code);

/* hardening-v1, section Decision. No finding alone is not "ready": admission must allow, too.
 * PLAN_UNDECIDED after an error. */
enum plan_decision findings_decide(const struct findings *findings, bool admitted,
                                   bool network_with_paths);

#endif
