/* SPDX-License-Identifier: Apache-2.0 */
/* test_gate_input - section 5: the input of the planner, as in the audit annotation `input`. */

#include <criterion/criterion.h>

#include "helper.h"

#define HEAD "{\"kind\":\"SandboxRequirements\",\"workload\":{\"skill_ref\":\"acme/app@1.0.0\"},"
#define IMAGES ",\"images\":[\"sha256:" HELPER_HEX_A "\"]}"
#define SIGNED(more) HEAD "\"requirements\":{" HELPER_REQUIREMENTS more "}" IMAGES
#define BASELINE(fields, more) "{\"kind\":\"SandboxBaseline\",\"baseline\":{" fields "}" more "}"
#define SOURCE                                                                                     \
    "\"source_ref\":\"git:acme/app@1\",\"source_digest\":\"sha256:" HELPER_HEX_C "\","             \
    "\"observed_at\":\"2026-02-28T12:00:00Z\""
#define WORKLOAD(requirements)                                                                     \
    "{\"workload\":{\"skill_ref\":\"acme/app@1.0.0\",\"requirements\":{" requirements "}}"
#define AS_OF ",\"as_of\":\"2026-03-01T12:00:00Z\",\"max_age_days\":"
#define CEILING(network, enforcement, paths, env)                                                  \
    ",\"baseline\":{\"network_allowed\":" network ",\"require_enforcement\":" enforcement          \
    ",\"allowed_writable_paths\":[" paths "],\"allowed_env\":[" env "]}"

struct row {
    const char *documents[3]; /* documents in the gate's own namespace, in this order */
    const char *requirements; /* the annotation, escaped for JSON; NULL: absent */
    const char *input;
};

static const struct row merged[] = {
    /* only signed requirements */
    {{SIGNED(",\"network\":true")}, NULL, WORKLOAD(SOURCE ",\"network\":true") AS_OF "30}"},
    /* each field of the annotation replaces the signed one, which is its ceiling */
    {{SIGNED(",\"writable_paths\":[\"tmp\"],\"env_allowlist\":[\"B\",\"A\"]")},
     "{\\\"writable_paths\\\":[\\\"tmp/x\\\"],\\\"env_allowlist\\\":null}",
     WORKLOAD(SOURCE ",\"writable_paths\":[\"tmp/x\"],\"env_allowlist\":[\"B\",\"A\"]") AS_OF
     "30" CEILING("false", "true", "\"tmp\"", "\"B\",\"A\"") "}"},
    /* absent lists admit nothing; absent network is false, absent enforcement is true */
    {{SIGNED("")}, "{}", WORKLOAD(SOURCE) AS_OF "30" CEILING("false", "true", "", "") "}"},
    {{SIGNED(",\"network\":true,\"require_enforcement\":false")},
     "{}",
     WORKLOAD(SOURCE ",\"network\":true,\"require_enforcement\":false") AS_OF
     "30" CEILING("true", "false", "", "") "}"},
    /* null and blank replace nothing; unknown fields are kept with any value */
    {{SIGNED(",\"cwd_policy\":\"workspace\"")},
     "{\\\"cwd_policy\\\":\\\" \\\",\\\"network\\\":null,\\\"odd\\\":null}",
     WORKLOAD(SOURCE ",\"cwd_policy\":\"workspace\",\"odd\":true") AS_OF
     "30" CEILING("false", "true", "", "") "}"},
    /* a narrower value is used; for a broader one, the signed value is kept */
    {{SIGNED(",\"cwd_policy\":\"workspace\"")},
     "{\\\"cwd_policy\\\":\\\"skill-directory\\\"}",
     WORKLOAD(SOURCE ",\"cwd_policy\":\"skill-directory\"") AS_OF
     "30" CEILING("false", "true", "", "") "}"},
    {{SIGNED(",\"cwd_policy\":\"workspace\"")},
     "{\\\"cwd_policy\\\":\\\"custom\\\"}",
     WORKLOAD(SOURCE ",\"cwd_policy\":\"workspace\"") AS_OF
     "30" CEILING("false", "true", "", "") "}"},
    /* controls keep the signed value if it is not empty */
    {{SIGNED(",\"allowed_syscalls\":[\"read\"],\"resource_limits\":{}")},
     "{\\\"allowed_syscalls\\\":[],\\\"resource_limits\\\":{\\\"cpu\\\":1}}",
     WORKLOAD(SOURCE ",\"allowed_syscalls\":true,\"resource_limits\":true") AS_OF
     "30" CEILING("false", "true", "", "") "}"},
    /* an unreadable annotation leaves the signed requirements, without a ceiling */
    {{SIGNED(",\"network\":true")}, "[]", WORKLOAD(SOURCE ",\"network\":true") AS_OF "30}"},
};

