/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exemption - finds a signed exemption that waives every finding of a pod (gate-v1, sections 4
 * and 7).
 */

#include "webhook/gate/internal.h"

/* The codes of the findings. */
struct blocking {
    bool gate[GATE_CODE_COUNT];
    bool plan[PLAN_CODE_COUNT];
};

static struct blocking collect(const struct judgement *j, const struct plan *plan)
{
    struct blocking b = {0};

    for (size_t i = 0; i < j->findings.count; i++)
        b.gate[j->findings.items[i].code] = true;
    for (size_t i = 0; i < plan->finding_count; i++)
        b.plan[plan->findings[i].code] = true;
    return b;
}

static bool waives_gate_code(const struct evidence *e, enum gate_code code)
{
    if (code == GATE_CODE_REVIEW_UNUSABLE)
        return false;
    if (e->findings_named)
        return str_list_has(e->findings, str_of(gate_code_text(code)));
    return code == GATE_CODE_EVIDENCE_MISSING || code == GATE_CODE_EVIDENCE_EXPIRED ||
           code == GATE_CODE_EVIDENCE_CONFLICT;
}

static bool waives_plan_code(const struct evidence *e, enum plan_code code)
{
    return !e->findings_named || str_list_has(e->findings, str_of(plan_code_text(code)));
}

static bool covers(const struct evidence *e, const struct blocking *b)
{
    for (int i = 0; i < GATE_CODE_COUNT; i++) {
        if (b->gate[i] && !waives_gate_code(e, (enum gate_code)i))
            return false;
    }
    for (int i = 0; i < PLAN_CODE_COUNT; i++) {
        if (b->plan[i] && !waives_plan_code(e, (enum plan_code)i))
            return false;
    }
    return true;
}

/* True if any pattern matches. An absent value matches none. */
static bool list_matches(struct str_list patterns, struct str value)
{
    for (size_t i = 0; str_present(value) && i < patterns.count; i++) {
        if (evidence_pattern_matches(patterns.items[i], value))
            return true;
    }
    return false;
}

static bool in_scope(const struct evidence *e, const struct judgement *j)
{
    return list_matches(e->match.namespaces, j->review->namespace_name) &&
           (!e->match.skill_refs_named || list_matches(e->match.skill_refs, j->claims.skill_ref)) &&
           (!e->match.image_digests_named ||
            list_matches(e->match.image_digests, j->claims.image_digest)) &&
           (!e->match.users_named || list_matches(e->match.users, j->review->user)) &&
           (!e->match.service_accounts_named ||
            list_matches(e->match.service_accounts, j->pod.service_account));
}

/* Of two exemptions that apply, the one that ends last; then the first by name, bytewise. */
static bool is_better(const struct evidence *e, const struct evidence *than)
{
    int ends = than == NULL ? 1 : moment_compare(e->expires_at, than->expires_at);

    return ends > 0 || (ends == 0 && str_compare(e->name, than->name) < 0);
}

const struct evidence *gate_find_exemption(const struct judgement *j, const struct plan *plan)
{
    struct evidence_run run = snapshot_exemptions(j->snapshot);
    struct blocking blocking = collect(j, plan);
    const struct evidence *best = NULL;

    for (size_t i = 0; i < run.count; i++) {
        const struct evidence *e = run.items[i];

        if (e->has_expires_at && !evidence_expired(e, j->now) && in_scope(e, j) &&
            covers(e, &blocking) && is_better(e, best))
            best = e;
    }
    return best;
}
