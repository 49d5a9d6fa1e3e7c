/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SELFCERT_THREAD_H
#define WEBHOOK_SELFCERT_THREAD_H

/*
 * thread - certificates that the gate makes itself and keeps in one Secret, and the caBundles that
 * belong to them (`tls.self` of the configuration). plan.h decides, reconcile.h does one pass, and
 * this is the thread that repeats it.
 *
 * Errors     0 or negative errno; later failures are in the log and in self_tls_why().
 * Ownership  api and log are borrowed and must outlive it; configurations are counted.
 * Threads    one of its own. The functions here can be called by any thread; start, end and free by
 *            one.
 */

#include "k8s/api/api.h"
#include "webhook/config/config.h"
#include "webhook/tls/certificate.h"
#include "webhook/util/log.h"

struct self_tls;

int self_tls_start(struct api *api, const struct config *config, const struct log *log,
                   struct self_tls **ret_self) __attribute__((warn_unused_result, nonnull));
/* No further call to the API server begins; one in progress ends within SELF_CALL_MSEC. */
void self_tls_end(struct self_tls *self);
/* Waits for the end of the thread. NULL is allowed. */
void self_tls_free(struct self_tls *self);

/* The next pass begins now. */
void self_tls_reconcile(struct self_tls *self);

/* Takes names and lifetimes from another configuration, from the next pass on. */
void self_tls_set_config(struct self_tls *self, const struct config *config);

/* 0: there is no certificate yet. Increases with every new one. */
uint64_t self_tls_generation(struct self_tls *self);

/* The certificate to serve; -ENOENT: there is none yet. The arena contains a private key then. */
int self_tls_take(struct self_tls *self, struct arena *arena, struct certificate_pair *ret_pair,
                  uint64_t *ret_generation) __attribute__((warn_unused_result, nonnull));
/* This generation is served from now on. */
void self_tls_served(struct self_tls *self, uint64_t generation);

/* Why the gate is not ready, a static text; NULL where it is ready. */
const char *self_tls_why(struct self_tls *self);

/* What keeps the certificates from being kept up to date, though the gate may be ready; a static
 * text, NULL: nothing. */
const char *self_tls_failure(struct self_tls *self);

/* The certificate that is served until there is a real one. No client trusts it, but probes that do
 * not check certificates can read the reason from /readyz. */
int self_tls_make_temporary(int64_t now_sec, struct arena *arena, struct certificate_pair *ret_pair)
    __attribute__((warn_unused_result, nonnull));

#endif
