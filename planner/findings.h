/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_FINDINGS_H
#define PLANNER_FINDINGS_H

/*
 * findings - what one evaluation has found so far.
 *
 * Errors     sticky: after the first failure nothing more is added, and `error` tells. So rules
 *            need not check each call, and a plan is made only where `error` is 0.
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

/* message lives in the arena or longer; an absent one is a failed allocation. */
void findings_add(struct findings *findings, enum plan_code code, struct str message);

/* By the table's rows, within one code bytewise by message; equal ones once. */
void findings_sort_once(struct findings *findings);

/* The decision that a finding of this code asks for: its class in the contract's table. */
enum plan_decision findings_class(enum plan_code code);

/* Contract, section Decision. Zero facts and no finding are not "ready": admission must allow. */
enum plan_decision findings_decide(const struct findings *findings, bool admitted,
                                   bool network_with_paths);

#endif
