/* SPDX-License-Identifier: Apache-2.0 */
/* test_gate_exemption - sections 4 and 7: a signed exemption that covers all blocking findings. */

#include <criterion/criterion.h>

#include "helper.h"

#define OWN "sandgate-system"
/* Evidence that is too old, without other errors: the finding that these exemptions waive. */
#define STALE                                                                                      \
    "{\"kind\":\"SandboxRequirements\",\"workload\":{\"skill_ref\":\"acme/old@1.0.0\"},"           \
    "\"requirements\":{\"source_ref\":\"git:x@1\",\"source_digest\":\"sha256:" HELPER_HEX_C "\","  \
    "\"observed_at\":\"2026-01-01T12:00:00Z\"},\"images\":[\"sha256:" HELPER_HEX_A "\"]}"
#define EXEMPTION(match, more, end)                                                                \
    "{\"kind\":\"SandboxExemption\",\"match\":{" match "},\"reason\":\"r\",\"expires_at\":\"" end  \
    "\"" more "}"
#define HERE "\"namespaces\":[\"payments\"]"
#define LATER "2026-06-01T00:00:00Z"
#define POD(annotations, image, more)                                                              \
    "{\"metadata\":{\"annotations\":{\"sandbox.runx.dev/skill-ref\":\"acme/"                       \
    "old@1.0.0\"" annotations "}},\"spec\":{\"containers\":[{\"image\":\"" image "\"}]" more "}}"
#define OLD_POD POD("", HELPER_APP, "")

static const struct helper_labels labels[] = {
    {.name = "payments", .enforce = "required", .warn = "required", .audit = "required"}, {0}};

static struct exchange judge(struct arena *arena, const struct helper_document *exemptions,
                             const struct helper_review *review)
{
    struct helper_document documents[5] = {{OWN, "old", STALE, 0, NULL}};
    const struct policy policy = policy_defaults();
    struct snapshot *snapshot = NULL;
    struct exchange e = {0};

    for (size_t i = 0; i < 3 && exemptions[i].name != NULL; i++)
        documents[i + 1] = exemptions[i];
    snapshot = helper_snapshot(arena, &policy, labels, documents);
    e = helper_exchange(arena, snapshot, review);
    snapshot_unref(snapshot);
    return e;
}

static const struct {
    const char *json;
    struct helper_review review;
    bool exempt;
} matches[] = {
    {EXEMPTION(HERE, "", LATER), {.object = OLD_POD}, true},
    {EXEMPTION("\"namespaces\":[\"x\",\"pay*\"]", "", LATER), {.object = OLD_POD}, true},
    {EXEMPTION("\"namespaces\":[\"x\"]", "", LATER), {.object = OLD_POD}, false},
    {EXEMPTION("\"namespaces\":[]", "", LATER), {.object = OLD_POD}, false},
    {EXEMPTION(HERE, "", "2026-03-01T12:00:00Z"), {.object = OLD_POD}, false},
    {EXEMPTION(HERE, "", "2026-03-01T12:00:01Z"), {.object = OLD_POD}, true},
    {EXEMPTION(HERE ",\"skill_refs\":[\"acme/old@*\"]", "", LATER), {.object = OLD_POD}, true},
    {EXEMPTION(HERE ",\"skill_refs\":[\"acme/new@*\"]", "", LATER), {.object = OLD_POD}, false},
    {EXEMPTION(HERE ",\"skill_refs\":[]", "", LATER), {.object = OLD_POD}, false},
    {EXEMPTION(HERE ",\"image_digests\":[\"sha256:" HELPER_HEX_A "\"]", "", LATER),
     {.object = OLD_POD},
     false}, /* compared with the identity, not with the images */
    {EXEMPTION(HERE ",\"users\":[\"dev\"]", "", LATER), {.object = OLD_POD}, true},
    {EXEMPTION(HERE ",\"users\":[\"de\"]", "", LATER), {.object = OLD_POD}, false},
    {EXEMPTION(HERE ",\"users\":[\"d*\"]", "", LATER), {.object = OLD_POD, .user = ""}, false},
    {EXEMPTION(HERE ",\"service_accounts\":[\"default\"]", "", LATER), {.object = OLD_POD}, true},
    {EXEMPTION(HERE ",\"service_accounts\":[\"default\"]", "", LATER),
     {.object = POD("", HELPER_APP, ",\"serviceAccountName\":\"ci\"")},
     false},
    {EXEMPTION(HERE ",\"users\":[\"dev\"],\"service_accounts\":[\"ci\"]", "", LATER),
     {.object = OLD_POD},
     false}, /* all given fields must match */
    /* waived are the codes of the planner and gate.evidence.*, or the codes that are named */
    {EXEMPTION(HERE, "", LATER), {.object = POD("", HELPER_UNKNOWN, "")}, false},
    {EXEMPTION(HERE, "", LATER), {.object = POD("", "app:1", "")}, false},
    {EXEMPTION(HERE, ",\"findings\":[\"sandbox.requirements.stale\"]", LATER),
     {.object = OLD_POD},
     true},
    {EXEMPTION(HERE, ",\"findings\":[]", LATER), {.object = OLD_POD}, false},
    {EXEMPTION(HERE, ",\"findings\":[\"gate.image.unlisted\"]", LATER), {.object = OLD_POD}, false},
    {EXEMPTION(HERE, ",\"findings\":[\"sandbox.requirements.stale\",\"gate.image.unlisted\"]",
               LATER),
     {.object = POD("", HELPER_UNKNOWN, "")},
     true},
    {EXEMPTION(HERE, ",\"findings\":[\"gate.review.unusable\"]", LATER),
     {.object = "{\"spec\":{\"containers\":[]}}"},
     false},
    {EXEMPTION(HERE, "", LATER),
     {.kind = "PodTemplate", .object = "{\"template\":" OLD_POD "}"},
     true},
};

