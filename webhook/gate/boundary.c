/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boundary - reads the pod's own spec back beside its plan, and adds the findings that block
 * (boundary-v1, section 4).
 */

#include "webhook/gate/internal.h"

bool gate_boundary_blocks(const struct decision *d, const struct boundary_finding *f)
{
    return (d->boundary_hold & boundary_control_bit(boundary_code_control(f->code))) != 0 ||
           (d->levels.boundary == BOUNDARY_LEVEL_BLOCK &&
            boundary_code_state(f->code) == BOUNDARY_CONTRADICTED);
}

/* Behind all other findings, in the order of the reading. */
static int add_blocking(struct judgement *j, const struct boundary_finding *f)
{
    struct str message = {0};
    int r = boundary_message(f, j->arena, &message);

    if (r < 0)
        return r;
    return gate_add_finding(
        j, (struct gate_finding){.code = gate_code_of_boundary(f->code),
                                 .message = message,
                                 .place = f->place.len > 0 ? f->place : (struct str){0}});
}

/* Requirements were given, and somebody asks; or a baseline holds a control, which an exemption
 * for missing evidence must not lift. */
static bool is_read(const struct judgement *j, const struct decision *d)
{
    bool given = j->found.in_use != NULL || j->found.unsigned_accepted;

    return (given && d->levels.boundary != BOUNDARY_LEVEL_NONE) || d->boundary_hold != 0;
}

int gate_read_boundary(struct judgement *j, struct decision *d)
{
    const struct snapshot_baselines *limits = j->found.limits;
    struct boundary_question question = {
        .pod = &j->pod,
        .sidecars = j->sidecars,
        .declared = plan_declaration(&d->plan),
        .mounts = {limits->ceiling.mounts.items, limits->ceiling.mounts.count},
    };
    struct network_policy_run policies = {0};
    int r = 0;

    d->boundary_hold = limits->hold;
    if (!is_read(j, d))
        return 0;
    question.policies_read =
        snapshot_network_policies(j->snapshot, j->review->namespace_name, &policies);
    question.policies = policies.items;
    question.policy_count = policies.count;
    r = boundary_read(&question, j->arena, &d->boundary);
    for (size_t i = 0; r == 0 && i < d->boundary.finding_count; i++) {
        if (gate_boundary_blocks(d, &d->boundary.findings[i]))
            r = add_blocking(j, &d->boundary.findings[i]);
    }
    for (int i = 0; r == 0 && i < BOUNDARY_CODE_COUNT; i++) {
        const struct boundary_finding counted = {.code = (enum boundary_code)i};

        if (gate_boundary_blocks(d, &counted))
            d->finding_more += d->boundary.more[i];
    }
    if (r == 0)
        d->boundary_read = true;
    return r;
}
