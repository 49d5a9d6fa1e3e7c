/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan - one evaluation: reads the input, derives the declaration, applies the rules, decides, and
 * writes the packet.
 */
#include "planner/plan.h"

#include <assert.h>
#include <errno.h>

#include "planner/base/tree.h"
#include "planner/packet.h"
#include "planner/rules.h"

bool plan_admits(const struct plan *plan)
{
    return plan != NULL && plan->decision == PLAN_READY;
}

/* A reference as the packet shows it: one with a password is replaced. */
static struct str without_credentials(struct str reference)
{
    return plan_has_credentials(reference) ? STR("[redacted]") : reference;
}

static struct str ref_form(const struct input *input)
{
    if (str_present(input->values[INPUT_IMAGE_DIGEST].text))
        return STR("image_digest");
    return str_present(input->values[INPUT_SKILL_REF].text) ? STR("skill_ref") : STR("");
}

/* The fields that do not depend on the decision; the caller sets the others. */
static struct packet make_packet(const struct input *input, const struct declaration *d)
{
    static const struct str controls[] = {
        STR_INIT("seccomp syscall policy"),
        STR_INIT("host egress allowlist"),
        STR_INIT("Linux capability policy"),
        STR_INIT("CPU and memory limits"),
    };

    return (struct packet){
        .ref_form = ref_form(input),
        .image_digest = input->values[INPUT_IMAGE_DIGEST].text,
        .skill_ref = without_credentials(input->values[INPUT_SKILL_REF].text),
        .workload_class = input->values[INPUT_CLASS].text,
        .profile = str_of(declaration_profile_text(d->profile)),
        .cwd_policy = d->cwd_policy,
        .env_given = d->env_given,
        .env_allowlist = d->env_allowlist,
        .network = d->network,
        .writable_paths = d->writable_paths,
        .require_enforcement = d->require_enforcement,
        .source_ref = without_credentials(input->values[INPUT_SOURCE_REF].text),
        .source_digest = input->values[INPUT_SOURCE_DIGEST].text,
        .observed_at = input->values[INPUT_OBSERVED_AT].text,
        .unsupported_controls = {controls, sizeof(controls) / sizeof(controls[0])},
        .risk_medium = d->network || d->writable_paths.count > 0,
        .risk_reason = STR("The Runx sandbox declaration governs filesystem, environment, and "
                           "coarse network access; syscall, host-level egress, Linux capabilities, "
                           "and resource quotas require a separate runtime boundary."),
    };
}

/* The parts of one evaluation. In the arena: they are too big for the stack of a thread. */
struct work {
    struct input input;
    struct declaration declaration;
    struct admission admission;
    struct packet packet;
};

static int work_judge(struct work *work, const cJSON *input, struct findings *findings)
{
    const struct rules_case c = {&work->input, &work->declaration, &work->admission};
    int r = 0;

    input_read(input, &input_root, findings->arena, &work->input, findings);
    if (findings->error != 0)
        return findings->error;
    r = declaration_make(&work->input, findings->arena, &work->declaration);
    if (r < 0)
        return r;
    r = admission_judge(&work->declaration, findings->arena, &work->admission);
    if (r < 0)
        return r;
    rules_judge(&c, findings);
    if (findings->error != 0)
        return findings->error;
    findings_sort_once(findings);
    return 0;
}

int plan_evaluate(const cJSON *input, enum plan_provenance provenance, struct arena *arena,
                  struct plan *ret_plan)
{
    struct findings findings = {.arena = arena};
    struct work *work = NULL;
    struct plan plan = {0};
    int r = 0;

    if (!tree_is(input, cJSON_Object))
        return -EINVAL;
    work = arena_alloc(arena, 1, sizeof(*work));
    if (work == NULL)
        return -ENOMEM;
    r = work_judge(work, input, &findings);
    if (r < 0)
        return r;
    assert(findings.error == 0);
    plan.findings = findings.items;
    plan.finding_count = findings.count;
    plan.decision =
        findings_decide(&findings, work->admission.allowed,
                        work->declaration.network && work->declaration.writable_paths.count > 0);

    assert(plan.decision != PLAN_READY || (findings.count == 0 && work->admission.allowed));
    work->packet = make_packet(&work->input, &work->declaration);
    work->packet.decision = plan.decision;
    work->packet.provenance = provenance;
    work->packet.admitted = work->admission.allowed;
    work->packet.reasons = (struct str_list){work->admission.reasons, work->admission.reason_count};
    work->packet.findings = findings.items;
    work->packet.finding_count = findings.count;
    plan.fields = &work->packet;
    plan.packet = packet_write(&work->packet, arena);
    if (!str_present(plan.packet))
        return -ENOMEM;
    *ret_plan = plan;
    return 0;
}

struct plan_declaration plan_declaration(const struct plan *plan)
{
    return (struct plan_declaration){
        .env_given = plan->fields->env_given,
        .env_allowlist = plan->fields->env_allowlist,
        .network = plan->fields->network,
        .writable_paths = plan->fields->writable_paths,
    };
}

/* *ret_problem: the message of the first finding about an object that is read alone. */
static int check_object(const cJSON *node, enum input_field field, struct arena *arena,
                        struct str *ret_problem)
{
    struct findings findings = {.arena = arena};
    struct input *input = arena_alloc(arena, 1, sizeof(*input));

    if (input == NULL)
        return -ENOMEM;
    if (tree_is(node, cJSON_Object))
        input_read(node, input_object_of(field), arena, input, &findings);
    else
        findings_add(&findings, PLAN_CODE_INPUT_INVALID,
                     arena_format(arena, "%s must be an object", input_name(field)));
    if (findings.error != 0)
        return findings.error;
    findings_sort_once(&findings);
    *ret_problem = findings.count > 0 ? findings.items[0].message : (struct str){0};
    return 0;
}

int plan_check_requirements(const cJSON *requirements, struct arena *arena, struct str *ret_problem)
{
    return check_object(requirements, INPUT_REQUIREMENTS, arena, ret_problem);
}

int plan_check_baseline(const cJSON *baseline, struct arena *arena, struct str *ret_problem)
{
    return check_object(baseline, INPUT_BASELINE, arena, ret_problem);
}
