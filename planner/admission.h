/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_ADMISSION_H
#define PLANNER_ADMISSION_H

/*
 * admission - predicts what Runx's admission answers to a declaration (hardening-v1, section
 * Declaration and admission).
 *
 * A zeroed struct denies.
 */

#include "planner/declaration.h"

#define ADMISSION_MAX_REASONS 3

struct admission {
    bool allowed;
    /* why it is denied, in the contract's order; where it is allowed, one sentence that says so */
    struct str reasons[ADMISSION_MAX_REASONS];
    size_t reason_count;
};

/* 0 or -ENOMEM. Reasons live in the arena or are static. */
int admission_judge(const struct declaration *declaration, struct arena *arena,
                    struct admission *ret_admission) __attribute__((warn_unused_result, nonnull));

#endif