Test(gate_exemption, matches_and_covers)
{
    for (size_t i = 0; i < sizeof(matches) / sizeof(matches[0]); i++) {
        cleanup_arena struct arena arena = {0};
        const struct helper_document exemptions[4] = {{OWN, "x", matches[i].json, 0, NULL}};
        struct exchange e = judge(&arena, exemptions, &matches[i].review);
        const struct decision *d = &e.decision;

        cr_assert_eq(d->outcome == OUTCOME_EXEMPT, matches[i].exempt, "row %zu", i);
        if (!matches[i].exempt)
            continue;
        /* no violation, and the findings are still recorded */
        cr_assert(d->allowed && !d->violates_warn && !d->violates_audit, "row %zu", i);
        cr_assert(!str_present(helper_annotation(&arena, &e, "violations")));
        cr_assert_gt(d->finding_count + d->plan.finding_count, 0);
    }
}

/* Ignores exemptions outside of the gate's own namespace, and invalid ones. */
Test(gate_exemption, counts_in_the_gates_own_namespace)
{
    static const struct helper_document elsewhere[4] = {
        {"payments", "x", EXEMPTION(HERE, "", LATER), 0, NULL}};
    static const struct helper_document invalid[4] = {
        {OWN, "x", EXEMPTION(HERE, "", LATER), 0, "no key made a signature on it"}};
    cleanup_arena struct arena arena = {0};
    const struct helper_review review = {.object = OLD_POD};
    struct exchange e = judge(&arena, elsewhere, &review);

    cr_assert_eq(e.decision.outcome, OUTCOME_NEEDS_MORE_EVIDENCE);
    e = judge(&arena, invalid, &review);
    cr_assert_eq(e.decision.outcome, OUTCOME_NEEDS_MORE_EVIDENCE);
}

/* Of several exemptions, the one that expires last; then bytewise by name. A single one must cover
 * all. */
Test(gate_exemption, the_exemption_that_expires_last_is_chosen)
{
    static const struct helper_document by_end[4] = {
        {OWN, "a", EXEMPTION(HERE, "", LATER), 0, NULL},
        {OWN, "b", EXEMPTION(HERE, "", "2026-07-01T00:00:00Z"), 0, NULL},
        {OWN, "c", EXEMPTION("\"namespaces\":[\"x\"]", "", "2027-07-01T00:00:00Z"), 0, NULL}};
    static const struct helper_document by_name[4] = {
        {OWN, "b", EXEMPTION(HERE, "", LATER), 0, NULL},
        {OWN, "B", EXEMPTION(HERE, "", LATER), 0, NULL}};
    static const struct helper_document halves[4] = {
        {OWN, "a", EXEMPTION(HERE, ",\"findings\":[\"gate.image.unlisted\"]", LATER), 0, NULL},
        {OWN, "b", EXEMPTION(HERE, "", LATER), 0, NULL}};
    cleanup_arena struct arena arena = {0};
    const struct helper_review old = {.object = OLD_POD};
    const struct helper_review two = {.object = POD("", HELPER_UNKNOWN, "")};
    struct exchange e = judge(&arena, by_end, &old);

    cr_assert(str_starts_with(helper_annotation(&arena, &e, "exemption"), STR(OWN "/b sha256:")));
    cr_assert(str_contains(helper_annotation(&arena, &e, "exemption"),
                           STR(" keys=k1,k2 until=2026-07-01T00:00:00Z")));
    e = judge(&arena, by_name, &old);
    cr_assert(str_starts_with(helper_annotation(&arena, &e, "exemption"), STR(OWN "/B ")));
    e = judge(&arena, halves, &two);
    cr_assert_eq(e.decision.outcome, OUTCOME_NEEDS_MORE_EVIDENCE);
}

/* The only warning is that of expiry. Both ends of the 72 hours are included. */
Test(gate_exemption, warns_before_expiry)
{
    static const struct {
        const char *end;
        size_t warnings;
    } rows[] = {
        {"2026-03-01T12:00:01Z", 1},
        {"2026-03-04T12:00:00Z", 1},
        {"2026-03-04T12:00:00.000000001Z", 0},
        {LATER, 0},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cleanup_arena struct arena arena = {0};
        const struct helper_document exemptions[4] = {
            {OWN, "x",
             arena_format(&arena,
                          "{\"kind\":\"SandboxExemption\",\"match\":{" HERE
                          "},\"expires_at\":\"%s\"}",
                          rows[i].end)
                 .ptr,
             0, NULL}};
        const struct helper_review review = {.object = OLD_POD};
        struct exchange e = judge(&arena, exemptions, &review);
        struct str warnings[ANSWER_MAX_WARNINGS] = {{0}};
        size_t count = 0;

        cr_assert_eq(e.decision.outcome, OUTCOME_EXEMPT);
        cr_assert_eq(answer_warnings(&e.decision, &arena, warnings, &count), 0);
        cr_assert_eq(count, rows[i].warnings, "%s", rows[i].end);
        if (count > 0)
            cr_assert(str_contains(warnings[0], STR("exemption sandgate-system/x")));
    }
}
