/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_TLS_FILES_H
#define WEBHOOK_TLS_FILES_H

/*
 * files - reads certificate, key and client CA into credentials. Only credentials.c uses it.
 *
 * Errors     as in credentials.h.
 * Ownership  tls_credentials_read() returns one reference.
 */

#include <gnutls/x509.h>

#include "k8s/util/refcount.h"
#include "webhook/tls/credentials.h"

struct tls_credentials {
    gnutls_certificate_credentials_t serving;
    gnutls_x509_trust_list_t clients; /* NULL: clients are not asked for a certificate */
    struct str_list names;            /* in the arena */
    int64_t expires_sec;
    struct refcount count;
    struct arena arena;
};

int tls_credentials_read(const struct tls_files *files, struct arena *arena,
                         struct tls_credentials **ret_credentials, struct str *reterr_reason)
    __attribute__((warn_unused_result, nonnull));
/* For tls_credentials_unref() and for failed readings only. */
void tls_credentials_free(struct tls_credentials *credentials);

#endif
