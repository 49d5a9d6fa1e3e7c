/* SPDX-License-Identifier: Apache-2.0 */
/* test_signature - keys and signatures of gate-v1, section 4, as OpenSSL writes them
 * (signatures/make), and base64. */
#include <criterion/criterion.h>
#include <errno.h>

#include "k8s/keyring/pem.h"
#include "k8s/keyring/signature.h"
#include "k8s/util/base64.h"
#include "tests/k8s/evidence_helper.h"

static struct arena arena;

static void done(void)
{
    arena_release(&arena);
}

TestSuite(base64, .fini = done);
TestSuite(signature, .fini = done);

static struct str file_of(const char *name)
{
    return helper_bytes(&arena, helper_text(&arena, "%s/k8s/signatures/%s", TESTS_DIR, name).ptr);
}

static struct str signature_of(const char *name)
{
    unsigned char *bytes = arena_alloc(&arena, SIGNATURE_MAX_BYTES, 1);
    size_t len = 0;

    cr_assert_not_null(bytes);
    cr_assert_eq(base64_decode(file_of(name), SIGNATURE_MAX_BYTES, bytes, &len), 0);
    return (struct str){(const char *)bytes, len};
}

static int read_key(const char *name, struct signature_key **ret_key, const char **reterr_what)
{
    struct pem_scan scan = pem_scan_make(file_of(name));
    struct pem_item block = {0};
    unsigned char der[4096];
    size_t len = 0;

    cr_assert_eq(pem_next(&scan, &block), PEM_BLOCK, "%s", name);
    cr_assert_eq(base64_decode(block.body, sizeof(der), der, &len), 0);
    return signature_key_read((struct str){(const char *)der, len}, ret_key, reterr_what);
}

static bool verifies(const char *key_name, struct str document, struct str signature)
{
    struct signature_key *key = NULL;
    const char *what = NULL;
    bool good = false;

    cr_assert_eq(read_key(key_name, &key, &what), 0, "%s: %s", key_name, what);
    cr_assert_eq(signature_verify(key, document, signature, &good), 0);
    signature_key_free(key);
    return good;
}

