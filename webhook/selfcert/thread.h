/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SELFCERT_THREAD_H
#define WEBHOOK_SELFCERT_THREAD_H

/*
 * thread - certificates that the gate makes itself and keeps in one Secret, and the caBundle that
 * goes with them (`tls.self` of the configuration). What is decided when: plan.h; what one
 * look does: turn.h. This is the thread around it.
 *
 * Errors     0 or negative errno; what goes wrong later is in the log and in self_tls_why().
 * Ownership  api and log are borrowed and outlive it; configurations are counted.
 * Threads    its own; the functions here are called by any, but start, end and free by one.
 */

#include "k8s/api/api.h"
#include "webhook/tls/certificate.h"
#include "webhook/config/config.h"
#include "webhook/util/log.h"

struct self_tls;

int self_tls_start(struct api *api, const struct config *config, const struct log *log,
                   struct self_tls **ret_self) __attribute__((warn_unused_result, nonnull));
/* No further call is begun; one that runs ends within SELF_CALL_MSEC. */
void self_tls_end(struct self_tls *self);
/* Waits for that. NULL is allowed. */
void self_tls_free(struct self_tls *self);

/* The next look is now. */
void self_tls_look(struct self_tls *self);

/* Names and lives by another configuration, from the next look on. */
void self_tls_set_config(struct self_tls *self, const struct config *config);

/* 0: there is no certificate yet. Changes with every new one. */
uint64_t self_tls_generation(struct self_tls *self);

/* The certificate to serve; -ENOENT: there is none yet. The arena holds a key then. */
int self_tls_take(struct self_tls *self, struct arena *arena, struct certificate_pair *ret_pair,
                  uint64_t *ret_generation) __attribute__((warn_unused_result, nonnull));
/* That one is served from now on. */
void self_tls_served(struct self_tls *self, uint64_t generation);

/* Why the gate is not ready, a static text; NULL where it is. */
const char *self_tls_why(struct self_tls *self);

/* What is served until there is a certificate: trusted by nobody, but probes that trust everybody
 * see the reasons by it. */
int self_tls_make_temporary(int64_t now_sec, struct arena *arena, struct certificate_pair *ret_pair)
    __attribute__((warn_unused_result, nonnull));

#endif
