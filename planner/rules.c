/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules - the contract's table of findings, one small function for a row.
 *
 * To add a rule: a line in PLAN_CODES (its position there is its position in every packet), a
 * function here, its name in rules[], rows in tests/planner/test_rules.c.
 */
#include "planner/rules.h"

#include "planner/base/buffer.h"
#include "planner/names.h"

static struct str given(const struct rules_case *c, enum input_field field)
{
    return c->input->values[field].text;
}

static void judge_identity(const struct rules_case *c, struct findings *found)
{
    /* a value of the wrong type has a finding of its own, so it counts as given here */
    bool image = c->input->values[INPUT_IMAGE_DIGEST].state != INPUT_ABSENT;
    bool skill = c->input->values[INPUT_SKILL_REF].state != INPUT_ABSENT;

    if (image == skill)
        findings_add(found, PLAN_CODE_WORKLOAD_IDENTITY,
                     STR("workload requires exactly one image_digest or skill_ref"));
}

static void judge_digest(const struct rules_case *c, struct findings *found)
{
    struct str digest = given(c, INPUT_IMAGE_DIGEST);

    if (str_present(digest) && !str_is_sha256(digest))
        findings_add(found, PLAN_CODE_WORKLOAD_DIGEST,
                     STR("image_digest must be a lowercase sha256 digest"));
}

static void judge_skill_ref(const struct rules_case *c, struct findings *found)
{
    struct str skill = given(c, INPUT_SKILL_REF);

    if (str_present(skill) && !plan_is_skill_ref(skill))
        findings_add(found, PLAN_CODE_WORKLOAD_SKILL_REF,
                     STR("skill_ref must be pinned as owner/name@version"));
}

/* Reads the instant in a field; adds a finding and returns false where it cannot. */
static bool judge_moment(const struct rules_case *c, enum input_field field, struct findings *found,
                         struct moment *ret_moment)
{
    struct str text = given(c, field);

    if (!str_present(text)) {
        findings_add(found, PLAN_CODE_TIME_MISSING,
                     arena_format(found->arena, "%s is required", input_name(field)));
        return false;
    }
    if (!moment_read(text, ret_moment)) {
        findings_add(found, PLAN_CODE_TIME_INVALID,
                     arena_format(found->arena, "%s must be RFC3339", input_name(field)));
        return false;
    }
    return true;
}

/* sandbox.time.* and sandbox.requirements.stale */
static void judge_time(const struct rules_case *c, struct findings *found)
{
    const struct input_value *max_age = &c->input->values[INPUT_MAX_AGE_DAYS];
    int days = max_age->state == INPUT_GIVEN ? max_age->days : PLAN_DEFAULT_AGE_DAYS;
    struct moment as_of = {0}, observed_at = {0};
    bool has_as_of = judge_moment(c, INPUT_AS_OF, found, &as_of);
    bool has_observed_at = judge_moment(c, INPUT_OBSERVED_AT, found, &observed_at);

    if (!has_as_of || !has_observed_at)
        return;
    if (moment_compare(observed_at, as_of) > 0 ||
        moment_compare(moment_add_seconds(observed_at, days * MOMENT_SECONDS_PER_DAY), as_of) < 0)
        findings_add(found, PLAN_CODE_REQUIREMENTS_STALE,
                     STR("requirements are stale or future-dated"));
}

static void judge_provenance(const struct rules_case *c, struct findings *found)
{
    if (!str_present(given(c, INPUT_SOURCE_REF)) || !str_is_sha256(given(c, INPUT_SOURCE_DIGEST)))
        findings_add(found, PLAN_CODE_REQUIREMENTS_PROVENANCE,
                     STR("requirements require source_ref and source_digest"));
}

static void judge_secret(const struct rules_case *c, struct findings *found)
{
    if (plan_has_credentials(given(c, INPUT_SOURCE_REF)))
        findings_add(found, PLAN_CODE_REQUIREMENTS_SECRET, STR("source_ref carries credentials"));
}

static void judge_absolute_paths(const struct rules_case *c, struct findings *found)
{
    for (size_t i = 0; i < c->declaration->writable_paths.count; i++) {
        struct str path = c->declaration->writable_paths.items[i];

        if (str_starts_with(path, STR("/")) || str_starts_with(path, STR("~"))) {
            findings_add(found, PLAN_CODE_WRITABLE_PATH_ABSOLUTE,
                         STR("planned writable paths must be workspace-relative"));
            return;
        }
    }
}

/* sandbox.writable_path.unsafe and .unresolved */
static void judge_path_texts(const struct rules_case *c, struct findings *found)
{
    for (size_t i = 0; i < c->declaration->given_path_count; i++) {
        const struct input_entry *path = &c->declaration->given_paths[i];

        if (names_path_is_unsafe(path->text))
            findings_add(
                found, PLAN_CODE_WRITABLE_PATH_UNSAFE,
                arena_format(found->arena,
                             "writable_paths[%zu] holds a character that no sandbox profile can "
                             "carry",
                             path->place));
        if (str_contains(path->text, STR("{{")))
            findings_add(found, PLAN_CODE_WRITABLE_PATH_UNRESOLVED,
                         arena_format(found->arena,
                                      "writable_paths[%zu] holds an unresolved template",
                                      path->place));
    }
}

