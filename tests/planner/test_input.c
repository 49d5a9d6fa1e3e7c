/* SPDX-License-Identifier: Apache-2.0 */
/* test_input - errors in an input: types, limits and unknown fields. */
#include <criterion/criterion.h>
#include <errno.h>

#include "helper.h"

#define REQ "workload.requirements."
#define E "needs_more_evidence\n"

Test(input, invalid_inputs_have_their_finding)
{
    static const struct helper_row rows[] = {
        {{{REQ "network", "\"no\""}}, E "sandbox.input.invalid|network must be boolean"},
        {{{REQ "network", "0"}}, E "sandbox.input.invalid|network must be boolean"},
        {{{REQ "require_enforcement", "1"}},
         E "sandbox.input.invalid|require_enforcement must be boolean"},
        {{{REQ "writable_paths", "\"tmp\""}},
         E "sandbox.input.invalid|writable_paths must be a list of text"},
        {{{REQ "writable_paths", "{}"}},
         E "sandbox.input.invalid|writable_paths must be a list of text"},
        {{{REQ "writable_paths", "[\"a\",5,\"b\"]"}},
         E "sandbox.input.invalid|writable_paths[1] must be text"},
        {{{REQ "writable_paths", "[[\"a\"]]"}},
         E "sandbox.input.invalid|writable_paths[0] must be text"},
        {{{REQ "writable_paths", "[null]"}},
         E "sandbox.input.invalid|writable_paths[0] must be text"},
        {{{REQ "writable_paths", "[\"a\",\"b\",\"c\",\" \\t\"]"}},
         E "sandbox.input.invalid|writable_paths[3] must be non-empty text"},
        {{{REQ "env_allowlist", "{\"A\":\"b\"}"}},
         E "sandbox.input.invalid|env_allowlist must be a list of text"},
        {{{REQ "env_allowlist", "[\"\"]"}},
         E "sandbox.input.invalid|env_allowlist[0] must be non-empty text"},
        {{{"workload.class", "7"}}, E "sandbox.input.invalid|class must be text"},
        {{{REQ "cwd_policy", "[]"}}, E "sandbox.input.invalid|cwd_policy must be text"},
        {{{"max_age_days", "\"30\""}},
         E "sandbox.input.invalid|max_age_days must be a whole number"},
        {{{"max_age_days", "true"}}, E "sandbox.input.invalid|max_age_days must be a whole number"},
        {{{"baseline", "[]"}}, E "sandbox.input.invalid|baseline must be an object"},
        {{{"baseline.network_allowed", "\"no\""}},
         E "sandbox.input.invalid|baseline.network_allowed must be boolean"},
        {{{"baseline.require_enforcement", "\"no\""}},
         E "sandbox.input.invalid|baseline.require_enforcement must be boolean"},
        {{{"baseline.allowed_env", "\"A\""}},
         E "sandbox.input.invalid|baseline.allowed_env must be a list of text"},
        {{{"baseline.allowed_writable_paths", "[\"tmp\",false]"}},
         E "sandbox.input.invalid|baseline.allowed_writable_paths[1] must be text"},
        {{{"as_of", "5"}},
         E "sandbox.input.invalid|as_of must be text\nsandbox.time.missing|as_of is required"},
        {{{REQ "observed_at", "5"}},
         E "sandbox.input.invalid|observed_at must be text\n"
           "sandbox.time.missing|observed_at is required"},
        {{{REQ "source_ref", "5"}},
         E "sandbox.input.invalid|source_ref must be text\nsandbox.requirements.provenance|"
           "requirements require source_ref and source_digest"},
        {{{REQ "source_digest", "5"}},
         E "sandbox.input.invalid|source_digest must be text\nsandbox.requirements.provenance|"
           "requirements require source_ref and source_digest"},
        {{{"workload.requirements", "\"none\""}},
         E "sandbox.input.invalid|requirements must be an object\n"
           "sandbox.time.missing|observed_at is required\nsandbox.requirements.provenance|"
           "requirements require source_ref and source_digest"},
        {{{"workload", "[]"}},
         E "sandbox.input.invalid|workload must be an object\nsandbox.workload.identity|"
           "workload requires exactly one image_digest or skill_ref\n"
           "sandbox.time.missing|observed_at is required\nsandbox.requirements.provenance|"
           "requirements require source_ref and source_digest"},
    };

    HELPER_CHECK_ROWS(rows);
}

/* A JSON string with this number of bytes between its quotes. */
static const char *long_text(struct arena *arena, size_t bytes)
{
    return arena_format(arena, "\"%s\"", helper_repeat(arena, "x", bytes).ptr).ptr;
}

