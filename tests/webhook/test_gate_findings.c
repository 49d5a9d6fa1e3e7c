/* SPDX-License-Identifier: Apache-2.0 */
/* test_gate_findings - section 6: every finding with its exact place and message, and inputs
 * without findings. */

#include <criterion/criterion.h>

#include "helper.h"
#include "webhook/gate/internal.h"

#define POD(annotations, image)                                                                    \
    "{\"metadata\":{\"annotations\":{" annotations                                                 \
    "}},\"spec\":{\"containers\":[{\"image\":\"" image "\"}]}}"
#define APP "\"sandbox.runx.dev/skill-ref\":\"acme/app@1.0.0\""
#define BY_DIGEST "\"sandbox.runx.dev/image-digest\":\"sha256:" HELPER_HEX_A "\""
#define REQUIRE(text) "\"sandbox.runx.dev/requirements\":\"" text "\""

struct row {
    const char *object;
    const char *wanted;
};

static void check(const struct snapshot *snapshot, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cleanup_arena struct arena arena = {0};
        const struct helper_review review = {.object = rows[i].object};
        struct exchange e = helper_exchange(&arena, snapshot, &review);

        cr_assert_text(helper_summary(&arena, &e.decision), rows[i].wanted);
    }
}

#define CHECK(snapshot, rows) check(snapshot, rows, sizeof(rows) / sizeof(rows[0]))

#define UNKNOWN(key, nearest)                                                                      \
    "\ngate.annotation.unknown|" key "|unknown annotation; did you mean sandbox.runx.dev/" nearest \
    "? Otherwise remove it"
#define UNLISTED(place, digest)                                                                    \
    "\ngate.image.unlisted|" place "|neither the evidence nor a baseline lists sha256:" digest     \
    "; run an image that is listed, or have this one signed"
#define NOT_OWN                                                                                    \
    "\ngate.image.unlisted|spec.containers|none of the containers runs, by digest, an image of "   \
    "the workload itself; run it, or correct the identity"
#define LIKELY(place)                                                                              \
    "\ngate.image.unpinned|" place                                                                 \
    "|this image is not pinned; if it is the workload's own, write "                               \
    "it as name@sha256:" HELPER_HEX_A
#define UNPINNED(place)                                                                            \
    "\ngate.image.unpinned|" place                                                                 \
    "|this image is not pinned; write it as name@sha256: and 64 lower-case hex digits"
#define MISSING                                                                                    \
    "\ngate.evidence.missing||no valid evidence for this workload is in the namespaces payments "  \
    "and sandgate-system; apply a signed SandboxRequirements for it, or correct the identity"

Test(gate_findings, annotations)
{
    cleanup_arena struct arena arena = {0};
    struct snapshot *snapshot = helper_default_snapshot(&arena);
    static const struct row rows[] = {
        {POD(APP, HELPER_APP), "allowed ready"},
        {POD("", HELPER_APP),
         "denied needs_more_evidence"
         "\ngate.annotation.missing||nothing says which workload this is; add the annotation "
         "sandbox.runx.dev/skill-ref or sandbox.runx.dev/image-digest to "
         "metadata.annotations" UNLISTED("spec.containers[0].image", HELPER_HEX_A)},
        {POD(APP ",\"sandbox.runx.dev/skil-ref\":\"x\"", HELPER_APP),
         "denied blocked" UNKNOWN("sandbox.runx.dev/skil-ref", "skill-ref")},
        {POD(APP ",\"Sandbox.Runx.Dev/CLASS\":\"x\"", HELPER_APP),
         "denied blocked" UNKNOWN("Sandbox.Runx.Dev/CLASS", "class")},
        {POD(APP ",\"sandbox.runx.dev/image_digest\":\"x\",\"sandbox.runx.dev/requirement\":\"y\"",
             HELPER_APP),
         "denied blocked" UNKNOWN("sandbox.runx.dev/image_digest", "image-digest")
             UNKNOWN("sandbox.runx.dev/requirement", "requirements")},
        {POD(APP ",\"sandbox.runx.dev/" HELPER_HEX_A "\":\"x\"", HELPER_APP),
         "denied blocked" UNKNOWN("sandbox.runx.dev/" HELPER_HEX_A, "skill-ref")},
        /* blank counts as absent, and is not an identity */
        {POD("\"sandbox.runx.dev/skill-ref\":\" \\t\"", HELPER_APP),
         "denied needs_more_evidence" UNLISTED("spec.containers[0].image", HELPER_HEX_A)},
        {POD("\"sandbox.runx.dev/skill-ref\":\" acme/app@1.0.0\\n\"", HELPER_APP), "allowed ready"},
        /* two identities: evidence is not searched */
        {POD(APP "," BY_DIGEST, HELPER_APP),
         "denied needs_more_evidence" UNLISTED("spec.containers[0].image", HELPER_HEX_A)},
    };

    CHECK(snapshot, rows);
    snapshot_unref(snapshot);
}

