/* SPDX-License-Identifier: Apache-2.0 */
/* test_certificate - certificates and bundles that the gate makes and reads. */
#include <criterion/criterion.h>
#include <errno.h>

#include "webhook/tls/certificate.h"

#define NOW INT64_C(1767225600) /* 2026-01-01 */
#define DAY INT64_C(86400)

static const struct str gate = STR_INIT("gate.example.svc");
static const struct str_list names = {.items = &gate, .count = 1};

static struct certificate read_one(struct str pem, struct arena *arena)
{
    struct certificate_bundle bundle = {0};

    cr_assert_eq(certificate_read_bundle(pem, arena, &bundle), 0);
    cr_assert_eq(bundle.count, 1);
    cr_assert(!bundle.flawed);
    return bundle.items[0];
}

Test(certificate, a_new_certificate_is_read_again)
{
    struct arena cleanup_arena arena = {0};
    struct certificate_pair ca = {0}, serving = {0};
    struct certificate read = {0};

    cr_assert_eq(certificate_make_ca(NOW, 3650, &arena, &ca), 0);
    cr_assert_eq(certificate_make_serving(&ca, &names, NOW, 90, &arena, &serving), 0);
    read = read_one(ca.certificate, &arena);
    cr_assert_eq(read.from_sec, NOW - 300);
    cr_assert_eq(read.to_sec, NOW + 3650 * DAY);
    cr_assert(read.is_ca);
    read = read_one(serving.certificate, &arena);
    cr_assert_eq(read.from_sec, NOW - 300);
    cr_assert_eq(read.to_sec, NOW + 90 * DAY);
    cr_assert(!read.is_ca);
    cr_assert_eq(read.names.count, 1);
    cr_assert(str_equal(read.names.items[0], gate));
    cr_assert(certificate_has_key(ca.certificate, ca.key));
    cr_assert(certificate_has_key(serving.certificate, serving.key));
    cr_assert(!certificate_has_key(serving.certificate, ca.key));
    cr_assert(!certificate_has_key(serving.certificate, STR("")));
    cr_assert(certificate_is_signed(serving.certificate, ca.certificate));
    cr_assert(!certificate_is_signed(serving.certificate, serving.certificate));
}

Test(certificate, is_signed_only_by_its_own_ca)
{
    struct arena cleanup_arena arena = {0};
    struct certificate_pair ca = {0}, other = {0}, serving = {0};

    cr_assert_eq(certificate_make_ca(NOW, 30, &arena, &ca), 0);
    cr_assert_eq(certificate_make_ca(NOW, 30, &arena, &other), 0);
    cr_assert_eq(certificate_make_serving(&ca, &names, NOW, 9, &arena, &serving), 0);
    cr_assert(!certificate_is_signed(serving.certificate, other.certificate));
    other.certificate = ca.certificate;
    cr_assert_eq(certificate_make_serving(&other, &names, NOW, 9, &arena, &serving), -EBADMSG);
    other = serving;
    cr_assert_eq(certificate_make_serving(&other, &names, NOW, 9, &arena, &ca), -EBADMSG);
}

Test(certificate, does_not_outlive_its_ca)
{
    struct arena cleanup_arena arena = {0};
    struct certificate_pair ca = {0}, serving = {0};
    struct certificate read = {0};

    cr_assert_eq(certificate_make_ca(NOW, 30, &arena, &ca), 0);
    cr_assert_eq(certificate_make_serving(&ca, &names, NOW + 25 * DAY, 9, &arena, &serving), 0);
    read = read_one(serving.certificate, &arena);
    cr_assert_eq(read.from_sec, NOW + 25 * DAY - 300);
    cr_assert_eq(read.to_sec, NOW + 30 * DAY);
    cr_assert_eq(certificate_make_serving(&ca, &names, NOW - 60, 9, &arena, &serving), 0);
    cr_assert_eq(read_one(serving.certificate, &arena).from_sec, NOW - 300);
}

Test(certificate, a_lifetime_of_a_century_is_possible)
{
    struct arena cleanup_arena arena = {0};
    struct certificate_pair ca = {0};

    cr_assert_eq(certificate_make_ca(NOW, 36500, &arena, &ca), 0);
    cr_assert_eq(read_one(ca.certificate, &arena).to_sec, NOW + 36500 * DAY);
}

Test(certificate, a_bundle_skips_texts_that_are_not_certificates)
{
    struct arena cleanup_arena arena = {0};
    struct certificate_pair a = {0}, b = {0};
    struct certificate_bundle bundle = {0};
    struct str text = {0};

    cr_assert_eq(certificate_make_ca(NOW, 30, &arena, &a), 0);
    cr_assert_eq(certificate_make_ca(NOW, 30, &arena, &b), 0);
    text = arena_format(&arena,
                        "# ours\n%.*s-----BEGIN CERTIFICATE-----\nbm8=\n-----END "
                        "CERTIFICATE-----\n%.*s%.*s-----BEGIN CERTIFICATE-----\n",
                        (int)a.certificate.len, a.certificate.ptr, (int)b.certificate.len,
                        b.certificate.ptr, (int)a.certificate.len, a.certificate.ptr);
    cr_assert_eq(certificate_read_bundle(text, &arena, &bundle), 0);
    cr_assert_eq(bundle.count, 2);
    cr_assert(bundle.flawed);
    cr_assert(certificate_is_signed(bundle.items[0].pem, a.certificate));
    cr_assert(certificate_is_signed(bundle.items[1].pem, b.certificate));
    cr_assert_eq(certificate_read_bundle(STR(""), &arena, &bundle), 0);
    cr_assert_eq(bundle.count, 0);
    cr_assert(bundle.flawed);
}

Test(certificate, a_bundle_is_limited)
{
    struct arena cleanup_arena arena = {0};
    struct certificate_bundle bundle = {0};
    struct str text = STR("");

    for (size_t i = 0; i < CERTIFICATE_MAX_BUNDLE + 1; i++) {
        struct certificate_pair ca = {0};

        cr_assert_eq(certificate_make_ca(NOW, 30, &arena, &ca), 0);
        text = arena_format(&arena, "%.*s%.*s", (int)text.len, text.ptr, (int)ca.certificate.len,
                            ca.certificate.ptr);
    }
    cr_assert_eq(certificate_read_bundle(text, &arena, &bundle), 0);
    cr_assert_eq(bundle.count, CERTIFICATE_MAX_BUNDLE);
    cr_assert(bundle.flawed);
}
