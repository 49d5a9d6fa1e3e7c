/* SPDX-License-Identifier: Apache-2.0 */
/* certificate_make - makes certificates with new keys. certificate.c reads them. */

#include <assert.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/x509.h>
#include <stdio.h>

#include "k8s/util/gnutls_handles.h"
#include "webhook/tls/certificate.h"

#define DAY_SEC INT64_C(86400)
#define SERIAL_BYTES 16
#define X509_V3 3
#define COMMON_NAME_BYTES 64
#define KEY_ID_BYTES 64 /* the largest that the library can need */

/* A certificate that is being made, with a new key in it. */
struct making {
    gnutls_x509_crt_t certificate;
    gnutls_x509_privkey_t key;
};

static void drop_making(struct making *making)
{
    x509_certificate_done(&making->certificate);
    x509_key_done(&making->key);
}

#define cleanup_making __attribute__((cleanup(drop_making)))

static int make_key(gnutls_x509_privkey_t *ret_key)
{
    if (gnutls_x509_privkey_init(ret_key) < 0)
        return -ENOMEM;
    return gnutls_x509_privkey_generate(*ret_key, GNUTLS_PK_ECDSA,
                                        GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0) < 0
               ? -EIO
               : 0;
}

/* Each subject is unique, because verifiers look for an issuer by its name. */
static int set_subject(gnutls_x509_crt_t certificate, const char *what,
                       const unsigned char serial[static SERIAL_BYTES])
{
    char name[COMMON_NAME_BYTES];
    int length =
        snprintf(name, sizeof(name), "%s %02x%02x%02x%02x%02x%02x%02x%02x", what, serial[0],
                 serial[1], serial[2], serial[3], serial[4], serial[5], serial[6], serial[7]);

    assert(length > 0 && length < COMMON_NAME_BYTES);
    return gnutls_x509_crt_set_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, name,
                                         (unsigned)length);
}

/* The common part: key, serial number, subject, dates and the identifier of the key. */
static int begin(struct making *making, const char *what, int64_t from_sec, int64_t to_sec)
{
    unsigned char serial[SERIAL_BYTES], id[KEY_ID_BYTES];
    size_t id_bytes = sizeof(id);
    int r = make_key(&making->key);

    if (r < 0)
        return r;
    if (gnutls_x509_crt_init(&making->certificate) < 0)
        return -ENOMEM;
    if (gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof(serial)) < 0)
        return -EIO;
    serial[0] =
        (unsigned char)((serial[0] & 0x3F) | 0x40); /* positive, and always of the same length */
    if (gnutls_x509_crt_set_version(making->certificate, X509_V3) < 0 ||
        gnutls_x509_crt_set_serial(making->certificate, serial, sizeof(serial)) < 0 ||
        set_subject(making->certificate, what, serial) < 0 ||
        gnutls_x509_crt_set_activation_time(making->certificate, from_sec) < 0 ||
        gnutls_x509_crt_set_expiration_time(making->certificate, to_sec) < 0 ||
        gnutls_x509_crt_set_key(making->certificate, making->key) < 0 ||
        gnutls_x509_crt_get_key_id(making->certificate, 0, id, &id_bytes) < 0 ||
        gnutls_x509_crt_set_subject_key_id(making->certificate, id, id_bytes) < 0)
        return -EIO;
    return 0;
}

static int copy_out(const gnutls_datum_t *text, struct arena *arena, struct str *ret_text)
{
    struct str copy = {.len = text->size};

    copy.ptr = arena_copy(arena, (struct str){.ptr = (const char *)text->data, .len = text->size});
    if (copy.ptr == NULL)
        return -ENOMEM;
    *ret_text = copy;
    return 0;
}

static int finish(const struct making *making, struct arena *arena, struct certificate_pair *ret)
{
    gnutls_datum_t cleanup_datum certificate = {0};
    gnutls_datum_t cleanup_datum key = {0};
    struct certificate_pair pair = {0};
    int r = 0;

    if (gnutls_x509_crt_export2(making->certificate, GNUTLS_X509_FMT_PEM, &certificate) < 0 ||
        gnutls_x509_privkey_export2_pkcs8(making->key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN,
                                          &key) < 0)
        return -EIO;
    r = copy_out(&certificate, arena, &pair.certificate);
    if (r == 0)
        r = copy_out(&key, arena, &pair.key);
    if (r == 0)
        *ret = pair;
    return r;
}

