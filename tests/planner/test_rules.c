/* SPDX-License-Identifier: Apache-2.0 */
/* test_rules - each row of the contract's table of findings, and the decisions that follow. */
#include <criterion/criterion.h>
#include <errno.h>

#include "helper.h"
#include "planner/findings.h"

#define BIDI "\xE2\x80\xAE"

#define REQ "workload.requirements."
#define E "needs_more_evidence\n"
#define R "refused\n"
#define U "unsupported_runtime_shape\n"

Test(rules, a_valid_input_is_ready)
{
    cleanup_arena struct arena arena = {0};

    cr_expect_str_eq(helper_plan(&arena, NULL).ptr, "ready");
}

#define IDENTITY "sandbox.workload.identity|workload requires exactly one image_digest or skill_ref"
#define DIGEST "sandbox.workload.digest|image_digest must be a lowercase sha256 digest"
#define SKILL "sandbox.workload.skill_ref|skill_ref must be pinned as owner/name@version"

Test(rules, exactly_one_well_formed_identity_is_required)
{
    static const struct helper_row rows[] = {
        {{{"workload.skill_ref", NULL}, {"workload.image_digest", "\"" HELPER_DIGEST "\""}},
         "ready"},
        {{{"workload.skill_ref", NULL}}, E IDENTITY},
        {{{"workload.skill_ref", "null"}}, E IDENTITY},
        {{{"workload.skill_ref", "\"  \""}}, E IDENTITY},
        {{{"workload.image_digest", "\"" HELPER_DIGEST "\""}}, E IDENTITY},
        {{{"workload.image_digest", "\"\\n\""}}, "ready"},
        {{{"workload.image_digest", "7"}},
         E "sandbox.input.invalid|image_digest must be text\n" IDENTITY},
        {{{"workload.skill_ref", NULL}, {"workload.image_digest", "7"}},
         E "sandbox.input.invalid|image_digest must be text"},
        {{{"workload.skill_ref", "{}"}}, E "sandbox.input.invalid|skill_ref must be text"},
        {{{"workload.skill_ref", NULL}, {"workload.image_digest", "\"sha256:00\""}}, E DIGEST},
        {{{"workload.image_digest", "\"sha256:00\""}}, E IDENTITY "\n" DIGEST},
        {{{"workload.skill_ref", "\"acme/report\""}}, E SKILL},
        {{{"workload.skill_ref", "\" acme/report@1\\n\""}}, "ready"},
        {{{"workload.skill_ref", "\"registry:acme/report@1\""}}, E SKILL},
    };

    HELPER_CHECK_ROWS(rows);
}

#define STALE "sandbox.requirements.stale|requirements are stale or future-dated"
#define MAX_AGE                                                                                    \
    "sandbox.requirements.max_age|max_age_days must be greater than zero and at most 3650"

Test(rules, time_must_be_present_readable_and_fresh)
{
    static const struct helper_row rows[] = {
        {{{"as_of", NULL}}, E "sandbox.time.missing|as_of is required"},
        {{{REQ "observed_at", NULL}}, E "sandbox.time.missing|observed_at is required"},
        {{{REQ "observed_at", "\" \""}}, E "sandbox.time.missing|observed_at is required"},
        {{{"as_of", NULL}, {REQ "observed_at", NULL}},
         E "sandbox.time.missing|as_of is required\n"
           "sandbox.time.missing|observed_at is required"},
        {{{"as_of", "\"now\""}}, E "sandbox.time.invalid|as_of must be RFC3339"},
        {{{REQ "observed_at", "\"2026-02-30T00:00:00Z\""}},
         E "sandbox.time.invalid|observed_at must be RFC3339"},
        {{{"as_of", "\"x\""}, {REQ "observed_at", NULL}},
         E "sandbox.time.missing|observed_at is required\n"
           "sandbox.time.invalid|as_of must be RFC3339"},
        {{{REQ "observed_at", "\" 2026-03-01T12:00:00Z\\n\""}}, "ready"},
        {{{REQ "observed_at", "\"2026-03-01T12:00:00.000000001Z\""}}, E STALE},
        {{{REQ "observed_at", "\"2026-01-30T12:00:00Z\""}}, "ready"},
        {{{REQ "observed_at", "\"2026-01-30T11:59:59.999999999Z\""}}, E STALE},
        {{{REQ "observed_at", "\"2026-03-01T13:30:00+02:00\""}}, "ready"},
        {{{REQ "observed_at", "\"2026-03-01T13:30:00+01:00\""}}, E STALE},
        {{{"max_age_days", "1"}, {REQ "observed_at", "\"2026-02-28T12:00:00Z\""}}, "ready"},
        {{{"max_age_days", "1"}, {REQ "observed_at", "\"2026-02-28T11:59:59Z\""}}, E STALE},
        {{{"max_age_days", NULL}, {REQ "observed_at", "\"2026-01-30T12:00:00Z\""}}, "ready"},
        {{{"max_age_days", NULL}, {REQ "observed_at", "\"2026-01-30T11:59:59Z\""}}, E STALE},
        {{{"max_age_days", "3650"}, {REQ "observed_at", "\"2016-03-03T12:00:00Z\""}}, "ready"},
        {{{"max_age_days", "3650"}, {REQ "observed_at", "\"2016-03-03T11:59:59Z\""}}, E STALE},
        {{{"as_of", "\"0001-01-01T00:00:00+23:59\""},
          {REQ "observed_at", "\"9999-12-31T23:59:59-23:59\""}},
         E STALE},
    };

    HELPER_CHECK_ROWS(rows);
}