Test(signature, signatures_of_openssl_verify_as_the_contract_requires)
{
    static const struct {
        const char *signature;
        const char *key;
        bool good;
    } rows[] = {
        {"ed25519.sig", "ed25519.pem", true},
        {"p256.sig", "p256.pem", true},
        {"p384.sig", "p384.pem", true},
        {"p256.sig", "p384.pem", false},
        {"rsa-pkcs1.sig", "rsa.pem", true},
        {"rsa3072-pkcs1.sig", "rsa3072.pem", true},
        {"rsa-pkcs1.sig", "rsa3072.pem", false},
        {"rsa-pkcs1.sig", "rsa-exponent-256-bits.pem", false}, /* the longest: it reads */
        {"rsa-pss.sig", "rsa.pem", true},
        {"rsapss-salt32.sig", "rsapss-salt32.pem", true},
        {"rsapss-salt20.sig", "rsapss-salt20.pem", true}, /* 20 is the least salt of the key */
        {"rsapss-salt20-short.sig", "rsapss-salt20.pem", false},
        {"rsapss.sig", "rsapss.pem", true},
        {"rsapss.sig", "rsapss-as-rsa.pem", true},
        {"rsa-pss.sig", "rsapss.pem", false},
        {"rsa-pss-salt20.sig", "rsa.pem", false},
        {"rsa-pss-salt0.sig", "rsa.pem", false},
        {"rsa-pss-mgf1-sha1.sig", "rsa.pem", false},
        {"rsa-pss-sha512.sig", "rsa.pem", false},
        {"rsa-sha1.sig", "rsa.pem", false},
        {"rsa-sha512.sig", "rsa.pem", false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct str signature = signature_of(rows[i].signature);

        cr_expect_eq(verifies(rows[i].key, file_of("document"), signature), rows[i].good,
                     "%s by %s", rows[i].signature, rows[i].key);
        cr_expect_not(verifies(rows[i].key, STR("kind: SandboxBaseline"), signature),
                      "%s: another document", rows[i].signature);
    }
}

Test(signature, a_signature_has_one_length)
{
    static const char *const names[][2] = {{"ed25519.sig", "ed25519.pem"},
                                           {"p256.sig", "p256.pem"},
                                           {"rsa-pkcs1.sig", "rsa.pem"},
                                           {"rsa-pss.sig", "rsa.pem"}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct str good = signature_of(names[i][0]);
        struct str longer = helper_text(&arena, "%*s", (int)good.len + 1, "");
        char *bytes = arena_copy(&arena, longer);

        cr_assert_not_null(bytes);
        memcpy(bytes, good.ptr, good.len);
        cr_expect_not(verifies(names[i][1], file_of("document"), (struct str){bytes, longer.len}));
        bytes[0] = '\0';
        memcpy(bytes + 1, good.ptr, good.len);
        cr_expect_not(verifies(names[i][1], file_of("document"), (struct str){bytes, longer.len}));
        cr_expect_not(
            verifies(names[i][1], file_of("document"), (struct str){good.ptr, good.len - 1}));
        cr_expect_not(verifies(names[i][1], file_of("document"), STR("")));
    }
}

Test(signature, other_kinds_of_keys_are_rejected_with_a_reason)
{
    static const char *const names[][2] = {
        {"rsa2047.pem", "an RSA key under 2048 bits; create a longer key"},
        {"rsapss-salt48.pem", "an RSA-PSS key that is restricted to another hash than SHA-256 or "
                              "to a salt over 32 bytes; "
                              "create a key without restrictions"},
        {"rsapss-sha512.pem", "an RSA-PSS key that is restricted to another hash than SHA-256 or "
                              "to a salt over 32 bytes; "
                              "create a key without restrictions"},
        {"p224.pem", "a key on an unsupported curve; use Ed25519, P-256 or P-384"},
        {"p521.pem", "a key on an unsupported curve; use Ed25519, P-256 or P-384"},
        {"secp256k1.pem", "the public key cannot be read; export the key again"},
        {"ed448.pem", "an unsupported kind of key; use Ed25519, ECDSA P-256 or P-384, or RSA"},
        {"x25519.pem", "an unsupported kind of key; use Ed25519, ECDSA P-256 or P-384, or RSA"},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct signature_key *key = NULL;
        const char *what = "";

        cr_expect_eq(read_key(names[i][0], &key, &what), -EBADMSG, "%s", names[i][0]);
        cr_expect_str_eq(what, names[i][1], "%s: %s", names[i][0], what);
        cr_expect_null(key);
    }
}

/* Whoever knows the key can make signatures that such a key verifies. */
Test(signature, keys_that_anybody_can_sign_for_are_rejected)
{
    static const char *const names[] = {"rsa-exponent-1.pem", "rsa-exponent-2.pem",
                                        "rsa-exponent-65536.pem", "rsa-exponent-large.pem"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct signature_key *key = NULL;
        const char *what = "";

        cr_expect_eq(read_key(names[i], &key, &what), -EBADMSG, "%s", names[i]);
        cr_expect_str_eq(what,
                         "an RSA key whose exponent is even, below 3 or over 256 bits, for which "
                         "anybody can sign; create a new key");
        cr_expect_null(key);
    }
}

/* The points whose order divides 8, in every encoding that a reader could accept: y, and y + p
 * where it is below 2^255; each with both signs of x. */
Test(signature, ed25519_points_of_small_order_are_rejected)
{
    static const unsigned char prefix[] = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03,
                                           0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};
    static const char *const points[] = {
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    };

    for (size_t i = 0; i < 2 * sizeof(points) / sizeof(points[0]); i++) {
        unsigned char der[44];
        struct signature_key *key = NULL;
        const char *what = "", *hex = points[i / 2];

        memcpy(der, prefix, sizeof(prefix));
        for (size_t at = 0; at < 32; at++)
            der[12 + at] =
                (unsigned char)(text_hex_value(hex[2 * at]) << 4 | text_hex_value(hex[2 * at + 1]));
        der[43] |= i % 2 == 0 ? 0 : 0x80;
        cr_expect_eq(signature_key_read((struct str){(const char *)der, sizeof(der)}, &key, &what),
                     -EBADMSG, "%s, sign %zu", hex, i % 2);
        cr_expect_str_eq(what,
                         "an Ed25519 key of small order, for which anybody can sign; create a "
                         "new key");
        signature_key_free(key);
    }
}

Test(signature, bytes_after_a_key_are_rejected)
{
    struct pem_scan scan = pem_scan_make(file_of("p256.pem"));
    struct pem_item block = {0};
    unsigned char der[4096] = {0};
    size_t len = 0;
    struct signature_key *key = NULL;
    const char *what = NULL;

    cr_assert_eq(pem_next(&scan, &block), PEM_BLOCK);
    cr_assert_eq(base64_decode(block.body, sizeof(der), der, &len), 0);
    for (size_t cut = 0; cut <= len + 1; cut++) {
        if (cut != len)
            cr_expect_eq(signature_key_read((struct str){(const char *)der, cut}, &key, &what),
                         -EBADMSG, "%zu of %zu bytes", cut, len);
    }
}

