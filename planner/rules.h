/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_RULES_H
#define PLANNER_RULES_H

/*
 * rules - the contract's table of findings, from sandbox.workload.identity on. What a reader can
 * see by itself (sandbox.input.*, sandbox.requirements.max_age) is found by input_read().
 */

#include "planner/admission.h"

/* What the rules look at; they see neither each other nor the decision. */
struct rules_case {
    const struct input *input;
    const struct declaration *declaration;
    const struct admission *admission;
};

/* Adds what each rule finds; a failed allocation is findings->error. */
void rules_judge(const struct rules_case *c, struct findings *findings) __attribute__((nonnull));

#endif
