/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy - the defaults of a policy.
 */
#include "k8s/policy/policy.h"

#define POLICY_DEFAULT_MAX_AGE_DAYS 30
#define POLICY_DEFAULT_CLOCK_SKEW_SEC 60

struct policy policy_defaults(void)
{
    struct policy policy = {
        .own_namespace = STR(POLICY_OWN_NAMESPACE),
        .defaults = {.enforce = LEVEL_ANNOTATED,
                     .warn = LEVEL_NONE,
                     .audit = LEVEL_NONE,
                     .boundary = BOUNDARY_LEVEL_RECORD},
        .floor = {.enforce = LEVEL_NONE,
                  .warn = LEVEL_NONE,
                  .audit = LEVEL_NONE,
                  .boundary = BOUNDARY_LEVEL_NONE},
        .controllers = CONTROLLERS_WARN,
        .max_age_days = POLICY_DEFAULT_MAX_AGE_DAYS,
        .clock_skew_sec = POLICY_DEFAULT_CLOCK_SKEW_SEC,
    };

    for (size_t i = 0; i < EVIDENCE_KIND_COUNT; i++)
        policy.signers[i].threshold = 1;
    return policy;
}