#define INVALID(place, what)                                                                       \
    "denied blocked\ngate.annotation.invalid|sandbox.runx.dev/requirements:" place                 \
    "|invalid requirements: " what "; correct the annotation at this line and column"

Test(gate_findings, requirements_annotation)
{
    cleanup_arena struct arena arena = {0};
    struct snapshot *snapshot = helper_default_snapshot(&arena);
    static const struct row rows[] = {
        {POD(APP "," REQUIRE(""), HELPER_APP), "allowed ready"},
        {POD(APP "," REQUIRE(" \\n"), HELPER_APP), "allowed ready"},
        {POD(APP "," REQUIRE("# a comment\\n"), HELPER_APP), "allowed ready"},
        {POD(APP "," REQUIRE("null"), HELPER_APP), "allowed ready"},
        {POD(APP "," REQUIRE("~"), HELPER_APP), "allowed ready"},
        {POD(APP "," REQUIRE("{}"), HELPER_APP), "allowed ready"},
        {POD(APP "," REQUIRE("{\\\"network\\\": false}"), HELPER_APP), "allowed ready"},
        {POD(APP "," REQUIRE("network: false"), HELPER_APP), "allowed ready"},
        {POD(APP "," REQUIRE("[]"), HELPER_APP), INVALID("1:1", "must be an object")},
        {POD(APP "," REQUIRE("\\n- a"), HELPER_APP), INVALID("2:1", "must be an object")},
        {POD(APP "," REQUIRE("text"), HELPER_APP), INVALID("1:1", "must be an object")},
        {POD(APP "," REQUIRE("network: no"), HELPER_APP),
         INVALID("1:10", "YAML 1.1 and YAML 1.2 read this differently: quote it")},
    };

    CHECK(snapshot, rows);
    snapshot_unref(snapshot);
}

#define CONFLICT(field, message) "denied blocked\ngate.annotation.conflict|" field "|" message
#define SIGNED_ONLY                                                                                \
    "the annotation can only repeat the signed value of this field; remove the field from the "    \
    "annotation, or have its value signed"
#define BAD_CLASS                                                                                  \
    "a class is at most 128 bytes of printable ASCII without <, > and &; correct the annotation, " \
    "or remove it"

Test(gate_findings, conflicts_of_annotations)
{
    cleanup_arena struct arena arena = {0};
    struct snapshot *snapshot = helper_default_snapshot(&arena);
    static const struct row rows[] = {
        {POD(APP ",\"sandbox.runx.dev/class\":\" batch \"", HELPER_APP), "allowed ready"},
        {POD(APP ",\"sandbox.runx.dev/class\":\"\"", HELPER_APP), "allowed ready"},
        {POD(APP ",\"sandbox.runx.dev/class\":\"web\"", HELPER_APP),
         CONFLICT("class", "the annotation gives another class than the signed one; use the "
                           "signed class, or remove the annotation")},
        {POD(APP ",\"sandbox.runx.dev/class\":\"a<b\"", HELPER_APP), CONFLICT("class", BAD_CLASS)},
        {POD(APP "," REQUIRE("source_ref: git:acme/app@1"), HELPER_APP), "allowed ready"},
        {POD(APP "," REQUIRE("source_ref: ' git:acme/app@1 '"), HELPER_APP), "allowed ready"},
        {POD(APP "," REQUIRE("source_ref: ' '"), HELPER_APP), "allowed ready"},
        {POD(APP "," REQUIRE("source_ref:"), HELPER_APP), "allowed ready"},
        {POD(APP "," REQUIRE("source_ref: git:acme/app@2"), HELPER_APP),
         CONFLICT("source_ref", SIGNED_ONLY)},
        {POD(APP "," REQUIRE("source_ref: [x]"), HELPER_APP), CONFLICT("source_ref", SIGNED_ONLY)},
        {POD(APP "," REQUIRE("source_digest: sha256:" HELPER_HEX_A), HELPER_APP),
         CONFLICT("source_digest", SIGNED_ONLY)},
        {POD(APP "," REQUIRE("observed_at: 2026-02-28T13:00:00+01:00"), HELPER_APP),
         CONFLICT("observed_at", SIGNED_ONLY)},
        {POD(APP "," REQUIRE("cwd_policy: skill-directory"), HELPER_APP), "allowed ready"},
        {POD(APP "," REQUIRE("cwd_policy: workspace"), HELPER_APP),
         CONFLICT("cwd_policy", "the annotation asks for a broader working directory than was "
                                "signed; remove the field from the annotation, or have its "
                                "value signed")},
    };

    CHECK(snapshot, rows);
    snapshot_unref(snapshot);
}

