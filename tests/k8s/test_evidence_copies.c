/* SPDX-License-Identifier: Apache-2.0 */
/* test_evidence_copies - objects with the bytes of a document that was read before. */
#include <criterion/criterion.h>
#include <errno.h>

#include "planner/base/buffer.h"
#include "tests/k8s/evidence_maker.h"
#include "tests/k8s/failing.h"

#define RECORD_MAX_BYTES 1024

static struct evidence *first;
static unsigned asked;

static const struct evidence *find(void *context, struct str digest)
{
    const struct evidence *known = *(struct evidence *const *)context;

    asked++;
    return known != NULL && str_equal(known->digest, digest) ? known : NULL;
}

static const struct evidence_known known = {.find = find, .context = &first};

static void done(void)
{
    evidence_unref(first);
    maker_done();
}

TestSuite(evidence_copies, .init = maker_begin, .fini = done);

static void make_first(const char *by, struct str document)
{
    maker_make(by, document);
    evidence_unref(first);
    first = maker.evidence;
    maker.evidence = NULL;
}

static void make_copy(const char *by, struct str document)
{
    const struct evidence_source source = {
        .namespace_name = STR("other"),
        .name = STR("copy"),
        .annotations = maker_sign(by, document),
        .document = document,
        .known = &known,
    };

    maker_make_source(&source);
}

/* A valid document with that many paths. */
static struct str baseline_of(int paths)
{
    struct buffer b = buffer_make(&maker.arena, EVIDENCE_MAX_DOCUMENT_BYTES);

    buffer_add(&b, STR(BASELINE "baseline: {allowed_writable_paths: [tmp"));
    for (int i = 1; i < paths; i++)
        buffer_add_format(&b, ", %0640d/x", i);
    buffer_add(&b, STR("]}\n"));
    cr_assert_eq(b.error, 0);
    return buffer_text(&b);
}

static size_t kept_bytes(const struct evidence *evidence)
{
    const struct arena arena = {.last = evidence->memory};

    return arena_used_bytes(&arena);
}

Test(evidence_copies, what_is_kept_of_a_copy_does_not_grow_with_the_document)
{
    static const int paths[] = {1, 100};
    size_t used[2] = {0};

    for (size_t i = 0; i < 2; i++) {
        struct str document = baseline_of(paths[i]);

        make_first("release", document);
        make_copy("release", document);
        cr_assert_eq(maker.evidence->state, EVIDENCE_VALID);
        cr_expect_eq(maker.evidence->baseline, first->baseline, "the tree is shared");
        used[i] = kept_bytes(maker.evidence);
    }
    cr_expect_gt(kept_bytes(first), 60 * 1024);
    cr_expect_leq(used[0], RECORD_MAX_BYTES, "%zu", used[0]);
    cr_expect_eq(used[0], used[1]);
    cr_expect_eq(asked, 2);
}

Test(evidence_copies, names_and_signers_are_its_own)
{
    struct str document = STR(REQUIREMENTS SKILL OBSERVED);

    make_first("release security", document);
    make_copy("security x=release", document);
    cr_expect_str_eq(maker.evidence->name.ptr, "copy");
    cr_expect_str_eq(maker.evidence->namespace_name.ptr, "other");
    cr_expect_str_eq(maker_words(maker.evidence->key_ids), "security");
    cr_expect_eq(maker.evidence->state, EVIDENCE_VALID);
    cr_expect(str_equal(maker.evidence->digest, first->digest));
    /* and it outlives the one that was read */
    evidence_unref(first);
    first = NULL;
    cr_expect_str_eq(maker.evidence->skill_ref.ptr, "acme/report@1.4.0");
}

Test(evidence_copies, a_copy_of_a_copy_refers_to_the_one_that_was_read)
{
    struct str document = STR(REQUIREMENTS SKILL OBSERVED);
    struct evidence *read = NULL;

    make_first("release", document);
    make_copy("release", document);
    read = first;
    first = maker.evidence;
    maker.evidence = NULL;
    make_copy("release", document);
    cr_expect_eq(maker.evidence->owner, read);
    evidence_unref(read);
}

Test(evidence_copies, each_is_verified_alone)
{
    struct str document = STR(BASELINE "baseline: {}\n");

    maker.policy.signers[EVIDENCE_BASELINE].threshold = 2;
    make_first("release security", document);
    cr_assert_eq(first->state, EVIDENCE_VALID);
    make_copy("release", document);
    cr_expect_eq(maker.evidence->state, EVIDENCE_INVALID);
    cr_expect_eq(maker.evidence->kind, EVIDENCE_BASELINE, "it blocks");
    cr_expect_null(maker.evidence->baseline);
    cr_expect_str_eq(maker.evidence->reason.ptr,
                     "1 of 2 required keys: signature release verifies");
    make_copy("", document);
    cr_expect_eq(maker.evidence->state, EVIDENCE_INVALID);
    cr_expect_str_eq(maker.evidence->reason.ptr, "it has no signature");
}

Test(evidence_copies, the_policy_of_the_moment_decides)
{
    struct str document = STR(REQUIREMENTS SKILL OBSERVED "audiences: [prod]\n");
    struct str revoked[] = {{0}};

    make_first("release", document);
    cr_assert_eq(first->state, EVIDENCE_OTHER_AUDIENCE);
    maker.policy.audience = STR("prod");
    make_copy("release", document);
    cr_expect_eq(maker.evidence->state, EVIDENCE_VALID);
    cr_expect_not(str_present(maker.evidence->reason));
    cr_expect_eq(maker.evidence->requirements, first->requirements);
    maker.policy.audience = STR("test");
    make_copy("release", document);
    cr_expect_eq(maker.evidence->state, EVIDENCE_OTHER_AUDIENCE);
    revoked[0] = first->digest;
    maker.policy.revoked = (struct str_list){.items = revoked, .count = 1};
    make_copy("release", document);
    cr_expect_eq(maker.evidence->state, EVIDENCE_REVOKED);
    cr_expect_str_eq(maker.evidence->reason.ptr, "its digest is revoked");
}

Test(evidence_copies, every_failing_allocation_is_an_error)
{
    struct str document = STR(REQUIREMENTS SKILL OBSERVED);
    const struct evidence_source source = {
        .namespace_name = STR("other"),
        .name = STR("copy"),
        .annotations = maker_sign("release", document),
        .document = document,
        .known = &known,
    };
    unsigned n = 1;

    make_first("release", document);
    for (;; n++) {
        struct evidence *evidence = NULL;
        int r = 0;

        failing_alloc_arm(n);
        r = evidence_make(&source, maker.ring, &maker.policy, &evidence);
        if (!failing_alloc_failed()) {
            cr_expect_eq(r, 0);
            evidence_unref(evidence);
            break;
        }
        cr_assert(r == -ENOMEM || r == -EIO, "allocation %u: %d", n, r);
        cr_assert_null(evidence);
        cr_assert_eq(first->count.count, 1);
    }
    cr_expect_gt(n, 3);
    cr_expect_eq(first->count.count, 1);
}
