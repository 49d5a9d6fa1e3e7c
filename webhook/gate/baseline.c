/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline - makes the baseline that limits a pod (gate-v1, section 5): what all baselines allow
 * and, if the pod gives requirements in its annotation, the signed requirements allow too.
 */

#include "webhook/gate/internal.h"

#include <errno.h>

#include "planner/base/tree.h"

int gate_make_baseline(struct judgement *j, cJSON **ret_baseline)
{
    const struct snapshot_baselines *limits = j->found.limits;
    struct ceiling ceiling = limits->ceiling;
    int r = 0;

    if (j->found.in_use != NULL && j->claims.requirements != NULL) {
        r = ceiling_meet(&ceiling, ceiling_of_signed(j->found.in_use->requirements), j->arena);
        return r == 0 ? ceiling_write(&ceiling, j->arena, ret_baseline) : r;
    }
    if (limits->baseline == NULL) {
        *ret_baseline = NULL;
        return 0;
    }
    *ret_baseline = tree_borrow(j->arena, limits->baseline);
    return *ret_baseline != NULL ? 0 : -ENOMEM;
}
