/* SPDX-License-Identifier: Apache-2.0 */
/* test_evidence_withdraw - evidence that becomes invalid at once by new keys or rules, before it
 * can be read again. */
#include <criterion/criterion.h>
#include <errno.h>

#include "tests/k8s/evidence_maker.h"
#include "tests/k8s/failing.h"

TestSuite(evidence_withdraw, .init = maker_begin, .fini = maker_done);

static const struct str requirements = STR_INIT(REQUIREMENTS SKILL OBSERVED);
static const struct str baseline = STR_INIT(BASELINE "baseline: {network_allowed: false}\n");

/* A keyring of the keys that are left in the directory. */
static struct keyring *without(const char *name)
{
    struct keyring *fewer = NULL;
    struct str reason = {0};

    helper_remove(maker.path, name);
    cr_assert_eq(keyring_load(maker.path, &maker.arena, &fewer, &reason), 0, "%s", reason.ptr);
    return fewer;
}

static struct evidence *withdraw(const struct keyring *keyring, const struct policy *policy)
{
    struct evidence *record = NULL;

    cr_assert_eq(evidence_withdraw(maker.evidence, keyring, policy, &record), 0);
    return record;
}

Test(evidence_withdraw, evidence_with_enough_signers_stays_valid)
{
    struct keyring *fewer = NULL;

    maker_make("release security", requirements);
    cr_expect_null(withdraw(maker.ring, &maker.policy));
    fewer = without("security.pem");
    cr_expect_null(withdraw(fewer, &maker.policy)); /* the other signer is sufficient */
    keyring_unref(fewer);
}

Test(evidence_withdraw, evidence_with_too_few_signers_becomes_invalid)
{
    struct policy two = maker.policy;
    struct keyring *fewer = NULL;
    struct evidence *record = NULL;

    maker_make("release security", baseline);
    two.signers[EVIDENCE_BASELINE].threshold = 2;
    cr_expect_null(withdraw(maker.ring, &two));
    fewer = without("security.pem");
    record = withdraw(fewer, &two);
    cr_assert_not_null(record);
    cr_expect_eq(record->state, EVIDENCE_INVALID);
    cr_expect_eq(record->kind, EVIDENCE_BASELINE); /* so that the baseline blocks */
    cr_expect_str_eq(record->reason.ptr,
                     "keys or rules changed, and too few of its signers are left");
    cr_expect(str_equal(record->digest, maker.evidence->digest));
    evidence_unref(record);
    keyring_unref(fewer);
}

Test(evidence_withdraw, evidence_becomes_invalid_if_its_signer_loses_the_kind)
{
    static const struct str ids[] = {STR_INIT("security")};
    struct policy named = maker.policy;
    struct evidence *record = NULL;

    maker_make("release", requirements);
    named.signers[EVIDENCE_REQUIREMENTS].keys_named = true;
    named.signers[EVIDENCE_REQUIREMENTS].keys = (struct str_list){ids, 1};
    record = withdraw(maker.ring, &named);
    cr_assert_not_null(record);
    cr_expect_eq(record->state, EVIDENCE_INVALID);
    evidence_unref(record);
}

Test(evidence_withdraw, a_revoked_document_is_absent_not_invalid)
{
    struct policy revoking = maker.policy;
    struct str digest = {0};
    struct evidence *record = NULL;

    maker_make("release", baseline);
    digest = maker.evidence->digest;
    revoking.revoked = (struct str_list){&digest, 1};
    record = withdraw(maker.ring, &revoking);
    cr_assert_not_null(record);
    cr_expect_eq(record->state, EVIDENCE_REVOKED);
    cr_expect_str_eq(record->reason.ptr, "its digest is revoked");
    evidence_unref(record);
}

Test(evidence_withdraw, only_valid_evidence_can_be_withdrawn)
{
    struct policy two = maker.policy;

    two.signers[EVIDENCE_REQUIREMENTS].threshold = 2;
    maker_make("x=release", requirements);
    cr_expect_eq(maker.evidence->state, EVIDENCE_INVALID);
    cr_expect_null(withdraw(maker.ring, &two));
}

Test(evidence_withdraw, every_failing_allocation_is_an_error)
{
    struct policy two = maker.policy;
    bool failed = true;

    maker_make("release", requirements);
    two.signers[EVIDENCE_REQUIREMENTS].threshold = 2;
    for (unsigned nth = 1; failed; nth++) {
        struct evidence *record = NULL;
        int r = 0;

        failing_alloc_arm(nth);
        r = evidence_withdraw(maker.evidence, maker.ring, &two, &record);
        failed = failing_alloc_failed();
        cr_assert_eq(r, failed ? -ENOMEM : 0);
        cr_expect_eq(record == NULL, failed);
        evidence_unref(record);
        cr_assert_lt(nth, 100);
    }
}

/* Takes the evidence of the last document from the maker. */
static struct evidence *take(void)
{
    struct evidence *evidence = maker.evidence;

    maker.evidence = NULL;
    return evidence;
}

Test(evidence_withdraw, equal_records_are_recognised)
{
    struct evidence *first = NULL;

    maker_make("release", requirements);
    first = take();
    maker_make("release", requirements);
    cr_expect(evidence_same(first, maker.evidence));
    maker_make("release security", requirements);
    cr_expect_not(evidence_same(first, maker.evidence));
    maker_make("release-copy", requirements);
    cr_expect_not(evidence_same(first, maker.evidence));
    maker_make("x=release", requirements);
    cr_expect_not(evidence_same(first, maker.evidence));
    maker_make("release", baseline);
    cr_expect_not(evidence_same(first, maker.evidence));
    evidence_unref(first);
}