static void judge_env_names(const struct rules_case *c, struct findings *found)
{
    const struct input_value *names = &c->input->values[INPUT_ENV_ALLOWLIST];

    for (size_t i = 0; i < names->entry_count; i++) {
        if (!plan_is_env_name(names->entries[i].text))
            findings_add(found, PLAN_CODE_ENV_NAME,
                         arena_format(found->arena,
                                      "env_allowlist[%zu] is not an environment variable name",
                                      names->entries[i].place));
    }
}

static void judge_cwd_policy(const struct rules_case *c, struct findings *found)
{
    if (!c->declaration->cwd_policy_known)
        findings_add(found, PLAN_CODE_CWD_POLICY_INVALID, STR("unsupported cwd_policy"));
}

static void judge_controls(const struct rules_case *c, struct findings *found)
{
    static const enum input_field controls[] = {
        INPUT_ALLOWED_SYSCALLS,
        INPUT_ALLOWED_EGRESS_HOSTS,
        INPUT_REQUIRED_CAPABILITIES,
        INPUT_RESOURCE_LIMITS,
    };
    const struct str sentence = STR("Runx sandbox declarations do not express: ");
    struct buffer message = buffer_make(found->arena, SIZE_MAX);
    size_t count = 0;

    for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++) {
        if (!c->input->values[controls[i]].flag)
            continue;
        buffer_add(&message, count++ == 0 ? sentence : STR(", "));
        buffer_add(&message, str_of(input_name(controls[i])));
    }
    if (count > 0)
        findings_add(found, PLAN_CODE_CONTROL_UNSUPPORTED, buffer_text(&message));
}

/* sandbox.baseline.network and .enforcement */
static void judge_baseline_flags(const struct rules_case *c, struct findings *found)
{
    const struct input_value *network = &c->input->values[INPUT_BASELINE_NETWORK_ALLOWED];

    if (c->declaration->network && network->state == INPUT_GIVEN && !network->flag)
        findings_add(found, PLAN_CODE_BASELINE_NETWORK, STR("baseline forbids network access"));
    if (!c->declaration->require_enforcement &&
        c->input->values[INPUT_BASELINE_REQUIRE_ENFORCEMENT].flag)
        findings_add(found, PLAN_CODE_BASELINE_ENFORCEMENT,
                     STR("baseline requires sandbox enforcement"));
}

/* plan_path_admitted() for any of the bases. The path is searched for `..` once, not once for each
 * base. */
static bool is_path_admitted(struct str path, struct str_list bases)
{
    if (str_list_has(bases, path))
        return true;
    if (plan_path_has_parent(path))
        return false;
    for (size_t i = 0; i < bases.count; i++) {
        if (names_path_is_below(path, bases.items[i]))
            return true;
    }
    return false;
}

static void add_not_admitted(struct findings *found, enum plan_code code, struct str what)
{
    findings_add(
        found, code,
        arena_format(found->arena, "baseline does not admit %.*s", (int)what.len, what.ptr));
}

static void judge_baseline_paths(const struct rules_case *c, struct findings *found)
{
    const struct declaration *d = c->declaration;

    for (size_t i = 0; d->baseline_paths_given && i < d->writable_paths.count; i++) {
        if (!is_path_admitted(d->writable_paths.items[i], d->baseline_paths))
            add_not_admitted(found, PLAN_CODE_BASELINE_WRITABLE_PATH, d->writable_paths.items[i]);
    }
}

static void judge_baseline_env(const struct rules_case *c, struct findings *found)
{
    const struct declaration *d = c->declaration;

    for (size_t i = 0; d->baseline_env_given && i < d->env_allowlist.count; i++) {
        if (!str_list_has(d->baseline_env, d->env_allowlist.items[i]))
            add_not_admitted(found, PLAN_CODE_BASELINE_ENV, d->env_allowlist.items[i]);
    }
}

static void judge_admission(const struct rules_case *c, struct findings *found)
{
    for (size_t i = 0; !c->admission->allowed && i < c->admission->reason_count; i++)
        findings_add(found, PLAN_CODE_ADMISSION_DENIED, c->admission->reasons[i]);
}

static void (*const rules[])(const struct rules_case *c, struct findings *found) = {
    judge_identity,       judge_digest,       judge_skill_ref,      judge_time,
    judge_provenance,     judge_secret,       judge_absolute_paths, judge_path_texts,
    judge_env_names,      judge_cwd_policy,   judge_controls,       judge_baseline_flags,
    judge_baseline_paths, judge_baseline_env, judge_admission,
};

void rules_judge(const struct rules_case *c, struct findings *findings)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        rules[i](c, findings);
}