Test(rules, max_age_is_a_whole_number_from_1_to_3650)
{
    static const struct helper_row rows[] = {
        {{{"max_age_days", "1"}}, "ready"},
        {{{"max_age_days", "30.0"}}, "ready"},
        {{{"max_age_days", "null"}}, "ready"},
        {{{"max_age_days", "0"}}, E MAX_AGE},
        {{{"max_age_days", "-1"}}, E MAX_AGE},
        {{{"max_age_days", "1.5"}}, E MAX_AGE},
        {{{"max_age_days", "3651"}}, E MAX_AGE},
        {{{"max_age_days", "1e999"}}, E MAX_AGE},
        /* treated as absent: the default of 30 days applies */
        {{{"max_age_days", "3651"}, {REQ "observed_at", "\"2026-01-30T11:59:59Z\""}},
         E MAX_AGE "\n" STALE},
        {{{"max_age_days", "\"1\""}, {REQ "observed_at", "\"2026-01-30T12:00:00Z\""}},
         E "sandbox.input.invalid|max_age_days must be a whole number"},
    };

    HELPER_CHECK_ROWS(rows);
}

#define PROVENANCE                                                                                 \
    "sandbox.requirements.provenance|requirements require source_ref and source_digest"

Test(rules, provenance_and_credentials)
{
    static const struct helper_row rows[] = {
        {{{REQ "source_ref", NULL}}, E PROVENANCE},
        {{{REQ "source_digest", NULL}}, E PROVENANCE},
        {{{REQ "source_digest", "\"sha256:xyz\""}}, E PROVENANCE},
        {{{REQ "source_ref", "\"https://bob:hunter2@git.example/x\""}},
         R "sandbox.requirements.secret|source_ref carries credentials"},
        {{{REQ "source_ref", "\"https://git.example/x@1\""}}, "ready"},
    };

    HELPER_CHECK_ROWS(rows);
}

#define ABSOLUTE "sandbox.writable_path.absolute|planned writable paths must be workspace-relative"
#define UNSAFE(i)                                                                                  \
    "sandbox.writable_path.unsafe|writable_paths[" i                                               \
    "] holds a character that no sandbox profile can carry"
#define UNRESOLVED(i)                                                                              \
    "sandbox.writable_path.unresolved|writable_paths[" i "] holds an unresolved template"
#define PARENT "sandbox.admission.denied|workspace-write sandbox has unsafe writable path(s): "

Test(rules, writable_paths)
{
    static const struct helper_row rows[] = {
        {{{REQ "writable_paths", "[\"/a\",\"~\",\"/b\"]"}}, R ABSOLUTE},
        {{{REQ "writable_paths", "[\"./~/x\"]"}}, R ABSOLUTE},
        {{{REQ "writable_paths", "[\"a/~\",\"a//b\"]"}}, "ready"},
        {{{REQ "writable_paths", "[\"a\",\"b(\",\"c\",\"b(\"]"}}, R UNSAFE("1") "\n" UNSAFE("3")},
        {{{REQ "writable_paths", "[\"a" BIDI "\"]"}}, R UNSAFE("0")},
        {{{REQ "writable_paths", "[\"\",\"a\\u0007\"]"}},
         R "sandbox.input.invalid|writable_paths[0] must be non-empty text\n" UNSAFE("1")},
        {{{REQ "writable_paths", "[\"a\",\"{{x}}\"]"}}, E UNRESOLVED("1")},
        {{{REQ "writable_paths", "[\"{ {x} }\"]"}}, "ready"},
        {{{REQ "writable_paths", "[\"a/../b\",\"x/..\"]"}}, R PARENT "a/../b, x/.."},
        {{{REQ "writable_paths",
           "[\"0;\",\"1\",\"2;\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\",\"10;\"]"}},
         R UNSAFE("0") "\n" UNSAFE("10") "\n" UNSAFE("2")},
    };

    HELPER_CHECK_ROWS(rows);
}

