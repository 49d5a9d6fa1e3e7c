/* SPDX-License-Identifier: Apache-2.0 */
/* test_gate_memory - the nth allocation of an exchange fails, for every n: readers, gate, planner
 * and answer give an error, and never an answer that admits more than the normal one. */

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#include "helper.h"
#include "planner/base/tree.h"
#include "tests/webhook/failing_arena.h"
#include "webhook/record/record.h"

#define GOOD "\"sandbox.runx.dev/skill-ref\":\"acme/app@1.0.0\""
#define RUNS(image) "\"spec\":{\"containers\":[{\"image\":\"" image "\"}]}"

static const struct helper_review reviews[] = {
    {.object = HELPER_GOOD_POD},
    {.object = "{\"metadata\":{\"annotations\":{" GOOD ",\"sandbox.runx.dev/requirements\":"
               "\"writable_paths: [tmp/x]\\nenv_allowlist: [A]\\nodd: 1\\nsource_ref: x\\n\","
               "\"sandbox.runx.dev/odd\":\"\",\"sandbox.runx.dev/class\":\"<\"}}," RUNS(
                   HELPER_UNKNOWN) "}"},
    {.object = "{\"metadata\":{\"annotations\":{\"sandbox.runx.dev/image-digest\":\"x\","
               "\"sandbox.runx.dev/requirements\":\"[]\"}}," RUNS("a") "}"},
    {.object = "{\"metadata\":{\"annotations\":{" GOOD "}}," RUNS(HELPER_APP) "}",
     .old = "{\"metadata\":{\"annotations\":{" GOOD "}}," RUNS(HELPER_SIDECAR) "}"},
    {.object = HELPER_GOOD_POD, .old = HELPER_GOOD_POD},
    {.object = "{\"spec\":{\"template\":{}}}", .group = "apps", .kind = "Deployment"},
    {.object = "{" RUNS("a") "}", .namespace_name = "x"},
    {.object = "{\"metadata\":{\"annotations\":{\"sandbox.runx.dev/skill-ref\":\"acme/old@1.0.0\"}}"
               "," RUNS(HELPER_APP) "}"},
};

static void sweep(const struct snapshot *snapshot, struct str text, enum answer_format format)
{
    cleanup_arena struct arena whole = {0};
    struct exchange wanted = {0};
    bool failed = false;
    size_t n = 0;

    exchange_review(text, DOCUMENT_JSON, format, snapshot, helper_moment(HELPER_NOW), &whole,
                    &wanted);
    cr_assert_eq(wanted.status, 200);
    do {
        cleanup_arena struct arena arena = {0};
        struct exchange e = {0};

        failing_arena_arm(++n);
        exchange_review(text, DOCUMENT_JSON, format, snapshot, helper_moment(HELPER_NOW), &arena,
                        &e);
        failed = failing_arena_disarm();
        if (failed) {
            cr_assert_eq(e.status, 500, "allocation %zu: %d", n, e.status);
            cr_assert(!e.decided && !e.decision.allowed);
            cr_assert(!str_contains(e.body, STR("\"allowed\":true")));
            cr_assert(!str_contains(e.body, STR("allowed: true")));
        } else {
            cr_assert(str_equal(e.body, wanted.body));
        }
    } while (failed);
    cr_assert_gt(n, 20, "%zu allocations", n);
}

/* The line of the decision log is complete, or an error. */
static void sweep_record(const struct snapshot *snapshot, struct str text)
{
    const struct record_circumstances circumstances = {.now = helper_moment(HELPER_NOW)};
    cleanup_arena struct arena whole = {0};
    struct exchange e = {0};
    struct str wanted = {0};
    bool failed = false;
    size_t n = 0;

    exchange_review(text, DOCUMENT_JSON, ANSWER_JSON, snapshot, helper_moment(HELPER_NOW), &whole,
                    &e);
    cr_assert_eq(record_write(&e.decision, &e.review, &circumstances, &whole, &wanted), 0);
    do {
        cleanup_arena struct arena arena = {0};
        struct str line = {0};
        int r = 0;

        failing_arena_arm(++n);
        r = record_write(&e.decision, &e.review, &circumstances, &arena, &line);
        failed = failing_arena_disarm();
        cr_assert_eq(r, failed ? -ENOMEM : 0, "allocation %zu: %d", n, r);
        cr_assert(failed ? !str_present(line) : str_equal(line, wanted));
    } while (failed);
    cr_assert_gt(n, 2, "%zu allocations", n);
}

