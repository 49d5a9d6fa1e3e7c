/* SPDX-License-Identifier: Apache-2.0 */
/* test_answer_rows - section 7: findings that only follow from another one are named last, in one
 * line of the denial and in one warning. */

#include <criterion/criterion.h>

#include "helper.h"
#include "planner/base/buffer.h"
#include "webhook/answer/rows.h"

#define SKILL(ref) "\"sandbox.runx.dev/skill-ref\":\"" ref "\""
#define DIGEST(hex) "\"sandbox.runx.dev/image-digest\":\"sha256:" hex "\""
#define REQUIREMENTS(text) "\"sandbox.runx.dev/requirements\":\"" text "\""
#define EVIDENCE(skill, images, more)                                                              \
    "{\"kind\":\"SandboxRequirements\",\"workload\":{\"skill_ref\":\"" skill "\"},"                \
    "\"requirements\":{" HELPER_REQUIREMENTS "},\"images\":[" images "]" more "}"

static struct snapshot *make_world(struct arena *arena, bool accept_unsigned)
{
    static const struct helper_labels labels[] = {{.name = "payments", .enforce = "required"}, {0}};
    static const struct helper_document documents[] = {
        {"payments", "app", EVIDENCE("acme/app@1.0.0", "\"sha256:" HELPER_HEX_A "\"", ""), 0, NULL},
        {"payments", "old",
         EVIDENCE("acme/old@1.0.0", "\"sha256:" HELPER_HEX_A "\"",
                  ",\"expires_at\":\"2026-02-28T13:00:00Z\""),
         0, NULL},
        {"payments", "two-a", EVIDENCE("acme/two@1.0.0", "", ""), 0, NULL},
        {"payments", "two-b", EVIDENCE("acme/two@1.0.0", "\"sha256:" HELPER_HEX_B "\"", ""), 0,
         NULL},
        {0},
    };
    struct policy policy = policy_defaults();

    policy.accept_unsigned = accept_unsigned;
    return helper_snapshot(arena, &policy, labels, documents);
}

static struct exchange review(struct arena *arena, const char *annotations, const char *image,
                              bool accept_unsigned)
{
    struct snapshot *world = make_world(arena, accept_unsigned);
    const struct helper_review given = {
        .object = arena_format(
                      arena,
                      "{\"metadata\":{\"annotations\":{%s}},\"spec\":{\"containers\":[{\"image\":"
                      "\"%s\"}]}}",
                      annotations, image)
                      .ptr};
    struct exchange exchange = helper_exchange(arena, world, &given);

    snapshot_unref(world);
    return exchange;
}

/* The codes of the causes, `|`, and what follows from them. */
static struct str codes_of(struct arena *arena, const struct decision *d)
{
    struct buffer b = buffer_make(arena, 4096);
    struct answer_rows rows = {0};

    cr_assert_eq(answer_rows_make(d, arena, &rows), 0);
    cr_assert_eq(rows.count, d->finding_count + d->plan.finding_count);
    for (size_t i = 0; i < rows.count; i++) {
        buffer_add(&b, i == rows.cause_count ? STR("| ") : STR(""));
        buffer_add(&b, rows.items[i].code);
        buffer_add_char(&b, i + 1 < rows.count ? ' ' : '.');
    }
    return buffer_text(&b);
}

#define NO_REQUIREMENTS "sandbox.time.missing sandbox.requirements.provenance."

