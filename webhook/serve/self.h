/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVE_SELF_H
#define WEBHOOK_SERVE_SELF_H

/*
 * self - certificates that the gate makes itself (`tls.self.secret`), as serve uses them. Where
 * that is not set, every function does nothing.
 *
 * Errors     0; -EINVAL and -ENOENT with reterr_reason; another negative errno.
 * Ownership  {0} is a valid start; serve_self_done() releases what it holds.
 * Threads    serve_self_why() by any, the other functions by one.
 */

#include "webhook/selfcert/thread.h"
#include "webhook/tls/credentials.h"

struct serve_self {
    struct api *api;
    struct self_tls *tls; /* NULL: not started */
    bool on;
    uint64_t taken;  /* the generation that was taken last; 0: the temporary certificate */
    uint64_t served; /* the generation that is served */
};

int serve_self_open(struct serve_self *self, const struct config *config, struct arena *arena,
                    struct str *reterr_reason) __attribute__((warn_unused_result, nonnull));
int serve_self_start(struct serve_self *self, const struct config *config, const struct log *log)
    __attribute__((warn_unused_result, nonnull));
/* No further call to the API server begins. */
void serve_self_end(struct serve_self *self);
void serve_self_done(struct serve_self *self);

/* Replaces the files by the certificate, if there is one. The arena contains a private key then. */
int serve_self_files(struct serve_self *self, struct arena *arena, struct tls_files *ret_files)
    __attribute__((warn_unused_result, nonnull));
/* The certificate of the last serve_self_files() is served now. */
void serve_self_served(struct serve_self *self);
/* There is a certificate that is not served yet. */
bool serve_self_is_fresh(const struct serve_self *self);

bool serve_self_is_on(const struct serve_self *self);
bool serve_self_has_certificate(const struct serve_self *self);
/* Why the gate is not ready, a static text; NULL: it is ready. */
const char *serve_self_why(const struct serve_self *self);
/* What keeps the certificates from being kept up to date; static, NULL: nothing. Any thread. */
const char *serve_self_failure(const struct serve_self *self);

/* Begins a pass over the Secret and the caBundles now. */
void serve_self_reconcile(struct serve_self *self);

/* Takes names and lifetimes from another configuration. */
void serve_self_set_config(struct serve_self *self, const struct config *config,
                           const struct log *log);

#endif
