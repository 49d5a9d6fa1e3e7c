/* SPDX-License-Identifier: Apache-2.0 */
/* certificate - reads certificates and bundles, and compares them with keys and CAs.
 * certificate_make.c makes them. */

#define _GNU_SOURCE /* memmem */
#include "webhook/tls/certificate.h"

#include <assert.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/x509.h>

#include "k8s/util/gnutls_handles.h"

#define PEM_BEGIN STR("-----BEGIN CERTIFICATE-----")
#define PEM_END STR("-----END CERTIFICATE-----")
#define NAME_BYTES 256 /* of a DNS name with a NUL */

/* NULL where it cannot be read. */
static gnutls_x509_crt_t import(struct str pem)
{
    gnutls_x509_crt_t certificate = NULL;
    gnutls_datum_t text = datum_of(pem);

    if (pem.len == 0 || pem.len > CERTIFICATE_MAX_BYTES || gnutls_x509_crt_init(&certificate) < 0)
        return NULL;
    if (gnutls_x509_crt_import(certificate, &text, GNUTLS_X509_FMT_PEM) == 0)
        return certificate;
    gnutls_x509_crt_deinit(certificate);
    return NULL;
}

static int read_names(gnutls_x509_crt_t from, struct arena *arena, struct str_list *ret_names)
{
    struct str *names = arena_alloc(arena, CERTIFICATE_MAX_NAMES, sizeof(*names));
    size_t count = 0;

    if (names == NULL)
        return -ENOMEM;
    for (unsigned i = 0; count < CERTIFICATE_MAX_NAMES; i++) {
        char name[NAME_BYTES];
        size_t length = sizeof(name);
        int r = gnutls_x509_crt_get_subject_alt_name(from, i, name, &length, NULL);

        if (r == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE)
            break;
        if (r != GNUTLS_SAN_DNSNAME) /* of another kind, or longer than any DNS name */
            continue;
        names[count].len = length;
        names[count].ptr = arena_copy(arena, (struct str){.ptr = name, .len = length});
        if (names[count++].ptr == NULL)
            return -ENOMEM;
    }
    *ret_names = (struct str_list){.items = names, .count = count};
    return 0;
}

/* -EBADMSG where it is not a certificate. */
static int read_one(struct str pem, struct arena *arena, struct certificate *ret_certificate)
{
    gnutls_x509_crt_t cleanup_x509_certificate from = import(pem);
    struct certificate read = {.pem = pem};
    size_t id_bytes = sizeof(read.id.bytes);
    int r = 0;

    if (from == NULL ||
        gnutls_x509_crt_get_fingerprint(from, GNUTLS_DIG_SHA256, read.id.bytes, &id_bytes) < 0)
        return -EBADMSG;
    read.from_sec = gnutls_x509_crt_get_activation_time(from);
    read.to_sec = gnutls_x509_crt_get_expiration_time(from);
    read.is_ca = gnutls_x509_crt_get_ca_status(from, NULL) > 0;
    r = read_names(from, arena, &read.names);
    if (r == 0)
        *ret_certificate = read;
    return r;
}

static size_t find_text(struct str in, size_t from, struct str wanted)
{
    const char *found =
        in.len > from ? memmem(in.ptr + from, in.len - from, wanted.ptr, wanted.len) : NULL;

    return found != NULL ? (size_t)(found - in.ptr) : in.len;
}

int certificate_read_bundle(struct str pem, struct arena *arena,
                            struct certificate_bundle *ret_bundle)
{
    struct certificate_bundle bundle = {0};

    if (pem.len > CERTIFICATE_MAX_BYTES)
        pem = STR("");
    bundle.flawed = pem.len == 0;
    for (size_t at = find_text(pem, 0, PEM_BEGIN); at < pem.len;) {
        size_t end = find_text(pem, at, PEM_END) + PEM_END.len;
        struct certificate one = {0};
        int r = end <= pem.len
                    ? read_one((struct str){.ptr = pem.ptr + at, .len = end - at}, arena, &one)
                    : -EBADMSG;

        if (r == -ENOMEM)
            return r;
        at = find_text(pem, at + 1, PEM_BEGIN);
        if (r < 0 || bundle.count == CERTIFICATE_MAX_BUNDLE ||
            certificate_find(&bundle, &one.id) != NULL)
            bundle.flawed = true;
        else
            bundle.items[bundle.count++] = one;
    }
    assert(bundle.count <= CERTIFICATE_MAX_BUNDLE);
    *ret_bundle = bundle;
    return 0;
}

int certificate_pair_copy(const struct certificate_pair *pair, struct arena *arena,
                          struct certificate_pair *ret_copy)
{
    struct certificate_pair copy = {
        .certificate = {.ptr = arena_copy(arena, pair->certificate), .len = pair->certificate.len},
        .key = {.ptr = arena_copy(arena, pair->key), .len = pair->key.len},
    };

    if (copy.certificate.ptr == NULL || copy.key.ptr == NULL)
        return -ENOMEM;
    *ret_copy = copy;
    return 0;
}

bool certificate_has_key(struct str certificate_pem, struct str key_pem)
{
    gnutls_x509_crt_t cleanup_x509_certificate certificate = import(certificate_pem);
    gnutls_x509_privkey_t cleanup_x509_key key = NULL;
    gnutls_datum_t text = datum_of(key_pem);
    unsigned char of_certificate[64], of_key[64]; /* the largest that the library can need */
    size_t of_certificate_bytes = sizeof(of_certificate), of_key_bytes = sizeof(of_key);

    if (certificate == NULL || key_pem.len == 0 || key_pem.len > CERTIFICATE_MAX_BYTES ||
        gnutls_x509_privkey_init(&key) < 0)
        return false;
    /* the second check finds a private key that was combined with another public key by hand */
    return gnutls_x509_privkey_import2(key, &text, GNUTLS_X509_FMT_PEM, NULL, 0) == 0 &&
           gnutls_x509_privkey_verify_params(key) == 0 &&
           gnutls_x509_crt_get_key_id(certificate, GNUTLS_KEYID_USE_SHA256, of_certificate,
                                      &of_certificate_bytes) == 0 &&
           gnutls_x509_privkey_get_key_id(key, GNUTLS_KEYID_USE_SHA256, of_key, &of_key_bytes) ==
               0 &&
           of_certificate_bytes == of_key_bytes &&
           memcmp(of_certificate, of_key, of_key_bytes) == 0;
}

bool certificate_is_signed(struct str certificate_pem, struct str ca_pem)
{
    gnutls_x509_crt_t cleanup_x509_certificate certificate = import(certificate_pem);
    gnutls_x509_crt_t cleanup_x509_certificate ca = import(ca_pem);
    unsigned status = 0;

    /* the second check alone accepts a trusted certificate as its own issuer */
    return certificate != NULL && ca != NULL &&
           gnutls_x509_crt_check_issuer(certificate, ca) != 0 &&
           gnutls_x509_crt_verify(certificate, &ca, 1,
                                  GNUTLS_VERIFY_DISABLE_TIME_CHECKS |
                                      GNUTLS_VERIFY_DISABLE_TRUSTED_TIME_CHECKS,
                                  &status) == 0 &&
           status == 0;
}

const struct certificate *certificate_find(const struct certificate_bundle *bundle,
                                           const struct certificate_id *id)
{
    for (size_t i = 0; i < bundle->count; i++)
        if (certificate_same(&bundle->items[i].id, id))
            return &bundle->items[i];
    return NULL;
}