Test(gate_findings, images)
{
    cleanup_arena struct arena arena = {0};
    struct snapshot *snapshot = helper_default_snapshot(&arena);
    static const struct row rows[] = {
        {POD(APP, HELPER_UNKNOWN),
         "denied blocked" UNLISTED("spec.containers[0].image", HELPER_HEX_C) NOT_OWN},
        {POD(APP, HELPER_SIDECAR), "denied blocked" NOT_OWN},
        {POD(APP, "app:1"), "denied blocked" LIKELY("spec.containers[0].image") NOT_OWN},
        {POD(BY_DIGEST, HELPER_APP), "denied needs_more_evidence" MISSING},
        {POD(BY_DIGEST, HELPER_SIDECAR), "denied needs_more_evidence" MISSING NOT_OWN},
        {POD("\"sandbox.runx.dev/image-digest\":\"x\"", HELPER_SIDECAR),
         "denied needs_more_evidence" MISSING},
        {POD("\"sandbox.runx.dev/skill-ref\":\"acme/x@1\"", HELPER_SIDECAR),
         "denied needs_more_evidence" MISSING},
        {"{\"metadata\":{\"annotations\":{" APP "}},\"spec\":{\"volumes\":[{\"image\":{}}],"
         "\"containers\":[{\"image\":\"" HELPER_SIDECAR "\"},{\"image\":\"" HELPER_APP "\"}],"
         "\"ephemeralContainers\":[{\"image\":\"" HELPER_UNKNOWN "\"}]}}",
         "denied blocked" UNPINNED("spec.volumes[0].image.reference")
             UNLISTED("spec.ephemeralContainers[0].image", HELPER_HEX_C)},
        {"{\"metadata\":{\"annotations\":{" APP "}},\"spec\":{"
         "\"containers\":[{\"image\":\"" HELPER_SIDECAR "\"}],"
         "\"initContainers\":[{\"image\":\"" HELPER_APP "\"}]}}",
         "denied blocked" NOT_OWN},
        {"{\"spec\":{\"containers\":7}}",
         "denied unusable\ngate.review.unusable||the pod cannot be judged: its lists of containers "
         "and volumes must be lists; correct the manifest"},
    };

    CHECK(snapshot, rows);
    snapshot_unref(snapshot);
}

#define REQUIREMENTS(identity, observed, more)                                                     \
    "{\"kind\":\"SandboxRequirements\",\"workload\":{" identity "},\"requirements\":{"             \
    "\"source_ref\":\"git:x@1\",\"source_digest\":\"sha256:" HELPER_HEX_C "\","                    \
    "\"observed_at\":\"" observed "\"}" more "}"
#define SKILL "\"skill_ref\":\"acme/app@1.0.0\""
#define IMAGE_A ",\"images\":[\"sha256:" HELPER_HEX_A "\"]"
#define PAST ",\"expires_at\":\"2026-03-01T12:00:00Z\""