#define NAME(i) "sandbox.env.name|env_allowlist[" i "] is not an environment variable name"
#define RESERVED                                                                                   \
    "sandbox.admission.denied|sandbox env_allowlist contains reserved runx environment "           \
    "variable(s): "

Test(rules, environment_names)
{
    static const struct helper_row rows[] = {
        {{{REQ "env_allowlist", "[\"A\",\"B=x\",\"1\"]"}}, R NAME("1") "\n" NAME("2")},
        {{{REQ "env_allowlist", "[\"\",\"B=x\"]"}},
         R "sandbox.input.invalid|env_allowlist[0] must be non-empty text\n" NAME("1")},
        {{{REQ "env_allowlist", "[\" A\\n\"]"}}, "ready"},
        {{{REQ "env_allowlist", "[\"RUNX_TOKEN\",\"A\",\"RUNX_API_KEY\"]"}},
         R RESERVED "RUNX_API_KEY, RUNX_TOKEN"},
    };

    HELPER_CHECK_ROWS(rows);
}

#define CONTROL "sandbox.control.unsupported|Runx sandbox declarations do not express: "

Test(rules, cwd_policy_and_unsupported_controls)
{
    static const struct helper_row rows[] = {
        {{{REQ "cwd_policy", "\"workspace\""}}, "ready"},
        {{{REQ "cwd_policy", "\" custom \""}}, "ready"},
        {{{REQ "cwd_policy", "\"Workspace\""}},
         E "sandbox.cwd_policy.invalid|unsupported cwd_policy"},
        {{{REQ "allowed_syscalls", "[\"read\"]"}}, U CONTROL "allowed_syscalls"},
        {{{REQ "allowed_egress_hosts", "\"a\""}}, U CONTROL "allowed_egress_hosts"},
        {{{REQ "required_capabilities", "true"}}, U CONTROL "required_capabilities"},
        {{{REQ "resource_limits", "0"}}, U CONTROL "resource_limits"},
        {{{REQ "resource_limits", "{\"a\":null}"}}, U CONTROL "resource_limits"},
        {{{REQ "resource_limits", "[null]"}, {REQ "allowed_syscalls", "1"}},
         U CONTROL "allowed_syscalls, resource_limits"},
        {{{REQ "allowed_syscalls", "[]"},
          {REQ "allowed_egress_hosts", "\" \\t\""},
          {REQ "required_capabilities", "{}"},
          {REQ "resource_limits", "false"}},
         "ready"},
    };

    HELPER_CHECK_ROWS(rows);
}

Test(rules, a_baseline_is_a_ceiling)
{
    static const struct helper_row rows[] = {
        {{{"baseline", "{}"}}, "ready"},
        {{{"baseline", "null"}}, "ready"},
        {{{"baseline.network_allowed", "false"}}, "ready"},
        {{{"baseline.network_allowed", "false"},
          {REQ "network", "true"},
          {REQ "writable_paths", "[]"}},
         R "sandbox.baseline.network|baseline forbids network access"},
        {{{"baseline.network_allowed", "true"},
          {REQ "network", "true"},
          {REQ "writable_paths", "[]"}},
         "ready"},
        {{{"baseline.require_enforcement", "true"}}, "ready"},
        {{{"baseline.require_enforcement", "true"}, {REQ "require_enforcement", NULL}}, "ready"},
        {{{"baseline.require_enforcement", "true"}, {REQ "require_enforcement", "false"}},
         R "sandbox.baseline.enforcement|baseline requires sandbox enforcement"},
        {{{"baseline.require_enforcement", "false"}, {REQ "require_enforcement", "false"}},
         "ready"},
        {{{"baseline.allowed_writable_paths", "[\"./tmp//\"]"}}, "ready"},
        {{{"baseline.allowed_writable_paths", "[]"}},
         R "sandbox.baseline.writable_path|baseline does not admit tmp/results"},
        {{{"baseline.allowed_writable_paths", "[\"a\"]"},
          {REQ "writable_paths", "[\"c/\",\"a/b\",\"b\",\"./c\"]"}},
         R "sandbox.baseline.writable_path|baseline does not admit b\n"
           "sandbox.baseline.writable_path|baseline does not admit c"},
        {{{"baseline.allowed_writable_paths", "[\"a\"]"}, {REQ "writable_paths", "[\"a/../b\"]"}},
         R "sandbox.baseline.writable_path|baseline does not admit a/../b\n" PARENT "a/../b"},
        {{{"baseline.allowed_env", "[\"REPORT_FORMAT\",\"TZ\"]"}}, "ready"},
        {{{"baseline.allowed_env", "[\"report_format\",\"A=B\"]"}},
         R "sandbox.baseline.env|baseline does not admit REPORT_FORMAT"},
        {{{"baseline.allowed_env", "[]"}, {REQ "env_allowlist", "[\"A=B\"]"}}, R NAME("0")},
        /* an unreadable baseline is a finding and sets no ceiling */
        {{{"baseline.allowed_env", "7"}},
         E "sandbox.input.invalid|baseline.allowed_env must be a list of text"},
    };

    HELPER_CHECK_ROWS(rows);
}