int certificate_make_ca(int64_t now_sec, uint32_t days, struct arena *arena,
                        struct certificate_pair *ret_ca)
{
    struct making cleanup_making ca = {0};
    int r = begin(&ca, "sandgate CA", now_sec - CERTIFICATE_BACKDATE_SEC, now_sec + days * DAY_SEC);

    if (r < 0)
        return r;
    if (gnutls_x509_crt_set_basic_constraints(ca.certificate, 1, 0) < 0 ||
        gnutls_x509_crt_set_key_usage(ca.certificate, GNUTLS_KEY_KEY_CERT_SIGN) < 0 ||
        gnutls_x509_crt_sign2(ca.certificate, ca.certificate, ca.key, GNUTLS_DIG_SHA256, 0) < 0)
        return -EIO;
    return finish(&ca, arena, ret_ca);
}

/* The CA's certificate and key, read. */
static int read_ca(const struct certificate_pair *from, struct making *ret_ca)
{
    gnutls_datum_t certificate = datum_of(from->certificate), key = datum_of(from->key);

    if (gnutls_x509_crt_init(&ret_ca->certificate) < 0 ||
        gnutls_x509_privkey_init(&ret_ca->key) < 0)
        return -ENOMEM;
    if (!certificate_has_key(from->certificate, from->key) ||
        gnutls_x509_crt_import(ret_ca->certificate, &certificate, GNUTLS_X509_FMT_PEM) < 0 ||
        gnutls_x509_privkey_import2(ret_ca->key, &key, GNUTLS_X509_FMT_PEM, NULL, 0) < 0 ||
        gnutls_x509_crt_get_ca_status(ret_ca->certificate, NULL) <= 0)
        return -EBADMSG;
    return 0;
}

static int set_names(gnutls_x509_crt_t certificate, const struct str_list *names)
{
    for (size_t i = 0; i < names->count; i++)
        if (gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_DNSNAME,
                                                 names->items[i].ptr, (unsigned)names->items[i].len,
                                                 GNUTLS_FSAN_APPEND) < 0)
            return -EIO;
    return 0;
}

/* The same identifier as in the CA's certificate, so that verifiers find the issuer by it. */
static int set_authority(gnutls_x509_crt_t certificate, gnutls_x509_crt_t ca)
{
    unsigned char id[KEY_ID_BYTES];
    size_t id_bytes = sizeof(id);

    if (gnutls_x509_crt_get_subject_key_id(ca, id, &id_bytes, NULL) < 0 ||
        gnutls_x509_crt_set_authority_key_id(certificate, id, id_bytes) < 0)
        return -EIO;
    return 0;
}

int certificate_make_serving(const struct certificate_pair *ca, const struct str_list *names,
                             int64_t now_sec, uint32_t days, struct arena *arena,
                             struct certificate_pair *ret_serving)
{
    struct making cleanup_making authority = {0};
    struct making cleanup_making serving = {0};
    int64_t from_sec = now_sec - CERTIFICATE_BACKDATE_SEC, to_sec = now_sec + days * DAY_SEC;
    int64_t ca_from_sec = 0, ca_to_sec = 0;
    int r = read_ca(ca, &authority);

    if (r < 0)
        return r;
    ca_from_sec = gnutls_x509_crt_get_activation_time(authority.certificate);
    ca_to_sec = gnutls_x509_crt_get_expiration_time(authority.certificate);
    r = begin(&serving, "sandgate", from_sec > ca_from_sec ? from_sec : ca_from_sec,
              to_sec < ca_to_sec ? to_sec : ca_to_sec);
    if (r == 0)
        r = set_names(serving.certificate, names);
    if (r == 0)
        r = set_authority(serving.certificate, authority.certificate);
    if (r < 0)
        return r;
    if (gnutls_x509_crt_set_basic_constraints(serving.certificate, 0, -1) < 0 ||
        gnutls_x509_crt_set_key_usage(serving.certificate, GNUTLS_KEY_DIGITAL_SIGNATURE) < 0 ||
        gnutls_x509_crt_set_key_purpose_oid(serving.certificate, GNUTLS_KP_TLS_WWW_SERVER, 0) < 0 ||
        gnutls_x509_crt_sign2(serving.certificate, authority.certificate, authority.key,
                              GNUTLS_DIG_SHA256, 0) < 0)
        return -EIO;
    return finish(&serving, arena, ret_serving);
}