static struct str judge(struct arena *arena, const struct policy *policy,
                        const struct helper_document *documents, const char *object)
{
    static const struct helper_labels labels[] = {{.name = "payments", .enforce = "required"}, {0}};
    const struct helper_review review = {.object = object};
    struct snapshot *snapshot = helper_snapshot(arena, policy, labels, documents);
    struct exchange e = helper_exchange(arena, snapshot, &review);
    struct str got = helper_summary(arena, &e.decision);

    snapshot_unref(snapshot);
    return got;
}

Test(gate_findings, evidence_expired)
{
    static const struct helper_document documents[] = {
        {"payments", "old", REQUIREMENTS(SKILL, "2026-02-28T12:00:00Z", IMAGE_A PAST), 0, NULL},
        {0}};
    cleanup_arena struct arena arena = {0};
    const struct policy policy = policy_defaults();

    cr_assert_text(judge(&arena, &policy, documents, POD(APP, HELPER_APP)),
                   "denied needs_more_evidence\ngate.evidence.expired||the evidence for this "
                   "workload, payments/old, has expired; sign it again");
    cr_assert_text(judge(&arena, &policy, documents, POD(APP, HELPER_UNKNOWN)),
                   "denied needs_more_evidence\ngate.evidence.expired||the evidence for this "
                   "workload, payments/old, has expired; sign it again" UNLISTED(
                       "spec.containers[0].image", HELPER_HEX_C) NOT_OWN);
}

/* The newest document wins in any namespace. If two newest ones differ, no older one is used. */
Test(gate_findings, evidence_conflict)
{
    static const struct helper_document documents[] = {
        {"payments", "a", REQUIREMENTS(SKILL, "2026-02-28T12:00:00Z", IMAGE_A), 0, NULL},
        {"sandgate-system", "b", REQUIREMENTS(SKILL, "2026-02-28T13:00:00+01:00", IMAGE_A), 0,
         NULL},
        {"payments", "older", REQUIREMENTS(SKILL, "2026-02-27T12:00:00Z", IMAGE_A), 0, NULL},
        {0}};
    cleanup_arena struct arena arena = {0};
    const struct policy policy = policy_defaults();

    cr_assert_text(
        judge(&arena, &policy, documents, POD(APP, HELPER_APP)),
        "denied needs_more_evidence\ngate.evidence.conflict||two valid documents for this "
        "workload have the same observed_at and differ; delete one of them, or sign a newer "
        "one" UNLISTED("spec.containers[0].image", HELPER_HEX_A));
}

Test(gate_findings, evidence_is_chosen_by_place_scope_and_moment)
{
    static const struct {
        struct helper_document documents[4];
        const char *wanted; /* beginning of its `evidence`; NULL: missing */
    } rows[] = {
        {{{"payments", "a", REQUIREMENTS(SKILL, "2026-02-28T12:00:00Z", IMAGE_A), 0, NULL},
          {"sandgate-system", "b", REQUIREMENTS(SKILL, "2026-02-28T12:00:01Z", IMAGE_A), 0, NULL}},
         "sandgate-system/b "},
        {{{"payments", "a", REQUIREMENTS(SKILL, "2026-02-28T12:00:00Z", IMAGE_A), 0, NULL},
          {"sandgate-system", "b", REQUIREMENTS(SKILL, "2026-02-28T12:00:00Z", IMAGE_A), 0, NULL}},
         "payments/a "}, /* equal bytes: no conflict */
        {{{"other", "a", REQUIREMENTS(SKILL, "2026-02-28T12:00:00Z", IMAGE_A), 0, NULL}}, NULL},
        {{{"sandgate-system", "a",
           REQUIREMENTS(SKILL, "2026-02-28T12:00:00Z", IMAGE_A ",\"namespaces\":[\"payments\"]"), 0,
           NULL}},
         "sandgate-system/a "},
        {{{"sandgate-system", "a",
           REQUIREMENTS(SKILL, "2026-02-28T12:00:00Z", IMAGE_A ",\"namespaces\":[]"), 0, NULL}},
         NULL},
        {{{"sandgate-system", "a", REQUIREMENTS(SKILL, "2026-02-28T12:00:00Z", IMAGE_A PAST), 0,
           NULL},
          {"sandgate-system", "b", REQUIREMENTS(SKILL, "2026-02-27T12:00:00Z", IMAGE_A), 0, NULL}},
         "sandgate-system/b "},
        {{{"payments", "a", REQUIREMENTS(SKILL, "2026-02-28T12:00:00Z", IMAGE_A), EVIDENCE_REVOKED,
           "it is revoked"}},
         NULL},
    };
    const struct policy policy = policy_defaults();

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cleanup_arena struct arena arena = {0};
        const struct helper_review review = {.object = POD(APP, HELPER_APP)};
        struct snapshot *snapshot = helper_snapshot(&arena, &policy, NULL, rows[i].documents);
        struct exchange e = helper_exchange(&arena, snapshot, &review);
        struct str evidence = helper_annotation(&arena, &e, "evidence");

        cr_assert_eq(str_present(evidence), rows[i].wanted != NULL, "row %zu", i);
        cr_assert(str_starts_with(evidence, str_of(rows[i].wanted)), "row %zu: %.*s", i,
                  (int)evidence.len, evidence.ptr);
        cr_assert_eq(e.decision.evidence_missed, rows[i].wanted == NULL);
        snapshot_unref(snapshot);
    }
}