Test(input, limits_are_the_last_that_passes)
{
    cleanup_arena struct arena arena = {0};
    const char *good = long_text(&arena, PLAN_MAX_TEXT_BYTES);
    const char *bad = long_text(&arena, PLAN_MAX_TEXT_BYTES + 1);
    const char *padded =
        arena_format(&arena, "\"  %s\\n\"", helper_repeat(&arena, "x", PLAN_MAX_TEXT_BYTES).ptr)
            .ptr;
    struct str items = helper_repeat(&arena, "\"a\",", PLAN_MAX_ITEMS);
    const struct helper_row rows[] = {
        {{{"workload.class", good}}, "ready"},
        {{{"workload.class", padded}}, "ready"},
        {{{"workload.class", bad}}, E "sandbox.input.invalid|class must be at most 4096 bytes"},
        {{{REQ "writable_paths", arena_format(&arena, "[%s]", good).ptr}}, "ready"},
        {{{REQ "writable_paths", arena_format(&arena, "[\"a\",%s]", bad).ptr}},
         E "sandbox.input.invalid|writable_paths[1] must be at most 4096 bytes"},
        {{{REQ "writable_paths",
           arena_format(&arena, "[%.*s]", (int)items.len - 1, items.ptr).ptr}},
         "ready"},
        {{{REQ "writable_paths", arena_format(&arena, "[%s\"a\"]", items.ptr).ptr}},
         E "sandbox.input.invalid|writable_paths must be at most 100 items"},
        {{{"baseline.allowed_env", arena_format(&arena, "[%s\"a\"]", items.ptr).ptr}},
         E "sandbox.input.invalid|baseline.allowed_env must be at most 100 items"},
        {{{"workload.skill_ref", bad}},
         E "sandbox.input.invalid|skill_ref must be at most 4096 bytes"},
        {{{"as_of", bad}},
         E "sandbox.input.invalid|as_of must be at most 4096 bytes\n"
           "sandbox.time.missing|as_of is required"},
    };

    HELPER_CHECK_ROWS(rows);
}

Test(input, unknown_fields_are_named_by_path)
{
    static const struct helper_row rows[] = {
        {{{"asof", "1"}}, E "sandbox.input.unknown_field|asof is not a known field"},
        {{{"asof", "null"}}, E "sandbox.input.unknown_field|asof is not a known field"},
        {{{"As_of", "1"}}, E "sandbox.input.unknown_field|As_of is not a known field"},
        {{{"workload.image", "1"}}, E "sandbox.input.unknown_field|image is not a known field"},
        {{{REQ "paths", "[]"}}, E "sandbox.input.unknown_field|paths is not a known field"},
        {{{"baseline.network", "false"}},
         E "sandbox.input.unknown_field|baseline.network is not a known field"},
        {{{"network", "false"}}, E "sandbox.input.unknown_field|network is not a known field"},
        {{{REQ "T=hunter2", "1"}}, E "sandbox.input.unknown_field|? is not a known field"},
        {{{"baseline.a b", "1"}}, E "sandbox.input.unknown_field|baseline.? is not a known field"},
        {{{"x", "1"}, {"workload.x", "1"}, {REQ "x", "1"}},
         E "sandbox.input.unknown_field|x is not a known field"},
        {{{"b", "1"}, {"workload.a", "1"}, {REQ "c=", "1"}, {"", "1"}},
         E "sandbox.input.unknown_field|? is not a known field\n"
           "sandbox.input.unknown_field|a is not a known field\n"
           "sandbox.input.unknown_field|b is not a known field"},
    };

    HELPER_CHECK_ROWS(rows);
}

Test(input, an_input_that_is_not_an_object_has_no_plan)
{
    static const char *const texts[] = {"[]", "\"x\"", "1", "true", "null"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        cleanup_arena struct arena arena = {0};
        struct plan plan = {0};
        struct str json = {0};
        const cJSON *input = helper_tree(&arena, str_of(texts[i]));

        cr_expect_eq(plan_evaluate(input, PLAN_CALLER_SUPPLIED, &arena, &plan), -EINVAL);
        cr_expect_eq(plan_input_write(input, &arena, &json), -EINVAL);
        cr_expect(!str_present(plan.packet) && !str_present(json));
        cr_expect_eq(plan.decision, PLAN_UNDECIDED);
    }
}

Test(input, an_object_can_be_checked_alone)
{
    static const struct {
        const char *json, *requirements, *baseline; /* the expected problem; NULL: none */
    } rows[] = {
        {"{}", NULL, NULL},
        {"[]", "requirements must be an object", "baseline must be an object"},
        {"null", "requirements must be an object", "baseline must be an object"},
        {"{\"network\":true}", NULL, "baseline.network is not a known field"},
        {"{\"network\":1,\"x\":1}", "network must be boolean",
         "baseline.network is not a known field"},
        {"{\"allowed_env\":[\"A\",1]}", "allowed_env is not a known field",
         "baseline.allowed_env[1] must be text"},
        {"{\"resource_limits\":{\"cpu\":1}}", NULL,
         "baseline.resource_limits is not a known field"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cleanup_arena struct arena arena = {0};
        const cJSON *node = helper_tree(&arena, str_of(rows[i].json));
        struct str problem = STR("unset");

        cr_assert_eq(plan_check_requirements(node, &arena, &problem), 0);
        cr_expect(str_equal(problem, str_of(rows[i].requirements)), "%s", rows[i].json);
        cr_assert_eq(plan_check_baseline(node, &arena, &problem), 0);
        cr_expect(str_equal(problem, str_of(rows[i].baseline)), "%s", rows[i].json);
    }
}
