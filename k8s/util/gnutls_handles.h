/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_UTIL_GNUTLS_HANDLES_H
#define K8S_UTIL_GNUTLS_HANDLES_H

/*
 * gnutls_handles - text as GnuTLS takes it, and clean-up of what GnuTLS allocates.
 *
 * A variable declared with cleanup_x is released at the end of its scope. NULL is allowed.
 */

#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdint.h>

#include "planner/base/text.h"

/* Borrows the text. GnuTLS's inputs are not const, but it does not write to them. */
static inline gnutls_datum_t datum_of(struct str s)
{
    const char *bytes = s.len > 0 ? s.ptr : "";

    return (gnutls_datum_t){.data = (unsigned char *)(uintptr_t)bytes, .size = (unsigned)s.len};
}

/* Wipes the bytes first: a private key can be in them. */
static inline void datum_done(gnutls_datum_t *datum)
{
    if (datum->data != NULL)
        gnutls_memset(datum->data, 0, datum->size);
    gnutls_free(datum->data);
    *datum = (gnutls_datum_t){0};
}

static inline void x509_certificate_done(gnutls_x509_crt_t *certificate)
{
    if (*certificate != NULL)
        gnutls_x509_crt_deinit(*certificate);
}

static inline void x509_key_done(gnutls_x509_privkey_t *key)
{
    if (*key != NULL)
        gnutls_x509_privkey_deinit(*key);
}

static inline void public_key_done(gnutls_pubkey_t *key)
{
    if (*key != NULL)
        gnutls_pubkey_deinit(*key);
}

static inline void credentials_done(gnutls_certificate_credentials_t *credentials)
{
    if (*credentials != NULL)
        gnutls_certificate_free_credentials(*credentials);
}

#define cleanup_datum __attribute__((cleanup(datum_done)))
#define cleanup_x509_certificate __attribute__((cleanup(x509_certificate_done)))
#define cleanup_x509_key __attribute__((cleanup(x509_key_done)))
#define cleanup_public_key __attribute__((cleanup(public_key_done)))
#define cleanup_credentials __attribute__((cleanup(credentials_done)))

#endif