/* Names the searched namespaces, and why each candidate is invalid, for up to four candidates. */
Test(gate_findings, evidence_missing_names_candidates)
{
    static const struct helper_document documents[] = {
        {"payments", "a", "{}", 0, "no key of the keyring made a signature on it"},
        {"sandgate-system", "b", "{}", 0, "its signature is no base64"},
        {"sandgate-system", "elsewhere",
         REQUIREMENTS(SKILL, "2026-02-28T12:00:00Z", IMAGE_A ",\"namespaces\":[\"x\"]"), 0, NULL},
        {"sandgate-system", "z1", "{}", 0, "x"},
        {"sandgate-system", "z2", "{}", 0, "x"},
        {"other", "c", "{}", 0, "x"},
        {0}};
    cleanup_arena struct arena arena = {0};
    const struct policy policy = policy_defaults();

    cr_assert_text(
        judge(&arena, &policy, documents, POD(APP, HELPER_SIDECAR)),
        "denied needs_more_evidence\ngate.evidence.missing||no valid evidence for this workload is "
        "in the namespaces payments and sandgate-system (sandgate-system/elsewhere: does not "
        "apply to this namespace; payments/a: no key of the keyring made a signature on it; "
        "sandgate-system/b: "
        "its signature is no base64; and 2 more); apply a signed SandboxRequirements for it, or "
        "correct the identity" UNLISTED("spec.containers[0].image", HELPER_HEX_B));
}

/* An invalid baseline blocks where a valid one would apply. A revoked one is absent. */
Test(gate_findings, baselines)
{
#define BASELINE "{\"kind\":\"SandboxBaseline\",\"baseline\":{}}"
    static const struct helper_document documents[] = {
        {"sandgate-system", "app", REQUIREMENTS(SKILL, "2026-02-28T12:00:00Z", IMAGE_A), 0, NULL},
        {"sandgate-system", "broken", BASELINE, 0, "no key of the keyring made a signature on it"},
        {"payments", "own", BASELINE, 0, "it has an unknown field"},
        {"other", "elsewhere", BASELINE, 0, "x"},
        {"sandgate-system", "revoked", BASELINE, EVIDENCE_REVOKED, NULL},
        {"sandgate-system", "audience", BASELINE, EVIDENCE_OTHER_AUDIENCE, NULL},
        {"payments", "good", BASELINE, 0, NULL},
        {0}};
    cleanup_arena struct arena arena = {0};
    struct policy policy = policy_defaults();

    policy.min_baselines = 1;
    cr_assert_text(
        judge(&arena, &policy, documents, POD(APP, HELPER_APP)),
        "denied blocked"
        "\ngate.baseline.invalid|payments/own|this baseline is not valid, so its ceiling is not "
        "known: it has an unknown field; sign it again, or delete it"
        "\ngate.baseline.invalid|sandgate-system/broken|this baseline is not valid, so its ceiling "
        "is not known: no key of the keyring made a signature on it; sign it again, or delete it"
        "\ngate.baseline.missing||valid baselines in the namespace sandgate-system: 0 of at "
        "least 1; apply the missing baselines there, signed");
}