Test(answer_rows, tell_causes_from_consequences)
{
    static const struct {
        const char *annotations;
        const char *image;
        const char *codes;
        bool accept_unsigned;
    } rows[] = {
        {"", "app:1",
         "gate.annotation.missing gate.image.unpinned | sandbox.workload.identity " NO_REQUIREMENTS,
         false},
        {"", HELPER_UNKNOWN,
         "gate.annotation.missing | gate.image.unlisted sandbox.workload.identity " NO_REQUIREMENTS,
         false},
        {"\"sandbox.runx.dev/skill_ref\":\"acme/app@1.0.0\"", HELPER_APP,
         "gate.annotation.unknown sandbox.workload.identity | gate.image.unlisted " NO_REQUIREMENTS,
         false},
        {SKILL("acme/none@1.0.0"), HELPER_APP,
         "gate.evidence.missing | gate.image.unlisted " NO_REQUIREMENTS, false},
        {SKILL("acme/app"), HELPER_APP,
         "sandbox.workload.skill_ref | gate.evidence.missing gate.image.unlisted " NO_REQUIREMENTS,
         false},
        {SKILL("acme/app@1.0.0") "," DIGEST(HELPER_HEX_A), HELPER_APP,
         "sandbox.workload.identity | gate.image.unlisted " NO_REQUIREMENTS, false},
        {DIGEST(HELPER_HEX_B), HELPER_SIDECAR, "gate.evidence.missing | " NO_REQUIREMENTS, false},
        /* the identity says which image is the workload's, so this is no consequence */
        {DIGEST(HELPER_HEX_B), HELPER_UNKNOWN,
         "gate.evidence.missing gate.image.unlisted gate.image.unlisted | " NO_REQUIREMENTS, false},
        {DIGEST("x"), HELPER_UNKNOWN,
         "sandbox.workload.digest | gate.evidence.missing gate.image.unlisted " NO_REQUIREMENTS,
         false},
        /* expired evidence says it too */
        {SKILL("acme/old@1.0.0"), HELPER_APP, "gate.evidence.expired | " NO_REQUIREMENTS, false},
        {SKILL("acme/old@1.0.0"), HELPER_UNKNOWN,
         "gate.evidence.expired gate.image.unlisted gate.image.unlisted | " NO_REQUIREMENTS, false},
        {SKILL("acme/two@1.0.0"), HELPER_APP,
         "gate.evidence.conflict | gate.image.unlisted " NO_REQUIREMENTS, false},
        {SKILL("acme/app@1.0.0"), HELPER_UNKNOWN, "gate.image.unlisted gate.image.unlisted.",
         false},
        /* the pod gives requirements itself, and these lack both */
        {SKILL("acme/none@1.0.0") "," REQUIREMENTS("network: false"), HELPER_APP, NO_REQUIREMENTS,
         true},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cleanup_arena struct arena arena = {0};
        struct exchange e =
            review(&arena, rows[i].annotations, rows[i].image, rows[i].accept_unsigned);

        cr_assert_text(codes_of(&arena, &e.decision), rows[i].codes);
    }
}

Test(answer_rows, denial_names_consequences_in_its_last_line)
{
    cleanup_arena struct arena arena = {0};
    struct exchange e = review(&arena, SKILL("acme/none@1.0.0"), HELPER_APP, false);

    cr_assert_text(
        e.response->message,
        "payments/Pod/p is refused: its sandbox plan needs more evidence\n"
        "gate.evidence.missing: no valid evidence for this workload is in the namespaces payments "
        "and sandgate-system; apply a signed SandboxRequirements for it, or correct the identity\n"
        "also, as a consequence: gate.image.unlisted, sandbox.time.missing, "
        "sandbox.requirements.provenance");
    /* packet and annotations have all of them as before */
    cr_assert(str_contains(helper_annotation(&arena, &e, "findings"), STR("gate.image.unlisted")));
    cr_assert(str_contains(helper_annotation(&arena, &e, "packet"), STR("sandbox.time.missing")));
}