static const struct row meets[] = {
    /* no baseline has this field */
    {{SIGNED(""), BASELINE("", "")}, NULL, WORKLOAD(SOURCE) AS_OF "30,\"baseline\":{}}"},
    /* AND of network and OR of enforcement, of the baselines that have the field */
    {{SIGNED(""), BASELINE("\"network_allowed\":true,\"require_enforcement\":false", ""),
      BASELINE("\"network_allowed\":false,\"require_enforcement\":true", "")},
     NULL,
     WORKLOAD(SOURCE) AS_OF
     "30,\"baseline\":{\"network_allowed\":false,\"require_enforcement\":true}}"},
    {{SIGNED(""), BASELINE("\"network_allowed\":true", ""),
      BASELINE("\"require_enforcement\":false", "")},
     NULL,
     WORKLOAD(SOURCE) AS_OF
     "30,\"baseline\":{\"network_allowed\":true,\"require_enforcement\":false}}"},
    /* lists: items admitted by all baselines with the field; the narrower of two paths */
    {{SIGNED(""), BASELINE("\"allowed_writable_paths\":[\"tmp\",\"data/in\",\"b\"]", ""),
      BASELINE("\"allowed_writable_paths\":[\"./tmp//a\",\"data\",\"c\"]", "")},
     NULL,
     WORKLOAD(SOURCE) AS_OF
     "30,\"baseline\":{\"allowed_writable_paths\":[\"data/in\",\"tmp/a\"]}}"},
    {{SIGNED(""), BASELINE("\"allowed_writable_paths\":[\".\"]", ""),
      BASELINE("\"allowed_writable_paths\":[\"x/..\",\"y\",\"/z\"]", "")},
     NULL,
     WORKLOAD(SOURCE) AS_OF "30,\"baseline\":{\"allowed_writable_paths\":[\"y\"]}}"},
    {{SIGNED(""), BASELINE("\"allowed_env\":[\"C\",\"B\",\"A\"]", ""),
      BASELINE("\"allowed_env\":[\"C\",\"A\",\"D\"]", "")},
     NULL,
     WORKLOAD(SOURCE) AS_OF "30,\"baseline\":{\"allowed_env\":[\"A\",\"C\"]}}"},
    /* a single baseline is used unchanged */
    {{SIGNED(""), BASELINE("\"allowed_env\":[\"C\",\"A\"]", ""), BASELINE("", "")},
     NULL,
     WORKLOAD(SOURCE) AS_OF "30,\"baseline\":{\"allowed_env\":[\"C\",\"A\"]}}"},
    /* of equal documents one is used */
    {{SIGNED(""), BASELINE("\"allowed_env\":[\"C\",\"A\"]", ""),
      BASELINE("\"allowed_env\":[\"C\",\"A\"]", "")},
     NULL,
     WORKLOAD(SOURCE) AS_OF "30,\"baseline\":{\"allowed_env\":[\"C\",\"A\"]}}"},
    /* and with the signed requirements as a third ceiling */
    {{SIGNED(",\"env_allowlist\":[\"A\",\"B\"]"), BASELINE("\"allowed_env\":[\"C\",\"A\"]", "")},
     "{}",
     WORKLOAD(SOURCE ",\"env_allowlist\":[\"A\",\"B\"]") AS_OF
     "30" CEILING("false", "true", "", "\"A\"") "}"},
    /* the smallest age; a baseline for other namespaces is ignored */
    {{SIGNED(""), BASELINE("", ",\"max_age_days\":7"), BASELINE("", ",\"max_age_days\":9")},
     NULL,
     WORKLOAD(SOURCE) AS_OF "7,\"baseline\":{}}"},
    {{SIGNED(""), BASELINE("", ",\"max_age_days\":40")},
     NULL,
     WORKLOAD(SOURCE) AS_OF "30,\"baseline\":{}}"},
    {{SIGNED(""),
      BASELINE("\"network_allowed\":false", ",\"max_age_days\":7,\"namespaces\":[\"x\"]")},
     NULL,
     WORKLOAD(SOURCE) AS_OF "30}"},
};

static struct exchange judge(struct arena *arena, const struct policy *policy,
                             const struct row *row)
{
    struct helper_document documents[4] = {{0}};
    static const char *const names[] = {"d0", "d1", "d2"};
    struct helper_review review = {0};
    struct snapshot *snapshot = NULL;
    struct exchange e = {0};

    for (size_t i = 0; i < 3 && row->documents[i] != NULL; i++)
        documents[i] = (struct helper_document){
            .namespace_name = "sandgate-system", .name = names[i], .json = row->documents[i]};
    review.object =
        arena_format(arena,
                     "{\"metadata\":{\"annotations\":{\"sandbox.runx.dev/skill-ref\":"
                     "\"acme/app@1.0.0\"%s%s%s}},\"spec\":{\"containers\":[{\"image\":\"" HELPER_APP
                     "\"}]}}",
                     row->requirements != NULL ? ",\"sandbox.runx.dev/requirements\":\"" : "",
                     row->requirements != NULL ? row->requirements : "",
                     row->requirements != NULL ? "\"" : "")
            .ptr;
    snapshot = helper_snapshot(arena, policy, NULL, documents);
    e = helper_exchange(arena, snapshot, &review);
    snapshot_unref(snapshot);
    return e;
}