Test(signature, keys_are_compared_by_value)
{
    static const char *const names[] = {"rsa.pem", "rsapss.pem", "rsapss-as-rsa.pem", "p256.pem",
                                        "ed25519.pem"};
    unsigned char identities[5][SIGNATURE_IDENTITY_BYTES];

    for (size_t i = 0; i < 5; i++) {
        struct signature_key *key = NULL;
        const char *what = NULL;

        cr_assert_eq(read_key(names[i], &key, &what), 0);
        memcpy(identities[i], signature_key_identity(key), sizeof(identities[i]));
        signature_key_free(key);
        for (size_t j = 0; j < i; j++)
            cr_expect_eq(memcmp(identities[i], identities[j], sizeof(identities[i])) == 0,
                         i == 2 && j == 1, "%s and %s", names[i], names[j]);
    }
}

Test(base64, each_byte_string_has_one_valid_text)
{
    static const struct {
        struct str text;
        int r;
        struct str bytes;
    } rows[] = {
        {STR_INIT(""), 0, STR_INIT("")},
        {STR_INIT("Zg=="), 0, STR_INIT("f")},
        {STR_INIT("Zm8="), 0, STR_INIT("fo")},
        {STR_INIT("Zm9v"), 0, STR_INIT("foo")},
        {STR_INIT("Zm9vYg=="), 0, STR_INIT("foob")},
        {STR_INIT("+/+/"), 0, STR_INIT("\xfb\xff\xbf")},
        {STR_INIT(" Z m\t9\nv\r\n\v\f"), 0, STR_INIT("foo")},
        {STR_INIT("Zg=\n=\n"), 0, STR_INIT("f")},
        {STR_INIT("-_-_"), -EBADMSG, STR_INIT("")},
        {STR_INIT("Zg"), -EBADMSG, STR_INIT("")},
        {STR_INIT("Zg="), -EBADMSG, STR_INIT("")},
        {STR_INIT("Z"), -EBADMSG, STR_INIT("")},
        {STR_INIT("Z==="), -EBADMSG, STR_INIT("")},
        {STR_INIT("===="), -EBADMSG, STR_INIT("")},
        {STR_INIT("="), -EBADMSG, STR_INIT("")},
        {STR_INIT("Zm9v="), -EBADMSG, STR_INIT("")},
        {STR_INIT("Zm9v===="), -EBADMSG, STR_INIT("")},
        {STR_INIT("Zg==Zg=="), -EBADMSG, STR_INIT("")},
        {STR_INIT("Zg==Z"), -EBADMSG, STR_INIT("")},
        {STR_INIT("Zg=a"), -EBADMSG, STR_INIT("")},
        {STR_INIT("Zh=="), -EBADMSG, STR_INIT("")},
        {STR_INIT("Zm9="), -EBADMSG, STR_INIT("")},
        {STR_INIT("Zm9v\0"), -EBADMSG, STR_INIT("")},
        {STR_INIT("Zm\xc2\xa0"
                  "9v"),
         -EBADMSG, STR_INIT("")},
        {STR_INIT("\xef\xbb\xbfZm9v"), -EBADMSG, STR_INIT("")},
        {STR_INIT("Zm9vYmFyYg=="), -E2BIG, STR_INIT("")},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        unsigned char bytes[6] = {0};
        size_t len = 0;

        cr_expect_eq(base64_decode(rows[i].text, sizeof(bytes), bytes, &len), rows[i].r, "row %zu",
                     i);
        cr_expect(str_equal((struct str){(const char *)bytes, len}, rows[i].bytes), "row %zu", i);
    }
}

Test(base64, written_text_is_read_again)
{
    unsigned char given[64];
    unsigned char read[64];

    for (size_t len = 0; len < sizeof(given); len++) {
        struct str text = {0};
        size_t read_len = 0;

        for (size_t i = 0; i < len; i++)
            given[i] = (unsigned char)(i * 37 + len);
        cr_assert_eq(base64_encode((struct str){(const char *)given, len}, &arena, &text), 0);
        cr_assert_eq(text.len, (len + 2) / 3 * 4);
        cr_assert_eq(base64_decode(text, sizeof(read), read, &read_len), 0);
        cr_assert_eq(read_len, len);
        cr_assert_arr_eq(read, given, len);
    }
}
