/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signature - reads a public key and verifies signatures with it, by GnuTLS.
 *
 * Stricter than GnuTLS where one signature could be written in several ways: see is_strict_der().
 */
#include "k8s/keyring/signature.h"

#include <errno.h>
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>

#include "k8s/util/digest.h"
#include "k8s/util/gnutls_handles.h"

_Static_assert(SIGNATURE_IDENTITY_BYTES == DIGEST_BYTES, "an identity is a digest");

#define ED25519_SIGNATURE_BYTES 64
#define ED25519_POINT_BYTES 32
#define ED25519_SIGN_BIT 0x80 /* of x, in the last byte of a point */
#define RSA_MIN_EXPONENT 3
#define RSA_MAX_EXPONENT_BYTES 32 /* FIPS 186: below 2^256 */

enum key_kind {
    KEY_NONE = 0,
    KEY_ED25519,
    KEY_P256,
    KEY_P384,
    KEY_RSA,
    KEY_RSA_PSS,
};

struct signature_key {
    enum key_kind kind;
    gnutls_pubkey_t pubkey; /* owned */
    size_t modulus_bytes;   /* RSA: a signature is as long */
    unsigned char identity[SIGNATURE_IDENTITY_BYTES];
};

static void free_key(struct signature_key **key)
{
    signature_key_free(*key);
}

#define cleanup_key __attribute__((cleanup(free_key)))

/* Hashes each part after its length, so that no two keys give the same bytes. */
static int make_identity(const char *kind, const gnutls_datum_t *a, const gnutls_datum_t *b,
                         unsigned char ret_identity[static SIGNATURE_IDENTITY_BYTES])
{
    const gnutls_datum_t parts[] = {datum_of(str_of(kind)), *a, *b};
    gnutls_hash_hd_t hash = NULL;
    int r = gnutls_hash_init(&hash, GNUTLS_DIG_SHA256);

    if (r < 0)
        return -EIO;
    for (size_t i = 0; r >= 0 && i < sizeof(parts) / sizeof(parts[0]); i++) {
        const unsigned char size[] = {(unsigned char)(parts[i].size >> 24 & 0xff),
                                      (unsigned char)(parts[i].size >> 16 & 0xff),
                                      (unsigned char)(parts[i].size >> 8 & 0xff),
                                      (unsigned char)(parts[i].size & 0xff)};

        r = gnutls_hash(hash, size, sizeof(size));
        if (r >= 0 && parts[i].size > 0)
            r = gnutls_hash(hash, parts[i].data, parts[i].size);
    }
    gnutls_hash_deinit(hash, ret_identity);
    return r < 0 ? -EIO : 0;
}

/* An RSA-PSS key can be restricted to a hash and a salt length: they must be those of section 4. */
static bool are_pss_limits_supported(gnutls_pubkey_t pubkey)
{
    gnutls_x509_spki_t spki = NULL;
    gnutls_digest_algorithm_t hash = GNUTLS_DIG_UNKNOWN;
    unsigned salt_bytes = 0;
    bool supported = false;
    int r = 0;

    if (gnutls_x509_spki_init(&spki) < 0)
        return false;
    r = gnutls_pubkey_get_spki(pubkey, spki, 0);
    if (r >= 0)
        r = gnutls_x509_spki_get_rsa_pss_params(spki, &hash, &salt_bytes);
    /* a key without restrictions has no parameters; a smaller least salt permits 32 bytes */
    supported = r == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE ||
                (r >= 0 && hash == GNUTLS_DIG_SHA256 && salt_bytes <= SIGNATURE_PSS_SALT_BYTES);
    gnutls_x509_spki_deinit(spki);
    return supported;
}

/* With such an exponent anybody can make a signature that verifies, or could: a very large one can
 * be chosen so that it has no effect, and so that one private key has several. The number has no
 * leading zeros. */
static bool is_weak_exponent(const gnutls_datum_t *exponent)
{
    unsigned char last = exponent->size > 0 ? exponent->data[exponent->size - 1] : 0;

    return last % 2 == 0 || (exponent->size == 1 && last < RSA_MIN_EXPONENT) ||
           exponent->size > RSA_MAX_EXPONENT_BYTES;
}

/*
 * Makes a key of type RSA-PSS one of type RSA with the same numbers. GnuTLS takes the least salt
 * that an RSA-PSS key names as the only one, but section 4 wants 32 bytes from every key.
 */