#define NETWORK_WRITE                                                                              \
    "sandbox.admission.denied|network sandbox cannot declare writable paths; use "                 \
    "unrestricted-local-dev for combined local write and network access"

Test(rules, network_with_writable_paths_has_no_profile)
{
    static const struct helper_row rows[] = {
        {{{REQ "network", "true"}}, U NETWORK_WRITE},
        {{{REQ "network", "true"}, {REQ "writable_paths", "[\"a/..\"]"}}, U NETWORK_WRITE},
        {{{REQ "network", "true"}, {REQ "env_allowlist", "[\"RUNX_SEED\"]"}},
         U NETWORK_WRITE "\n" RESERVED "RUNX_SEED"},
    };

    HELPER_CHECK_ROWS(rows);
}

Test(rules, the_narrowest_profile_is_chosen)
{
    static const struct {
        const char *network, *paths, *profile, *risk;
    } rows[] = {
        {"false", "[]", "readonly", "low"},
        {"false", "[\"a\"]", "workspace-write", "medium"},
        {"true", "[]", "network", "medium"},
        {"true", "[\"a\"]", "network", "medium"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cleanup_arena struct arena arena = {0};
        const struct change changes[] = {
            {REQ "network", rows[i].network}, {REQ "writable_paths", rows[i].paths}, {NULL, NULL}};
        struct plan plan = {0};

        cr_assert_eq(
            plan_evaluate(helper_input(&arena, changes), PLAN_SIGNED_CONFIGMAP, &arena, &plan), 0);
        cr_expect(str_contains(plan.packet,
                               arena_format(&arena, "{\"profile\":\"%s\"", rows[i].profile)));
        cr_expect(
            str_contains(plan.packet, arena_format(&arena, "{\"level\":\"%s\"", rows[i].risk)));
        cr_expect(str_contains(plan.packet, STR("\"provenance\":\"signed_configmap\"")));
        cr_expect(str_contains(plan.packet, STR("\"applied\":false")));
    }
}

/* Every combination of classes, admission and shape, by the section Decision of the contract. */
Test(rules, decision_for_every_set_of_classes)
{
    static const enum plan_code of_class[] = {PLAN_CODE_TIME_MISSING, PLAN_CODE_ENV_NAME,
                                              PLAN_CODE_CONTROL_UNSUPPORTED};

    for (unsigned bits = 0; bits < 32; bits++) {
        cleanup_arena struct arena arena = {0};
        struct findings findings = {.arena = &arena};
        bool more = bits & 1, refused = bits & 2, unsupported = bits & 4, admitted = bits & 8,
             network_with_paths = bits & 16;
        enum plan_decision want = PLAN_MORE_EVIDENCE;

        for (unsigned i = 0; i < 3; i++) {
            if (bits & (1u << i))
                findings_add(&findings, of_class[i], STR("x"));
        }
        if (unsupported || network_with_paths)
            want = PLAN_UNSUPPORTED;
        else if (refused || !admitted)
            want = PLAN_REFUSED;
        else if (!more)
            want = PLAN_READY;
        cr_expect_eq(findings_decide(&findings, admitted, network_with_paths), want, "bits %u",
                     bits);
    }
}

Test(rules, nothing_set_admits_nothing)
{
    struct findings failed = {.error = -ENOMEM};
    struct plan plan = {0};

    cr_expect_eq(findings_decide(&failed, true, false), PLAN_UNDECIDED);
    cr_expect(!plan_admits(&plan));
    cr_expect(!plan_admits(NULL));
    for (int d = PLAN_UNDECIDED; d <= PLAN_READY; d++) {
        plan.decision = (enum plan_decision)d;
        cr_expect_eq(plan_admits(&plan), d == PLAN_READY);
    }
}

Test(rules, codes_and_decisions_have_texts)
{
    cr_expect_str_eq(plan_code_text(PLAN_CODE_INPUT_INVALID), "sandbox.input.invalid");
    cr_expect_str_eq(plan_code_text(PLAN_CODE_ADMISSION_DENIED), "sandbox.admission.denied");
    cr_expect_str_eq(plan_code_text(PLAN_CODE_COUNT), "");
    cr_expect_eq(findings_class(PLAN_CODE_COUNT), PLAN_UNDECIDED);
    cr_expect_str_eq(plan_decision_text(PLAN_UNDECIDED), "");
    cr_expect_str_eq(plan_decision_text(PLAN_UNSUPPORTED), "unsupported_runtime_shape");
}
