/* SPDX-License-Identifier: Apache-2.0 */
/* signer - reads a private key, and signs evidence with it. */

#include "webhook/commands/signer.h"

#include <assert.h>
#include <errno.h>
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdlib.h>

#include "k8s/keyring/signature.h"
#include "k8s/util/gnutls_handles.h"

#define LABEL_PLAIN STR("-----BEGIN PRIVATE KEY-----")
#define LABEL_ENCRYPTED STR("-----BEGIN ENCRYPTED PRIVATE KEY-----")

struct signer {
    gnutls_privkey_t key; /* owned */
    gnutls_sign_algorithm_t algorithm;
    gnutls_datum_t public_der;        /* owned */
    struct signature_key *public_key; /* owned */
};

bool signer_needs_passphrase(struct str pem)
{
    return str_contains(pem, LABEL_ENCRYPTED);
}

void signer_free(struct signer *signer)
{
    if (signer == NULL)
        return;
    if (signer->key != NULL)
        gnutls_privkey_deinit(signer->key);
    signature_key_free(signer->public_key);
    gnutls_free(signer->public_der.data);
    free(signer);
}

struct str signer_public_der(const struct signer *signer)
{
    return (struct str){.ptr = (const char *)signer->public_der.data,
                        .len = signer->public_der.size};
}

static int import_key(struct signer *signer, struct str pem, const char *passphrase,
                      const char **reterr_what)
{
    cleanup_x509_key gnutls_x509_privkey_t key = NULL;
    bool encrypted = signer_needs_passphrase(pem);
    const gnutls_datum_t data = datum_of(pem);
    int r = gnutls_x509_privkey_init(&key);

    if (r < 0)
        return -EIO;
    r = gnutls_x509_privkey_import_pkcs8(key, &data, GNUTLS_X509_FMT_PEM,
                                         encrypted ? passphrase : NULL,
                                         encrypted ? 0 : GNUTLS_PKCS_PLAIN);
    if (r == GNUTLS_E_DECRYPTION_FAILED && encrypted) {
        *reterr_what = "wrong passphrase for this key";
        return -EACCES;
    }
    if (r < 0) {
        *reterr_what = "the private key cannot be read; export the key again";
        return -EBADMSG;
    }
    if (gnutls_privkey_init(&signer->key) < 0) {
        signer->key = NULL;
        return -EIO;
    }
    return gnutls_privkey_import_x509(signer->key, key, GNUTLS_PRIVKEY_IMPORT_COPY) < 0 ? -EIO : 0;
}

static int choose_ecdsa(struct signer *signer, const char **reterr_what)
{
    gnutls_ecc_curve_t curve = GNUTLS_ECC_CURVE_INVALID;

    if (gnutls_privkey_export_ecc_raw2(signer->key, &curve, NULL, NULL, NULL, 0) < 0)
        return -EIO;
    if (curve == GNUTLS_ECC_CURVE_SECP256R1)
        signer->algorithm = GNUTLS_SIGN_ECDSA_SHA256;
    else if (curve == GNUTLS_ECC_CURVE_SECP384R1)
        signer->algorithm = GNUTLS_SIGN_ECDSA_SHA384;
    else {
        *reterr_what = "a key on an unsupported curve; use Ed25519, P-256 or P-384";
        return -EBADMSG;
    }
    return 0;
}

static int choose_algorithm(struct signer *signer, const char **reterr_what)
{
    unsigned bits = 0;
    int kind = gnutls_privkey_get_pk_algorithm(signer->key, &bits);

    switch (kind) {
    case GNUTLS_PK_EDDSA_ED25519:
        signer->algorithm = GNUTLS_SIGN_EDDSA_ED25519;
        return 0;
    case GNUTLS_PK_ECDSA:
        return choose_ecdsa(signer, reterr_what);
    case GNUTLS_PK_RSA:
    case GNUTLS_PK_RSA_PSS:
        signer->algorithm =
            kind == GNUTLS_PK_RSA ? GNUTLS_SIGN_RSA_SHA256 : GNUTLS_SIGN_RSA_PSS_SHA256;
        return 0; /* signature_key_read() checks the number of bits */
    default:
        *reterr_what = "an unsupported kind of key; use Ed25519, ECDSA P-256 or P-384, or RSA";
        return -EBADMSG;
    }
}

static int make_public(struct signer *signer, const char **reterr_what)
{
    cleanup_public_key gnutls_pubkey_t key = NULL;

    if (gnutls_pubkey_init(&key) < 0)
        return -EIO;
    if (gnutls_pubkey_import_privkey(key, signer->key, 0, 0) < 0 ||
        gnutls_pubkey_export2(key, GNUTLS_X509_FMT_DER, &signer->public_der) < 0)
        return -EIO;
    return signature_key_read(signer_public_der(signer), &signer->public_key, reterr_what);
}

int signer_read(struct str pem, const char *passphrase, struct signer **ret_signer,
                const char **reterr_what)
{
    cleanup_signer struct signer *signer = NULL;
    int r = 0;

    if (!str_contains(pem, LABEL_PLAIN) && !signer_needs_passphrase(pem)) {
        *reterr_what = "not a PKCS#8 private key; convert it with: openssl pkcs8 -topk8 -in KEY";
        return -EBADMSG;
    }
    if (signer_needs_passphrase(pem) && passphrase == NULL) {
        *reterr_what = "the key is encrypted; a passphrase is needed";
        return -EACCES;
    }
    signer = calloc(1, sizeof(*signer));
    if (signer == NULL)
        return -ENOMEM;
    r = import_key(signer, pem, passphrase, reterr_what);
    if (r == 0)
        r = choose_algorithm(signer, reterr_what);
    if (r == 0)
        r = make_public(signer, reterr_what);
    if (r != 0)
        return r;
    *ret_signer = signer;
    signer = NULL;
    return 0;
}

int signer_sign(const struct signer *signer, struct str document, struct arena *arena,
                struct str *ret_signature, const char **reterr_what)
{
    cleanup_datum gnutls_datum_t signature = {0};
    const gnutls_datum_t data = datum_of(document);
    struct str made = {0};
    bool good = false;
    int r = 0;

    assert(signer->public_key != NULL);
    if (gnutls_privkey_sign_data2(signer->key, signer->algorithm, 0, &data, &signature) < 0) {
        *reterr_what = "the crypto library cannot sign with this key";
        return -EIO;
    }
    made = (struct str){.ptr = (const char *)signature.data, .len = signature.size};
    r = signature_verify(signer->public_key, document, made, &good);
    if (r != 0)
        return r;
    if (!good) {
        *reterr_what = "the gate does not accept signatures of this key (a PSS salt other than 32 "
                       "bytes?)";
        return -EIO;
    }
    ret_signature->ptr = arena_copy(arena, made);
    if (ret_signature->ptr == NULL)
        return -ENOMEM;
    ret_signature->len = made.len;
    return 0;
}
