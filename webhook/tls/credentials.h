/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_TLS_CREDENTIALS_H
#define WEBHOOK_TLS_CREDENTIALS_H

/*
 * credentials - the serving certificate, and which clients are allowed (gate-v1, section 8, and
 * `tls` of section 10).
 *
 * Credentials are immutable and counted. A session keeps those that it began with, and a reload
 * provides new ones for later sessions, so no connection is dropped. Whether a client is allowed is
 * always decided by the newest credentials: a name or a CA that is removed has no access from then
 * on.
 *
 * Errors     tls_new(), tls_reload(): 0; -EINVAL the files cannot be used (reterr_reason: file,
 *            what, what to do; never the content of a key); -ENOMEM. After a failed reload the old
 *            credentials stay in use.
 * Threads    tls_reload() by one thread at a time, the other functions by any.
 */

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stdint.h>

#include "planner/base/arena.h"
#include "planner/base/list.h"
#include "planner/base/text.h"

#define TLS_MAX_FILE_BYTES ((size_t)1 << 20)

struct tls;
struct tls_credentials;

struct tls_files {
    const char *certificate;
    const char *key;
    struct str certificate_pem; /* present: this and key_pem are used instead of the two files */
    struct str key_pem;
    const char *client_ca; /* NULL: clients are not asked for a certificate */
    struct str_list client_names;
};

/* TLS versions, ciphers and key exchanges, as a GnuTLS priority string. */
const char *tls_priorities(void);

int tls_new(const struct tls_files *files, struct arena *arena, struct tls **ret_tls,
            struct str *reterr_reason) __attribute__((warn_unused_result, nonnull));
void tls_free(struct tls *tls);

int tls_reload(struct tls *tls, const struct tls_files *files, struct arena *arena,
               struct str *reterr_reason) __attribute__((warn_unused_result, nonnull));

/* The newest credentials; a reference for the caller. */
struct tls_credentials *tls_credentials(struct tls *tls);
void tls_credentials_unref(struct tls_credentials *credentials);

/* Increases with every successful reload. */
uint64_t tls_generation(const struct tls *tls);

/* When the newest certificate expires, in seconds since 1970. */
int64_t tls_expires_sec(struct tls *tls);

/* Sets up a session before its handshake: certificate, ALPN `http/1.1` or none, and the request for
 * a client certificate. 0, or -EIO. */
int tls_prepare(const struct tls_credentials *credentials, gnutls_session_t session)
    __attribute__((warn_unused_result, nonnull));

/* Whether the client of a session is allowed; always true where no client CA is set. */
bool tls_client_allowed(const struct tls_credentials *credentials, gnutls_session_t session);
bool tls_asks_clients(const struct tls_credentials *credentials);

#endif