Test(gate_memory, every_allocation_fails_once)
{
    static const struct helper_labels labels[] = {
        {.name = "payments", .enforce = "required", .warn = "required", .audit = "oh"}, {0}};
    static const struct helper_document documents[] = {
        {"payments", "app",
         "{\"kind\":\"SandboxRequirements\",\"workload\":{\"skill_ref\":\"acme/app@1.0.0\"},"
         "\"requirements\":{" HELPER_REQUIREMENTS ",\"writable_paths\":[\"tmp\"]},"
         "\"images\":[\"sha256:" HELPER_HEX_A "\"],\"expires_at\":\"2026-03-02T00:00:00Z\"}",
         0, NULL},
        {"payments", "old",
         "{\"kind\":\"SandboxRequirements\",\"workload\":{\"skill_ref\":\"acme/old@1.0.0\"},"
         "\"requirements\":{\"observed_at\":\"2026-01-01T12:00:00Z\"},"
         "\"images\":[\"sha256:" HELPER_HEX_A "\"]}",
         0, NULL},
        {"payments", "b1",
         "{\"kind\":\"SandboxBaseline\",\"baseline\":{\"allowed_writable_paths\":[\"tmp\"],"
         "\"allowed_env\":[\"A\"]}}",
         0, NULL},
        {"sandgate-system", "b2",
         "{\"kind\":\"SandboxBaseline\",\"baseline\":{\"allowed_writable_paths\":[\".\"],"
         "\"network_allowed\":false}}",
         0, NULL},
        {"sandgate-system", "x",
         "{\"kind\":\"SandboxExemption\",\"match\":{\"namespaces\":[\"payments\"],"
         "\"image_digests\":[\"x\"]},\"findings\":[\"gate.annotation.invalid\","
         "\"gate.evidence.missing\",\"gate.image.unpinned\",\"sandbox.workload.digest\","
         "\"sandbox.time.missing\",\"sandbox.requirements.provenance\"],"
         "\"expires_at\":\"2026-03-02T00:00:00Z\"}",
         0, NULL},
        {"payments", "bad", "{}", 0, "it is signed by nobody"},
        {0}};
    cleanup_arena struct arena arena = {0};
    const struct policy policy = policy_defaults();
    struct snapshot *snapshot = helper_snapshot(&arena, &policy, labels, documents);

    for (size_t i = 0; i < sizeof(reviews) / sizeof(reviews[0]); i++) {
        struct str text = helper_review_text(&arena, &reviews[i]);

        sweep(snapshot, text, ANSWER_JSON);
        sweep(snapshot, text, ANSWER_YAML);
        sweep_record(snapshot, text);
    }
    snapshot_unref(snapshot);
}

/* The first request of a snapshot makes what its baselines allow. If that fails, the next one
 * does. */
Test(gate_memory, limits_of_a_new_snapshot)
{
    static const struct helper_document documents[] = {
        {"payments", "b1",
         "{\"kind\":\"SandboxBaseline\",\"baseline\":{\"allowed_writable_paths\":[\"tmp\"]}}", 0,
         NULL},
        {"sandgate-system", "b2",
         "{\"kind\":\"SandboxBaseline\",\"baseline\":{\"allowed_writable_paths\":[\".\"]}}", 0,
         NULL},
        {0}};
    const struct policy policy = policy_defaults();
    bool failed = true;

    for (size_t n = 1; failed; n++) {
        cleanup_arena struct arena arena = {0};
        struct snapshot *snapshot = helper_snapshot(&arena, &policy, NULL, documents);
        struct str text = helper_review_text(&arena, &reviews[0]);
        struct exchange first = {0}, next = {0};

        failing_arena_arm(n);
        exchange_review(text, DOCUMENT_JSON, ANSWER_JSON, snapshot, helper_moment(HELPER_NOW),
                        &arena, &first);
        failed = failing_arena_disarm();
        exchange_review(text, DOCUMENT_JSON, ANSWER_JSON, snapshot, helper_moment(HELPER_NOW),
                        &arena, &next);
        cr_assert_eq(first.status, failed ? 500 : 200, "allocation %zu", n);
        cr_assert_eq(next.status, 200);
        cr_assert(failed || str_equal(first.body, next.body));
        snapshot_unref(snapshot);
    }
}