/* The packet's message is fixed; a person reads which of the two it is, and by how much. */
Test(answer_rows, say_whether_requirements_are_too_old_or_in_the_future)
{
    static const struct {
        const char *observed_at;
        int max_age_days;
        const char *line;
    } rows[] = {
        {"2026-01-27T12:00:00Z", 30, "3 days older than the allowed 30 days; check the require"},
        {"2026-01-27T12:00:01Z", 30, "2 days older than the allowed 30 days; check the require"},
        {"2026-01-29T12:00:00Z", 30, "1 day older than the allowed 30 days; check the require"},
        {"2026-01-29T12:00:00.5Z", 30, "23 hours older than the allowed 30 days; "},
        {"2026-01-30T11:00:00Z", 30, "1 hour older than the allowed 30 days; "},
        {"2026-01-30T11:59:59.9Z", 30, "less than an hour older than the allowed 30 days; "},
        {"2026-02-01T12:00:00Z", 1, "27 days older than the allowed 1 day; "},
        {"2026-03-01T12:01:01Z", 30, "less than an hour in the future; check the clock of the "},
        {"2026-03-01T14:00:00Z", 30, "2 hours in the future; check the clock of the machine "},
        {"2026-03-01T17:00:00+02:00", 30, "3 hours in the future; "},
        {"9999-12-31T23:59:59Z", 30, "2912383 days in the future; "},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cleanup_arena struct arena arena = {0};
        struct policy policy = policy_defaults();
        struct snapshot *world = NULL;
        const struct helper_review given = {
            .object =
                arena_format(
                    &arena,
                    "{\"metadata\":{\"annotations\":{" SKILL("acme/none@1.0.0") "," REQUIREMENTS(
                        "{source_ref: a, source_digest: sha256:" HELPER_HEX_A
                        ", observed_at: ' %s '}") "}},\"spec\":{\"containers\":["
                                                  "{\"image\":\"" HELPER_APP "\"}]}}",
                    rows[i].observed_at)
                    .ptr};
        struct exchange e = {0};
        struct str wanted =
            arena_format(&arena, "\nsandbox.requirements.stale: observed_at is %s", rows[i].line);

        policy.accept_unsigned = true;
        policy.max_age_days = rows[i].max_age_days;
        world = helper_snapshot(&arena, &policy, NULL, NULL);
        e = helper_exchange(&arena, world, &given);
        cr_assert(str_contains(e.response->message, wanted), "%s: %.*s", rows[i].observed_at,
                  (int)e.response->message.len, e.response->message.ptr);
        cr_assert(str_contains(helper_annotation(&arena, &e, "packet"),
                               STR("\"message\":\"requirements are stale or future-dated\"")));
        snapshot_unref(world);
    }
}

/* However many findings there are, the last line or warning has room. */
Test(answer_rows, consequences_always_fit)
{
    static const char also[] = "also, as a consequence: sandbox.workload.identity, "
                               "sandbox.time.missing, sandbox.requirements.provenance";

    for (size_t images = 1; images < 40; images++) {
        cleanup_arena struct arena arena = {0};
        struct buffer b = buffer_make(&arena, 1 << 20);
        struct exchange e = {0};
        struct str message = {0}, end = {0}, warnings[ANSWER_MAX_WARNINGS] = {{0}};
        size_t count = 0;

        buffer_add(&b, STR("a"));
        for (size_t i = 1; i < images; i++)
            buffer_add_format(&b, "\"},{\"image\":\"a%zu", i);
        e = review(&arena, "", buffer_text(&b).ptr, false);
        message = e.response->message;
        cr_assert_leq(message.len, ANSWER_MAX_MESSAGE_BYTES);
        cr_assert_gt(message.len, sizeof(also));
        end = (struct str){message.ptr + message.len - sizeof(also) + 1, sizeof(also) - 1};
        cr_assert_text(end, also);
        e.decision.allowed = e.decision.violates_warn = true;
        cr_assert_eq(answer_warnings(&e.decision, &arena, warnings, &count), 0);
        cr_assert_eq(count, images + 3 < ANSWER_MAX_WARNINGS ? images + 3 : ANSWER_MAX_WARNINGS);
        cr_assert_text(warnings[count - 1], also);
        if (images + 3 > ANSWER_MAX_WARNINGS)
            cr_assert_text(warnings[count - 2], arena_format(&arena, "sandgate: … and %zu more",
                                                             images - ANSWER_MAX_WARNINGS + 4)
                                                    .ptr);
    }
}