/* `minBaselines` counts all baselines of the gate's own namespace, with any scope. */
Test(gate_findings, minimum_of_baselines_includes_other_scopes)
{
    static const struct helper_document documents[] = {
        {"sandgate-system", "app", REQUIREMENTS(SKILL, "2026-02-28T12:00:00Z", IMAGE_A), 0, NULL},
        {"sandgate-system", "b",
         "{\"kind\":\"SandboxBaseline\",\"baseline\":{\"require_enforcement\":true},"
         "\"namespaces\":[\"x\"],\"images\":[\"sha256:" HELPER_HEX_B "\"]}",
         0, NULL},
        {0}};
    cleanup_arena struct arena arena = {0};
    struct policy policy = policy_defaults();

    policy.min_baselines = 1;
    cr_assert_text(judge(&arena, &policy, documents, POD(APP, HELPER_APP)), "allowed ready");
    cr_assert_text(judge(&arena, &policy, documents, POD(APP, HELPER_SIDECAR)),
                   "denied blocked" UNLISTED("spec.containers[0].image", HELPER_HEX_B) NOT_OWN);
}

/* Controllers: where annotations belong, and which were removed. */
Test(gate_findings, annotation_missing_says_where)
{
    cleanup_arena struct arena arena = {0};
    struct snapshot *snapshot = helper_default_snapshot(&arena);
    const struct helper_review own = {
        .group = "batch",
        .kind = "CronJob",
        .object = "{\"metadata\":{\"annotations\":{" APP
                  "}},\"spec\":{\"jobTemplate\":{\"spec\":{\"template\":{\"spec\":{\"containers\":"
                  "[{\"image\":\"" HELPER_SIDECAR "\"}]}}}}}}"};
    const struct helper_review stripped = {.object = POD("", HELPER_SIDECAR),
                                           .old = POD(APP, HELPER_SIDECAR)};
    struct exchange e = helper_exchange(&arena, snapshot, &own);

    cr_assert_text(helper_summary(&arena, &e.decision),
                   "allowed needs_more_evidence\ngate.annotation.missing||the annotations are on "
                   "the object itself, so its pods do not have them; annotations belong on the "
                   "template: move them to spec.jobTemplate.spec.template.metadata.annotations");
    e = helper_exchange(&arena, snapshot, &stripped);
    cr_assert_text(helper_summary(&arena, &e.decision),
                   "denied needs_more_evidence\ngate.annotation.missing||the annotations under "
                   "sandbox.runx.dev/ were removed; restore sandbox.runx.dev/skill-ref or "
                   "sandbox.runx.dev/image-digest");
    snapshot_unref(snapshot);
}

/* Every code has a text, and no message contains a control character. */
Test(gate_findings, messages_are_clean)
{
    cleanup_arena struct arena arena = {0};
    static const struct helper_document documents[] = {{"payments", "a", "{}", 0,
                                                        "a\nb\x1b[31m\xE2\x80\xAE"
                                                        "c"},
                                                       {0}};
    const struct policy policy = policy_defaults();

    cr_assert_text(judge(&arena, &policy, documents, POD(APP, HELPER_SIDECAR)),
                   "denied needs_more_evidence\ngate.evidence.missing||no valid evidence for this "
                   "workload is in the namespaces payments and sandgate-system (payments/a: "
                   "a?b?[31m?c); apply a signed SandboxRequirements for it, or correct the "
                   "identity" UNLISTED("spec.containers[0].image", HELPER_HEX_B));
}

/* A new code or problem cannot be added without its texts: the functions assert that they exist. */
Test(gate_findings, every_problem_says_what_to_do)
{
    bool used[GATE_CODE_COUNT] = {false};

    for (int i = 0; i < GATE_PROBLEM_COUNT; i++) {
        const struct gate_problem_text *text = gate_problem_text((enum gate_problem)i);

        cr_assert(text->message[0] != '\0' && text->remedy[0] != '\0');
        cr_assert_not(str_contains(str_of(text->message), STR("; ")));
        used[text->code] = true;
    }
    for (int i = 0; i < GATE_CODE_COUNT; i++) {
        const char *hint = gate_code_hint((enum gate_code)i);

        cr_assert(used[i] || i >= GATE_CODE_BOUNDARY, "%s", gate_code_text((enum gate_code)i));
        for (int other = 0; other < i; other++)
            cr_assert_str_neq(hint, gate_code_hint((enum gate_code)other));
    }
}