static int forget_pss_limits(struct signature_key *key, const gnutls_datum_t *modulus,
                             const gnutls_datum_t *exponent)
{
    cleanup_public_key gnutls_pubkey_t plain = NULL;
    gnutls_pubkey_t before = key->pubkey;

    if (gnutls_pubkey_init(&plain) < 0 ||
        gnutls_pubkey_import_rsa_raw(plain, modulus, exponent) < 0)
        return -EIO;
    key->pubkey = plain;
    plain = before; /* freed here */
    return 0;
}

static int read_rsa(struct signature_key *key, bool pss, unsigned bits, const char **reterr_what)
{
    cleanup_datum gnutls_datum_t modulus = {0};
    cleanup_datum gnutls_datum_t exponent = {0};

    if (bits < SIGNATURE_MIN_RSA_BITS) {
        *reterr_what = "an RSA key under 2048 bits; create a longer key";
        return -EBADMSG;
    }
    if (pss && !are_pss_limits_supported(key->pubkey)) {
        *reterr_what = "an RSA-PSS key that is restricted to another hash than SHA-256 or to a "
                       "salt over 32 bytes; create a key without restrictions";
        return -EBADMSG;
    }
    if (gnutls_pubkey_export_rsa_raw2(key->pubkey, &modulus, &exponent, GNUTLS_EXPORT_FLAG_NO_LZ) <
        0)
        return -EIO;
    if (is_weak_exponent(&exponent)) {
        *reterr_what =
            "an RSA key whose exponent is even, below 3 or over 256 bits, for which anybody "
            "can sign; create a new key";
        return -EBADMSG;
    }
    if (pss && forget_pss_limits(key, &modulus, &exponent) < 0)
        return -EIO;
    key->kind = pss ? KEY_RSA_PSS : KEY_RSA;
    key->modulus_bytes = modulus.size;
    return make_identity("rsa", &modulus, &exponent, key->identity);
}

/*
 * Whether 8 times the point is the neutral element, so that the equation of a signature holds for
 * any document. All encodings of these points: of y = p and y = p + 1 too, which readers accept for
 * 0 and 1, and with either sign of x.
 */
