/* SPDX-License-Identifier: Apache-2.0 */
/* test_redact - what replaces each value in a redacted input (gate-v1, section 7, `input`).
 * test_random checks that a redacted input gives the same packet. */
#include <criterion/criterion.h>

#include "helper.h"
#include "planner/base/buffer.h"

#define OVER_LIMIT (PLAN_MAX_TEXT_BYTES + 1)

static void check(const char *given, const char *want)
{
    cleanup_arena struct arena arena = {0};
    struct str json = {0};

    cr_assert_eq(plan_input_write(helper_tree(&arena, str_of(given)), &arena, &json), 0);
    cr_expect_str_eq(json.ptr, want, "%s", given);
}

#define REQUIREMENTS(json) "{\"workload\":{\"requirements\":{" json "}}}"

Test(redact, fields_have_the_order_of_the_tables)
{
    check("{}", "{}");
    check("{\"baseline\":{\"allowed_env\":[\"A\"],\"allowed_writable_paths\":[\"b\"],"
          "\"require_enforcement\":true,\"network_allowed\":false},\"max_age_days\":30.0,"
          "\"as_of\":\"t\",\"workload\":{\"requirements\":{\"require_enforcement\":false,"
          "\"cwd_policy\":\"custom\",\"env_allowlist\":[],\"writable_paths\":[],\"network\":true,"
          "\"observed_at\":\"o\",\"source_digest\":\"d\",\"source_ref\":\"r\"},\"class\":\"c\","
          "\"skill_ref\":\"s\",\"image_digest\":\"i\"}}",
          "{\"workload\":{\"image_digest\":\"i\",\"skill_ref\":\"s\",\"class\":\"c\","
          "\"requirements\":{\"source_ref\":\"r\",\"source_digest\":\"d\",\"observed_at\":\"o\","
          "\"network\":true,\"writable_paths\":[],\"env_allowlist\":[],\"cwd_policy\":\"custom\","
          "\"require_enforcement\":false}},\"as_of\":\"t\",\"max_age_days\":30,\"baseline\":{"
          "\"network_allowed\":false,\"require_enforcement\":true,"
          "\"allowed_writable_paths\":[\"b\"],\"allowed_env\":[\"A\"]}}");
}

Test(redact, values_that_are_not_secret_are_kept)
{
    check("{\"workload\":{\"class\":\" a\\\"\\n \"}}", "{\"workload\":{\"class\":\" a\\\"\\n \"}}");
    check(REQUIREMENTS("\"writable_paths\":[\"./a//\",\"\",\"a(\"]"),
          REQUIREMENTS("\"writable_paths\":[\"./a//\",\"\",\"a(\"]"));
    check("{\"baseline\":null,\"workload\":{\"skill_ref\":null,\"requirements\":{"
          "\"resource_limits\":null}}}",
          "{\"workload\":{\"skill_ref\":null,\"requirements\":{}},\"baseline\":null}");
    check(REQUIREMENTS("\"env_allowlist\":[\" A\\n\",\"\",\" \"]"),
          REQUIREMENTS("\"env_allowlist\":[\" A\\n\",\"\",\" \"]"));
}

Test(redact, an_entry_that_is_not_a_name_becomes_an_equals_sign)
{
    check(REQUIREMENTS("\"env_allowlist\":[\"A=hunter2\",\"A\"]"),
          REQUIREMENTS("\"env_allowlist\":[\"=\",\"A\"]"));
    check("{\"baseline\":{\"allowed_env\":[\"A=hunter2\"]}}",
          "{\"baseline\":{\"allowed_env\":[\"=\"]}}");
}

Test(redact, an_entry_over_the_limit_becomes_equals_signs_over_the_limit)
{
    cleanup_arena struct arena arena = {0};
    struct str secret = helper_repeat(&arena, "h ", OVER_LIMIT);
    struct str name = helper_repeat(&arena, "N", OVER_LIMIT);
    struct str hidden = helper_repeat(&arena, "=", OVER_LIMIT);

    check(arena_format(&arena, REQUIREMENTS("\"env_allowlist\":[\"%s\"]"), name.ptr).ptr,
          arena_format(&arena, REQUIREMENTS("\"env_allowlist\":[\"%s\"]"), hidden.ptr).ptr);
    check(arena_format(&arena, REQUIREMENTS("\"env_allowlist\":[\"%s\"]"), secret.ptr).ptr,
          arena_format(&arena, REQUIREMENTS("\"env_allowlist\":[\"%s\"]"), hidden.ptr).ptr);
}

Test(redact, credentials_in_references_are_hidden)
{
    check(REQUIREMENTS("\"source_ref\":\" https://bob:hunter2@git.example/x \""),
          REQUIREMENTS("\"source_ref\":\"redacted://x@\""));
    check("{\"workload\":{\"skill_ref\":\"https://bob@git.example/x\"}}",
          "{\"workload\":{\"skill_ref\":\"redacted://x@\"}}");
    check(REQUIREMENTS("\"source_ref\":\"https://git.example/x@1\""),
          REQUIREMENTS("\"source_ref\":\"https://git.example/x@1\""));
}

Test(redact, a_reference_over_the_limit_stays_over_the_limit)
{
    cleanup_arena struct arena arena = {0};
    struct str secret = helper_repeat(&arena, "h", OVER_LIMIT);
    struct str hidden = helper_repeat(&arena, "=", PLAN_MAX_TEXT_BYTES);

    check(arena_format(&arena, REQUIREMENTS("\"source_ref\":\"a://b@%s\""), secret.ptr).ptr,
          arena_format(&arena, REQUIREMENTS("\"source_ref\":\"redacted://x@%s\""), hidden.ptr).ptr);
}

Test(redact, unknown_fields_become_true_and_hidden_names_a_question_mark)
{
    check("{\"b\":\"hunter2\",\"a=1\":1,\"a=2\":2,\"?\":3}", "{\"b\":true,\"?\":true}");
    check("{\"baseline\":{\"x\":null}}", "{\"baseline\":{\"x\":true}}");
    check("{\"workload\":{\"y\":[],\"requirements\":{\"z\":{}}}}",
          "{\"workload\":{\"requirements\":{\"z\":true},\"y\":true}}");
}

Test(redact, a_value_of_a_wrong_type_becomes_zero)
{
    check("{\"workload\":\"hunter2\",\"as_of\":7,\"baseline\":[1]}",
          "{\"workload\":0,\"as_of\":0,\"baseline\":0}");
    check(REQUIREMENTS("\"network\":\"no\",\"writable_paths\":{},\"env_allowlist\":[1,[\"x\"]]"),
          REQUIREMENTS("\"network\":0,\"writable_paths\":0,\"env_allowlist\":[0,0]"));
    /* a number is valid here, so another value is used as a wrong type */
    check("{\"max_age_days\":\"30\"}", "{\"max_age_days\":\"0\"}");
}

Test(redact, numbers_of_the_input_are_not_printed)
{
    check("{\"max_age_days\":1.5}", "{\"max_age_days\":0}");
    check("{\"max_age_days\":9007199254740993}", "{\"max_age_days\":0}");
    check("{\"max_age_days\":-1}", "{\"max_age_days\":0}");
    check("{\"max_age_days\":3650}", "{\"max_age_days\":3650}");
}

Test(redact, requested_controls_become_true)
{
    check(REQUIREMENTS("\"allowed_syscalls\":[\"read\"],\"allowed_egress_hosts\":[],"
                       "\"required_capabilities\":\" \",\"resource_limits\":0"),
          REQUIREMENTS("\"allowed_syscalls\":true,\"resource_limits\":true"));
}
