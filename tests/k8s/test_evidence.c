/* SPDX-License-Identifier: Apache-2.0 */
/* test_evidence - signed documents: their signers, and which are valid (gate-v1, section 4). */
#include <criterion/criterion.h>
#include <errno.h>

#include "k8s/util/base64.h"
#include "tests/k8s/evidence_maker.h"
#include "tests/k8s/failing.h"

TestSuite(evidence, .init = maker_begin, .fini = maker_done);

static struct str padded(const char *text, size_t bytes)
{
    char *ptr = arena_alloc(&maker.arena, bytes + 1, 1);

    cr_assert_not_null(ptr);
    memset(ptr, '\n', bytes);
    memcpy(ptr, text, strlen(text));
    return (struct str){ptr, bytes};
}

Test(evidence, a_document_has_at_most_64_kib)
{
    maker_expect_valid(padded(REQUIREMENTS SKILL OBSERVED, 65536));
    maker_expect_invalid(padded(REQUIREMENTS SKILL OBSERVED, 65537), "sandbox.yaml is over 64 KiB");
    cr_expect_eq(maker.evidence->kind, EVIDENCE_UNKNOWN);
    maker_expect_invalid(padded(BASELINE "baseline: {}\n", 65537), "sandbox.yaml is over 64 KiB");
    cr_expect_eq(maker.evidence->kind, EVIDENCE_BASELINE);
}

Test(evidence, a_document_is_read_from_data_only)
{
    struct str document = STR(REQUIREMENTS SKILL OBSERVED);
    struct evidence_source source = {
        .namespace_name = STR("payments"),
        .name = STR("doc"),
        .annotations = maker_sign("release", document),
        .document = document,
        .in_binary_data = true,
    };
    struct str binary = {0};

    maker_make_source(&source);
    cr_expect_eq(maker.evidence->state, EVIDENCE_INVALID);
    cr_expect_str_eq(maker.evidence->reason.ptr,
                     "sandbox.yaml is in binaryData; it must be in data only");
    cr_expect_eq(maker.evidence->kind, EVIDENCE_UNKNOWN);
    source.document = (struct str){0};
    cr_assert_eq(base64_encode(STR(BASELINE "\xff"), &maker.arena, &binary), 0);
    source.binary = binary;
    maker_make_source(&source);
    cr_expect_eq(maker.evidence->kind, EVIDENCE_BASELINE, "a ceiling that was moved");
    source.in_binary_data = false;
    source.binary = (struct str){0};
    maker_make_source(&source);
    cr_expect_str_eq(maker.evidence->reason.ptr, "data has no sandbox.yaml");
    cr_expect_not(str_present(maker.evidence->digest));
}

Test(evidence, each_signature_has_a_result)
{
    static const struct {
        const char *by;
        unsigned threshold;
        const char *reason; /* NULL: valid */
        const char *ids;
    } rows[] = {
        {"", 1, "it has no signature", ""},
        {"release", 1, NULL, "release"},
        {"x=release", 1, "signature release does not verify", ""},
        {"!=release", 1, "signature release is not base64", ""},
        {"other", 1, "signature other is by a key that is not in the keyring", ""},
        {"a/b", 1, "signature ? is by a key that is not in the keyring", ""},
        {"x=security other release", 1, NULL, "release"},
        {"security release", 2, NULL, "release security"},
        {"release", 2, "1 of 2 required keys: signature release verifies", "release"},
        {"release release-copy", 2,
         "1 of 2 required keys: signature release verifies, signature release-copy verifies; one "
         "key "
         "with several ids counts once",
         "release release-copy"},
        {"release x=security", 2,
         "1 of 2 required keys: signature release verifies, signature security does not verify",
         "release"},
        {"a b c d e", 1,
         "signature a is by a key that is not in the keyring, signature b is by a key that is not "
         "in the keyring, signature c is by a key that is not in the keyring, signature "
         "d "
         "is by a key that is not in the keyring, and 1 more",
         ""},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t kind = 0; kind < EVIDENCE_KIND_COUNT; kind++)
            maker.policy.signers[kind].threshold = rows[i].threshold;
        maker_make(rows[i].by, STR(REQUIREMENTS SKILL OBSERVED));
        cr_expect_eq(maker.evidence->state == EVIDENCE_VALID, rows[i].reason == NULL, "%s",
                     rows[i].by);
        if (rows[i].reason != NULL)
            cr_expect_str_eq(maker.evidence->reason.ptr, rows[i].reason, "%s",
                             maker.evidence->reason.ptr);
        cr_expect_str_eq(maker_words(maker.evidence->key_ids), rows[i].ids, "%s", rows[i].by);
    }
}

