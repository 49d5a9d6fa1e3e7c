/* SPDX-License-Identifier: Apache-2.0 */
/* credentials - exchanges credentials at a reload, sets up sessions, and checks client
 * certificates. See credentials.h; files.c reads the files. */

#include "webhook/tls/credentials.h"

#include <assert.h>
#include <errno.h>
#include <gnutls/x509.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "webhook/tls/files.h"

#define TLS_MAX_CHAIN 16
#define NAME_BYTES 256 /* of a DNS name with a NUL */

struct tls {
    pthread_mutex_t lock; /* around current; held while a pointer is copied only */
    struct tls_credentials *current;
    _Atomic uint64_t generation;
};

const char *tls_priorities(void)
{
    /* the API server supports all of these; AES-128 first, as it costs least with AES-NI. Without
     * the two last ones, a client of TLS 1.2 that names no other signature is served with SHA-1. */
    return "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:"
           "-CIPHER-ALL:+AES-128-GCM:+CHACHA20-POLY1305:+AES-256-GCM:%SERVER_PRECEDENCE:"
           "-SIGN-RSA-SHA1:-SIGN-ECDSA-SHA1";
}

int tls_new(const struct tls_files *files, struct arena *arena, struct tls **ret_tls,
            struct str *reterr_reason)
{
    struct tls_credentials *credentials = NULL;
    struct tls *tls = calloc(1, sizeof(*tls));
    int r = 0;

    if (tls == NULL)
        return -ENOMEM;
    r = tls_credentials_read(files, arena, &credentials, reterr_reason);
    if (r < 0) {
        free(tls);
        return r;
    }
    if (pthread_mutex_init(&tls->lock, NULL) != 0) {
        tls_credentials_unref(credentials);
        free(tls);
        return -ENOMEM;
    }
    tls->current = credentials;
    *ret_tls = tls;
    return 0;
}

void tls_free(struct tls *tls)
{
    if (tls == NULL)
        return;
    tls_credentials_unref(tls->current);
    (void)pthread_mutex_destroy(&tls->lock);
    free(tls);
}

int tls_reload(struct tls *tls, const struct tls_files *files, struct arena *arena,
               struct str *reterr_reason)
{
    struct tls_credentials *fresh = NULL, *old = NULL;
    int r = tls_credentials_read(files, arena, &fresh, reterr_reason);

    if (r < 0)
        return r;
    (void)pthread_mutex_lock(&tls->lock);
    old = tls->current;
    assert(old != NULL);
    tls->current = fresh;
    (void)pthread_mutex_unlock(&tls->lock);
    (void)atomic_fetch_add(&tls->generation, 1);
    tls_credentials_unref(old);
    return 0;
}

struct tls_credentials *tls_credentials(struct tls *tls)
{
    struct tls_credentials *credentials = NULL;

    (void)pthread_mutex_lock(&tls->lock);
    credentials = tls->current;
    refcount_take(&credentials->count);
    (void)pthread_mutex_unlock(&tls->lock);
    return credentials;
}

void tls_credentials_unref(struct tls_credentials *credentials)
{
    if (credentials != NULL && refcount_drop(&credentials->count))
        tls_credentials_free(credentials);
}

uint64_t tls_generation(const struct tls *tls)
{
    return atomic_load(&tls->generation);
}

int64_t tls_expires_sec(struct tls *tls)
{
    struct tls_credentials *credentials = tls_credentials(tls);
    int64_t expires_sec = credentials->expires_sec;

    tls_credentials_unref(credentials);
    return expires_sec;
}

int tls_prepare(const struct tls_credentials *credentials, gnutls_session_t session)
{
    static const unsigned char http11[] = "http/1.1";
    /* the library only reads it, but the member is not const */
    gnutls_datum_t protocol = {.data = (unsigned char *)(uintptr_t)http11,
                               .size = sizeof(http11) - 1};

    if (gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials->serving) < 0)
        return -EIO;
    /* mandatory: a client that offers only h2 must not get a handshake and then HTTP/1.1 */
    if (gnutls_alpn_set_protocols(session, &protocol, 1, GNUTLS_ALPN_MANDATORY) < 0)
        return -EIO;
    if (credentials->clients != NULL)
        gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUEST);
    return 0;
}

bool tls_asks_clients(const struct tls_credentials *credentials)
{
    return credentials->clients != NULL;
}

static bool is_listed(const struct tls_credentials *credentials, const void *name, size_t length)
{
    for (size_t i = 0; i < credentials->names.count; i++)
        if (str_equal(credentials->names.items[i], (struct str){.ptr = name, .len = length}))
            return true;
    return false;
}

static bool is_named(const struct tls_credentials *credentials, gnutls_x509_crt_t certificate)
{
    char name[NAME_BYTES];

    for (unsigned i = 0;; i++) {
        size_t length = sizeof(name);
        int r = gnutls_x509_crt_get_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, i, 0, name,
                                              &length);

        if (r == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE)
            break;
        if (r == 0 && is_listed(credentials, name, length))
            return true;
    }
    for (unsigned i = 0;; i++) {
        size_t length = sizeof(name);
        int r = gnutls_x509_crt_get_subject_alt_name(certificate, i, name, &length, NULL);

        if (r == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE)
            return false;
        if (r == GNUTLS_SAN_DNSNAME && is_listed(credentials, name, length))
            return true;
    }
}

static bool is_signed(const struct tls_credentials *credentials,
                      gnutls_x509_crt_t certificates[static TLS_MAX_CHAIN], unsigned count)
{
    static const unsigned char client[] = GNUTLS_KP_TLS_WWW_CLIENT;
    gnutls_typed_vdata_st purpose = {.type = GNUTLS_DT_KEY_PURPOSE_OID,
                                     .data = (unsigned char *)(uintptr_t)client};
    unsigned status = 0;
    int r = gnutls_x509_trust_list_verify_crt2(credentials->clients, certificates, count, &purpose,
                                               1, 0, &status, NULL);

    return r == 0 && status == 0;
}

bool tls_client_allowed(const struct tls_credentials *credentials, gnutls_session_t session)
{
    gnutls_x509_crt_t certificates[TLS_MAX_CHAIN] = {NULL};
    const gnutls_datum_t *given = NULL;
    unsigned given_count = 0, count = 0;
    bool allowed = false, read = true;

    if (credentials->clients == NULL)
        return true;
    given = gnutls_certificate_get_peers(session, &given_count);
    if (given == NULL || given_count == 0 || given_count > TLS_MAX_CHAIN)
        return false;
    for (; read && count < given_count; count++)
        read = gnutls_x509_crt_init(&certificates[count]) == 0 &&
               gnutls_x509_crt_import(certificates[count], &given[count], GNUTLS_X509_FMT_DER) == 0;
    allowed = read && is_signed(credentials, certificates, count) &&
              is_named(credentials, certificates[0]);
    for (unsigned i = 0; i < count; i++)
        if (certificates[i] != NULL)
            gnutls_x509_crt_deinit(certificates[i]);
    return allowed;
}