static void check(const struct policy *policy, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cleanup_arena struct arena arena = {0};
        struct exchange e = judge(&arena, policy, &rows[i]);

        cr_assert_text(helper_annotation(&arena, &e, "input"), rows[i].input);
    }
}

Test(gate_input, annotation_and_signed_requirements_are_merged)
{
    const struct policy policy = policy_defaults();

    check(&policy, merged, sizeof(merged) / sizeof(merged[0]));
}

Test(gate_input, baselines_are_intersected)
{
    const struct policy policy = policy_defaults();

    check(&policy, meets, sizeof(meets) / sizeof(meets[0]));
}

/* An observed_at in the future, within the clock skew, becomes as_of, exactly as written. */
Test(gate_input, observation_within_the_clock_skew_moves_as_of)
{
    static const struct {
        const char *observed_at;
        const char *as_of;
        bool allowed;
    } rows[] = {
        {"2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z", true},
        {"2026-03-01T12:00:00.5Z", "2026-03-01T12:00:00.5Z", true},
        {"2026-03-01T12:01:00Z", "2026-03-01T12:01:00Z", true},
        {"2026-03-01T13:00:30+01:00", "2026-03-01T13:00:30+01:00", true},
        {"2026-03-01T12:01:00.000000001Z", "2026-03-01T12:00:00Z", false},
        {"2026-03-01T12:01:01Z", "2026-03-01T12:00:00Z", false},
    };
    const struct policy policy = policy_defaults();

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cleanup_arena struct arena arena = {0};
        const struct row row = {
            .documents = {arena_format(&arena,
                                       HEAD "\"requirements\":{\"source_ref\":\"git:x@1\","
                                            "\"source_digest\":\"sha256:" HELPER_HEX_C "\","
                                            "\"observed_at\":\"%s\"}" IMAGES,
                                       rows[i].observed_at)
                              .ptr}};
        struct exchange e = judge(&arena, &policy, &row);
        struct str as_of = arena_format(&arena, "\"as_of\":\"%s\"", rows[i].as_of);

        cr_assert(str_contains(helper_annotation(&arena, &e, "input"), as_of), "row %zu", i);
        cr_assert_eq(e.decision.allowed, rows[i].allowed, "row %zu", i);
    }
}

/* The annotation's requirements are used alone only if evidence is missing or expired. */
Test(gate_input, unsigned_requirements_are_used_if_evidence_is_missing_or_expired)
{
#define ANNOTATION                                                                                 \
    "{\\\"source_ref\\\":\\\"git:acme/app@1\\\",\\\"source_digest\\\":\\\"sha256:" HELPER_HEX_C    \
    "\\\",\\\"observed_at\\\":\\\"2026-02-28T12:00:00Z\\\"}"
    static const struct row missing = {.requirements = ANNOTATION};
    static const struct row none = {.requirements = NULL};
    static const struct row broken = {.requirements = "[]"};
    static const struct row conflict = {.documents = {SIGNED(""), SIGNED(",\"network\":false")},
                                        .requirements = ANNOTATION};
    cleanup_arena struct arena arena = {0};
    struct policy policy = policy_defaults();
    struct exchange e = judge(&arena, &policy, &missing);

    cr_assert_text(helper_codes(&arena, &e.decision),
                   "denied needs_more_evidence gate.evidence.missing "
                   "gate.image.unlisted|spec.containers[0].image sandbox.time.missing "
                   "sandbox.requirements.provenance");
    policy.accept_unsigned = true;
    e = judge(&arena, &policy, &missing);
    cr_assert_text(helper_codes(&arena, &e.decision), "allowed ready");
    cr_assert_eq(e.decision.provenance, PLAN_CALLER_SUPPLIED);
    cr_assert_text(helper_annotation(&arena, &e, "input"), WORKLOAD(SOURCE) AS_OF "30}");
    cr_assert(!str_present(helper_annotation(&arena, &e, "evidence")));

    e = judge(&arena, &policy, &none);
    cr_assert(str_contains(helper_codes(&arena, &e.decision), STR("gate.evidence.missing")));
    e = judge(&arena, &policy, &broken);
    cr_assert(str_contains(helper_codes(&arena, &e.decision), STR("gate.evidence.missing")));
    e = judge(&arena, &policy, &conflict);
    cr_assert(str_contains(helper_codes(&arena, &e.decision), STR("gate.evidence.conflict")));
}