Test(evidence, each_kind_has_its_signers)
{
    const struct str named[] = {STR("security")};
    struct str requirements = STR(REQUIREMENTS SKILL OBSERVED);
    struct str baseline = STR(BASELINE "baseline: {}\n");

    maker.policy.signers[EVIDENCE_BASELINE] =
        (struct policy_signers){.keys_named = true, .keys = {named, 1}, .threshold = 1};
    maker_make("release", requirements);
    cr_expect_eq(maker.evidence->state, EVIDENCE_VALID);
    maker_make("release", baseline);
    cr_expect_eq(maker.evidence->state, EVIDENCE_INVALID);
    cr_expect_eq(maker.evidence->kind, EVIDENCE_BASELINE);
    cr_expect_str_eq(
        maker.evidence->reason.ptr,
        "0 of 1 required keys: signature release is by a key that is not allowed to sign it");
    maker_make("security release", baseline);
    cr_expect_eq(maker.evidence->state, EVIDENCE_VALID);
    cr_expect_str_eq(maker_words(maker.evidence->key_ids), "release security");
    maker.policy.signers[EVIDENCE_BASELINE].keys.count = 0;
    maker_make("security release", baseline);
    cr_expect_eq(maker.evidence->state, EVIDENCE_INVALID, "an empty list has no signer");
}

Test(evidence, a_threshold_that_nobody_set_admits_nothing)
{
    maker.policy = (struct policy){0};
    maker_make("release security", STR(REQUIREMENTS SKILL OBSERVED));
    cr_expect_eq(maker.evidence->state, EVIDENCE_INVALID);
}

