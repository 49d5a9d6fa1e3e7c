/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_TLS_CREDENTIALS_H
#define WEBHOOK_TLS_CREDENTIALS_H

/*
 * credentials - the serving certificate, and who may ask (gate-v1, section 8 and `tls` of section
 * 10).
 *
 * Credentials are immutable and counted: a session holds those it began with, a reload puts new
 * ones beside them for sessions to come, so that no connection is dropped. Whether a client is
 * known is always asked of the newest ones: taking a name or a CA away works at once.
 *
 * Errors     tls_new(), tls_reload(): 0; -EINVAL the files cannot be used (reterr_reason: file,
 *            what, what to do; never a key's content); -ENOMEM. After a failed reload the old
 *            credentials go on.
 * Threads    tls_reload() by one at a time, the rest by any.
 */

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stdint.h>

#include "planner/base/list.h"
#include "planner/base/arena.h"
#include "planner/base/text.h"

#define TLS_MAX_FILE_BYTES ((size_t)1 << 20)

struct tls;
struct tls_credentials;

struct tls_files {
    const char *certificate;
    const char *key;
    struct str certificate_pem; /* present: this and key_pem, not the two files */
    struct str key_pem;
    const char *client_ca; /* NULL: nobody is asked for a certificate */
    struct str_list client_names;
};

/* Versions, ciphers and key exchanges, in GnuTLS' words. */
const char *tls_priorities(void);

int tls_new(const struct tls_files *files, struct arena *arena, struct tls **ret_tls,
            struct str *reterr_reason) __attribute__((warn_unused_result, nonnull));
void tls_free(struct tls *tls);

int tls_reload(struct tls *tls, const struct tls_files *files, struct arena *arena,
               struct str *reterr_reason) __attribute__((warn_unused_result, nonnull));

/* A count for the caller. */
struct tls_credentials *tls_credentials(struct tls *tls);
void tls_credentials_unref(struct tls_credentials *credentials);

/* Changes with every reload that was done. */
uint64_t tls_generation(const struct tls *tls);

/* When the newest certificate ends, in seconds since 1970. */
int64_t tls_expires_sec(struct tls *tls);

/* Before the handshake: certificate, ALPN `http/1.1` or none, and the wish for a certificate.
 * 0, or -EIO. */
int tls_prepare(const struct tls_credentials *credentials, gnutls_session_t session)
    __attribute__((warn_unused_result, nonnull));

/* Whether whoever is at the other end may ask: always, where no client CA is set. */
bool tls_client_may_ask(const struct tls_credentials *credentials, gnutls_session_t session);
bool tls_asks_clients(const struct tls_credentials *credentials);

#endif
