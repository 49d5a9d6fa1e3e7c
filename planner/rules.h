/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_RULES_H
#define PLANNER_RULES_H

/*
 * rules - the contract's table of findings, from sandbox.workload.identity on. input_read() adds
 * the findings before that (sandbox.input.*) and sandbox.requirements.max_age.
 */

#include "planner/admission.h"

/* What a rule may read. It reads neither the findings of other rules nor the decision. */
struct rules_case {
    const struct input *input;
    const struct declaration *declaration;
    const struct admission *admission;
};

/* Adds the findings of all rules. A failed allocation sets findings->error. */
void rules_judge(const struct rules_case *c, struct findings *findings) __attribute__((nonnull));

#endif
