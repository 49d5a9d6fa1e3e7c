/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_ADMISSION_H
#define PLANNER_ADMISSION_H

/*
 * admission - what Runx's own admission would say to a declaration (hardening-v1, section
 * Declaration and admission). Zero denies.
 */

#include "planner/declaration.h"

#define ADMISSION_MAX_REASONS 3

struct admission {
    bool allowed;
    struct str reasons[ADMISSION_MAX_REASONS]; /* of a denial, in the contract's order; else the
                                                  one sentence that admits */
    size_t reason_count;
};

/* 0 or -ENOMEM. */
int admission_judge(const struct declaration *declaration, struct arena *arena,
                    struct admission *ret_admission) __attribute__((warn_unused_result, nonnull));

#endif