static bool is_of_small_order(const gnutls_datum_t *point)
{
    static const unsigned char encodings[][ED25519_POINT_BYTES] = {
        {0x00},
        {0x01},
        {0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4,
         0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6,
         0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05},
        {0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b,
         0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39,
         0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a},
        {0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
         0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
         0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
        {0xed, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
         0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
         0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
        {0xee, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
         0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
         0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
    };
    unsigned char y[ED25519_POINT_BYTES];

    if (point->size != sizeof(y))
        return true; /* not a point: no signature can be trusted */
    memcpy(y, point->data, sizeof(y));
    y[sizeof(y) - 1] &= (unsigned char)~ED25519_SIGN_BIT;
    for (size_t i = 0; i < sizeof(encodings) / sizeof(encodings[0]); i++) {
        if (memcmp(y, encodings[i], sizeof(y)) == 0)
            return true;
    }
    return false;
}

static int read_ecc(struct signature_key *key, const char **reterr_what)
{
    cleanup_datum gnutls_datum_t x = {0};
    cleanup_datum gnutls_datum_t y = {0};
    gnutls_ecc_curve_t curve = GNUTLS_ECC_CURVE_INVALID;
    const char *name = NULL;

    if (gnutls_pubkey_export_ecc_raw2(key->pubkey, &curve, &x, &y, GNUTLS_EXPORT_FLAG_NO_LZ) < 0)
        return -EIO;
    if (curve == GNUTLS_ECC_CURVE_ED25519) {
        if (is_of_small_order(&x)) {
            *reterr_what =
                "an Ed25519 key of small order, for which anybody can sign; create a new key";
            return -EBADMSG;
        }
        key->kind = KEY_ED25519;
        name = "ed25519";
    } else if (curve == GNUTLS_ECC_CURVE_SECP256R1) {
        key->kind = KEY_P256;
        name = "p256";
    } else if (curve == GNUTLS_ECC_CURVE_SECP384R1) {
        key->kind = KEY_P384;
        name = "p384";
    } else {
        *reterr_what = "a key on an unsupported curve; use Ed25519, P-256 or P-384";
        return -EBADMSG;
    }
    return make_identity(name, &x, &y, key->identity);
}

static int read_kind(struct signature_key *key, const char **reterr_what)
{
    unsigned bits = 0;
    int algorithm = gnutls_pubkey_get_pk_algorithm(key->pubkey, &bits);

    if (algorithm == GNUTLS_PK_RSA || algorithm == GNUTLS_PK_RSA_PSS)
        return read_rsa(key, algorithm == GNUTLS_PK_RSA_PSS, bits, reterr_what);
    if (algorithm == GNUTLS_PK_ECDSA || algorithm == GNUTLS_PK_EDDSA_ED25519)
        return read_ecc(key, reterr_what);
    *reterr_what = "an unsupported kind of key; use Ed25519, ECDSA P-256 or P-384, or RSA";
    return -EBADMSG;
}

int signature_key_read(struct str der, struct signature_key **ret_key, const char **reterr_what)
{
    cleanup_key struct signature_key *key = NULL;
    const gnutls_datum_t data = datum_of(der);
    int r = 0;

    key = calloc(1, sizeof(*key));
    if (key == NULL)
        return -ENOMEM;
    if (gnutls_pubkey_init(&key->pubkey) < 0) {
        key->pubkey = NULL;
        return -EIO;
    }
    if (gnutls_pubkey_import(key->pubkey, &data, GNUTLS_X509_FMT_DER) < 0) {
        *reterr_what = "the public key cannot be read; export the key again";
        return -EBADMSG;
    }
    r = read_kind(key, reterr_what);
    if (r < 0)
        return r;
    *ret_key = key;
    key = NULL;
    return 0;
}

void signature_key_free(struct signature_key *key)
{
    if (key == NULL)
        return;
    if (key->pubkey != NULL)
        gnutls_pubkey_deinit(key->pubkey);
    free(key);
}

const unsigned char *signature_key_identity(const struct signature_key *key)
{
    return key->identity;
}

/* GnuTLS also accepts long forms of lengths and padded numbers. Only the form that GnuTLS itself
 * writes is DER. */
static int is_strict_der(struct str signature, bool *ret_strict)
{
    cleanup_datum gnutls_datum_t r = {0};
    cleanup_datum gnutls_datum_t s = {0};
    cleanup_datum gnutls_datum_t again = {0};
    const gnutls_datum_t data = datum_of(signature);

    if (gnutls_decode_rs_value(&data, &r, &s) < 0) {
        *ret_strict = false;
        return 0;
    }
    if (gnutls_encode_rs_value(&again, &r, &s) < 0)
        return -EIO;
    *ret_strict = again.size == data.size && memcmp(again.data, data.data, data.size) == 0;
    return 0;
}

static bool verifies(const struct signature_key *key, gnutls_sign_algorithm_t algorithm,
                     struct str document, struct str signature)
{
    const gnutls_datum_t data = datum_of(document);
    const gnutls_datum_t bytes = datum_of(signature);

    return gnutls_pubkey_verify_data2(key->pubkey, algorithm, 0, &data, &bytes) >= 0;
}

static int verify_ecdsa(const struct signature_key *key, gnutls_sign_algorithm_t algorithm,
                        struct str document, struct str signature, bool *ret_good)
{
    bool strict = false;
    int r = is_strict_der(signature, &strict);

    if (r < 0)
        return r;
    *ret_good = strict && verifies(key, algorithm, document, signature);
    return 0;
}

int signature_verify(const struct signature_key *key, struct str document, struct str signature,
                     bool *ret_good)
{
    if (document.len > UINT32_MAX || signature.len > SIGNATURE_MAX_BYTES) {
        *ret_good = false;
        return 0;
    }
    switch (key->kind) {
    case KEY_ED25519:
        *ret_good = signature.len == ED25519_SIGNATURE_BYTES &&
                    verifies(key, GNUTLS_SIGN_EDDSA_ED25519, document, signature);
        return 0;
    case KEY_P256:
        return verify_ecdsa(key, GNUTLS_SIGN_ECDSA_SHA256, document, signature, ret_good);
    case KEY_P384:
        return verify_ecdsa(key, GNUTLS_SIGN_ECDSA_SHA384, document, signature, ret_good);
    case KEY_RSA:
        *ret_good = signature.len == key->modulus_bytes &&
                    (verifies(key, GNUTLS_SIGN_RSA_SHA256, document, signature) ||
                     verifies(key, GNUTLS_SIGN_RSA_PSS_SHA256, document, signature));
        return 0;
    case KEY_RSA_PSS:
        *ret_good = signature.len == key->modulus_bytes &&
                    verifies(key, GNUTLS_SIGN_RSA_PSS_SHA256, document, signature);
        return 0;
    case KEY_NONE:
    default:
        *ret_good = false;
        return 0;
    }
}
