/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVE_SELF_H
#define WEBHOOK_SERVE_SELF_H

/*
 * self - what serve does where the gate makes its certificates itself (`tls.self.secret`);
 * all of it does nothing where it does not.
 *
 * Errors     0; -EINVAL and -ENOENT with reterr_reason; another negative errno.
 * Ownership  {0} is a valid start; serve_self_done() ends it.
 * Threads    serve_self_why() by any, the rest by one.
 */

#include "webhook/selfcert/thread.h"
#include "webhook/tls/credentials.h"

struct serve_self {
    struct api *api;
    struct self_tls *tls; /* NULL until it is started */
    bool on;
    uint64_t taken; /* the generation that was taken last; 0: the temporary one */
    uint64_t served;
};

int serve_self_open(struct serve_self *self, const struct config *config, struct arena *arena,
                    struct str *reterr_reason) __attribute__((warn_unused_result, nonnull));
int serve_self_start(struct serve_self *self, const struct config *config, const struct log *log)
    __attribute__((warn_unused_result, nonnull));
/* No further call to the API server is begun. */
void serve_self_end(struct serve_self *self);
void serve_self_done(struct serve_self *self);

/* Puts the certificate in the place of files; the arena holds a key then. */
int serve_self_files(struct serve_self *self, struct arena *arena, struct tls_files *ret_files)
    __attribute__((warn_unused_result, nonnull));
/* Those are served now. */
void serve_self_served(struct serve_self *self);
/* A certificate is there that is not served yet. */
bool serve_self_is_fresh(const struct serve_self *self);

bool serve_self_is_on(const struct serve_self *self);
bool serve_self_has_certificate(const struct serve_self *self);
const char *serve_self_why(const struct serve_self *self);

/* Looks at the Secret and the caBundles now. */
void serve_self_look(struct serve_self *self);

/* Takes up other names and lives. */
void serve_self_set_config(struct serve_self *self, const struct config *config,
                           const struct log *log);

#endif