Test(evidence, an_unreadable_document_can_be_recognised_as_a_baseline)
{
    static const struct {
        struct str document;
        bool baseline;
    } rows[] = {
        {STR_INIT(BASELINE "baseline: {}\n"), true},
        {STR_INIT("kind: ' SandboxBaseline '\n"), true},
        {STR_INIT("{\"kind\":\"SandboxBaseline\"}"), true},
        {STR_INIT("a: [\nkind: SandboxBaseline\n"), true},
        {STR_INIT("a: [\r\nkind:   SandboxBaseline   \r\n"), true},
        {STR_INIT("a: [\nkind: SandboxBaseline # ours\n"), true},
        {STR_INIT("a: [\nkind: \"SandboxBaseline\"\n"), true},
        {STR_INIT("{\n  \"kind\": \"SandboxBaseline\",\n"), true},
        {STR_INIT("{\"kind\":\"SandboxBaseline\","), true},
        {STR_INIT("a: 1\na: 2\nkind: SandboxBaseline"), true},
        {STR_INIT("\xff\nkind: SandboxBaseline\n"), true},
        {STR_INIT("a: [\n# kind: SandboxBaseline\n"), true},
        {STR_INIT("{\"apiVersion\":\"v\",\"kind\":\"SandboxBaseline\",\"baseline\":{}}x"), true},
        {STR_INIT("a: [\n? kind\n: SandboxBaseline\n"), true},
        {STR_INIT("a: [\nkind:\n  SandboxBaseline\n"), true},
        {STR_INIT("a: [\n\"\\x6bind\": !!str SandboxBaseline\n"), true},
        {STR_INIT("a: [\nkind: SandboxRequirements\n"), false},
        {STR_INIT("a: [\nSandboxBaselin\n"), false},
        {STR_INIT(REQUIREMENTS SKILL OBSERVED), false},
        {STR_INIT("spec: |\n  kind: SandboxBaseline\n"), false},
        {STR_INIT("kind: [SandboxBaseline]\n"), false},
        {STR_INIT("- kind: SandboxBaseline\n"), false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        maker_make("x=release", rows[i].document);
        cr_expect_eq(maker.evidence->state, EVIDENCE_INVALID);
        cr_expect_str_eq(maker.evidence->reason.ptr, "signature release does not verify");
        cr_expect_eq(maker.evidence->kind, rows[i].baseline ? EVIDENCE_BASELINE : EVIDENCE_UNKNOWN,
                     "row %zu", i);
        maker_make("", rows[i].document);
        cr_expect_eq(maker.evidence->kind, rows[i].baseline ? EVIDENCE_BASELINE : EVIDENCE_UNKNOWN,
                     "row %zu", i);
    }
}

Test(evidence, a_signed_baseline_that_does_not_read_is_one)
{
    maker_expect_invalid(STR(BASELINE "baseline: {}\nextra: 1\n"), "extra is not a known field");
    cr_expect_eq(maker.evidence->kind, EVIDENCE_BASELINE);
    maker_make("release", STR(BASELINE "baseline: [\n"));
    cr_expect_eq(maker.evidence->state, EVIDENCE_INVALID);
    cr_expect_eq(maker.evidence->kind, EVIDENCE_BASELINE);
}

Test(evidence, what_is_revoked_is_absent_whether_it_reads_or_not)
{
    static const struct {
        struct str document;
        const char *by;
        enum evidence_state state;
    } rows[] = {
        {STR_INIT(BASELINE "baseline: {}\n"), "release", EVIDENCE_REVOKED},
        {STR_INIT(BASELINE "baseline: {}\nextra: 1\n"), "release", EVIDENCE_REVOKED},
        {STR_INIT(BASELINE "baseline: [\n"), "release", EVIDENCE_REVOKED},
        {STR_INIT(REQUIREMENTS SKILL OBSERVED "audiences: []\n"), "release", EVIDENCE_REVOKED},
        {STR_INIT(BASELINE "baseline: {}\n"), "x=release", EVIDENCE_INVALID},
        {STR_INIT(BASELINE "baseline: {}\n"), "", EVIDENCE_INVALID},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct str digest = {0};

        cr_assert_eq(digest_make_text(rows[i].document, &maker.arena, &digest), 0);
        maker.policy.revoked = (struct str_list){.items = &digest, .count = 1};
        maker_make(rows[i].by, rows[i].document);
        cr_expect_eq(maker.evidence->state, rows[i].state, "row %zu", i);
        cr_expect(str_equal(maker.evidence->digest, digest));
    }
}

Test(evidence, an_audience_must_be_ours)
{
    static const struct {
        const char *audiences;
        const char *ours;
        enum evidence_state state;
    } rows[] = {
        {"", "", EVIDENCE_VALID},
        {"", "prod", EVIDENCE_VALID},
        {"audiences: null\n", "", EVIDENCE_VALID},
        {"audiences: []\n", "", EVIDENCE_OTHER_AUDIENCE},
        {"audiences: []\n", "prod", EVIDENCE_OTHER_AUDIENCE},
        {"audiences: [prod]\n", "", EVIDENCE_OTHER_AUDIENCE},
        {"audiences: [test, prod]\n", "prod", EVIDENCE_VALID},
        {"audiences: [test]\n", "prod", EVIDENCE_OTHER_AUDIENCE},
        {"audiences: ['']\n", "", EVIDENCE_INVALID},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        maker.policy.audience = str_of(rows[i].ours);
        maker_make("release",
                   helper_text(&maker.arena, REQUIREMENTS SKILL OBSERVED "%s", rows[i].audiences));
        cr_expect_eq(maker.evidence->state, rows[i].state, "row %zu", i);
    }
}

Test(evidence, the_signers_of_a_document_are_kept)
{
    struct keyring *fewer = NULL;
    struct str reason = {0};
    struct evidence *distrusted = NULL;

    maker_make("release security", STR(BASELINE "baseline: {}\n"));
    cr_expect(evidence_signers_remain(maker.evidence, maker.ring));
    helper_remove(maker.path, "security.pem");
    cr_assert_eq(keyring_load(maker.path, &maker.arena, &fewer, &reason), 0);
    cr_expect_not(evidence_signers_remain(maker.evidence, fewer));
    cr_assert_eq(evidence_make_distrusted(maker.evidence, STR("why"), &distrusted), 0);
    cr_expect_eq(distrusted->state, EVIDENCE_INVALID);
    cr_expect_eq(distrusted->kind, EVIDENCE_BASELINE);
    cr_expect_str_eq(distrusted->reason.ptr, "why");
    cr_expect_null(distrusted->baseline);
    cr_expect_eq(distrusted->key_ids.count, 0);
    evidence_unref(distrusted);
    keyring_unref(fewer);
}

Test(evidence, equal_rules_have_equal_digests)
{
    const struct str names[] = {STR("a"), STR("b")};
    unsigned char first[DIGEST_BYTES], again[DIGEST_BYTES];
    struct policy other = maker.policy;

    cr_assert_eq(evidence_rules_digest(&maker.policy, first), 0);
    other.max_age_days = 1;
    cr_assert_eq(evidence_rules_digest(&other, again), 0);
    cr_expect_arr_eq(first, again, DIGEST_BYTES);
    for (int change = 0; change < 5; change++) {
        other = maker.policy;
        if (change == 0)
            other.audience = STR("x");
        else if (change == 1)
            other.revoked = (struct str_list){names, 2};
        else if (change == 2)
            other.signers[EVIDENCE_BASELINE].threshold = 2;
        else if (change == 3)
            other.signers[EVIDENCE_EXEMPTION].keys_named = true;
        else
            other.signers[EVIDENCE_EXEMPTION].keys = (struct str_list){names, 1};
        cr_assert_eq(evidence_rules_digest(&other, again), 0);
        cr_expect(memcmp(first, again, DIGEST_BYTES) != 0, "change %d", change);
    }
}

Test(evidence, memory_of_a_typical_document_is_bounded)
{
    struct keyring *world = helper_keyring(&maker.arena, "world/keyring");
    struct evidence_source source =
        helper_source(&maker.arena, helper_bytes(&maker.arena, TESTS_DIR
                                                 "/cases/world/evidence/acme-report-1.4.0.yaml"));
    struct evidence *made = NULL;

    cr_assert_eq(evidence_make(&source, world, &maker.policy, &made), 0);
    cr_expect_eq(made->state, EVIDENCE_VALID);
#ifndef __SANITIZE_ADDRESS__
    const struct arena memory = {.last = made->memory};

    cr_expect_leq(arena_used_bytes(&memory), 2300, "%zu bytes", arena_used_bytes(&memory));
#endif
    evidence_unref(made);
    keyring_unref(world);
}

Test(evidence, every_failing_allocation_is_an_error)
{
    static const struct str documents[] = {
        STR_INIT(REQUIREMENTS "workload: {image_digest: " DIGEST_A ", class: c}\n"
                              "requirements: {observed_at: 2026-02-28T12:00:00Z, "
                              "writable_paths: [a, b]}\n"
                              "images: [" DIGEST_B "]\nnamespaces: [payments]\naudiences: [x]\n"),
        STR_INIT(BASELINE "baseline: {network_allowed: false}\nextra: 1\n"),
        STR_INIT(EXEMPTION MATCH "reason: x\nfindings: [a]\n" UNTIL),
        STR_INIT("kind: [\nkind: SandboxBaseline\n"),
    };

    for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
        const struct evidence_source source = {
            .namespace_name = STR("payments"),
            .name = STR("doc"),
            .annotations = maker_sign(i == 3 ? "x=release" : "release", documents[i]),
            .document = documents[i],
        };
        unsigned n = 1;

        for (;; n++) {
            struct evidence *made = NULL;
            int r = 0;

            failing_alloc_arm(n);
            r = evidence_make(&source, maker.ring, &maker.policy, &made);
            if (!failing_alloc_failed()) {
                cr_expect_eq(r, 0);
                evidence_unref(made);
                break;
            }
            cr_expect_eq(r, -ENOMEM, "document %zu, allocation %u", i, n);
            cr_expect_null(made);
        }
        cr_expect_gt(n, 2);
    }
}
