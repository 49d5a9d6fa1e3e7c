/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SELFCERT_SECRET_H
#define WEBHOOK_SELFCERT_SECRET_H

/*
 * secret - the Secret that holds the certificates of the gate: reads it, and makes its new content.
 *
 *   tls.crt, tls.key   the serving certificate and its key
 *   ca.crt             all CAs: the one that signs, the next one, former ones
 *   ca.key             the key of the CA that signs
 *   next-ca.key        the key of the next CA, if there is one
 *
 * Errors     0; -EBADMSG the text is not a Secret; -EIO the crypto library failed; -ENOMEM. Wrong
 *            content of the Secret is not an error: it counts as missing, and sets `unusable`.
 * Ownership  in the given arena, which contains private keys then: arena_wipe().
 */

#include "webhook/config/config.h"
#include "webhook/selfcert/plan.h"

struct self_secret {
    struct str resource_version;
    struct certificate_bundle cas;
    struct certificate ca; /* pem absent: no CA with its key */
    struct str ca_key;
    struct certificate next; /* pem absent: none with its key */
    struct str next_key;
    struct certificate serving; /* pem absent: none with its key */
    struct str serving_key;
    struct certificate_id serving_ca; /* the CA of cas that signed it */
    bool serving_trusted;             /* a CA of cas signed it */
    const char *unusable;             /* what cannot be used, a static text; NULL: nothing */
};

int self_secret_read(struct str json, struct arena *arena, struct self_secret *ret_secret)
    __attribute__((warn_unused_result, nonnull));

struct self_facts self_secret_facts(const struct self_secret *secret, const struct str_list *names,
                                    int64_t now_sec) __attribute__((nonnull));

/* Makes the objects that `steps` names. *ret_patch is a JSON merge patch that the API server
 * accepts only while the Secret is as it was read. */
int self_secret_change(const struct self_secret *secret, unsigned steps,
                       const struct config_self *settings, int64_t now_sec, struct arena *arena,
                       struct str *ret_patch) __attribute__((warn_unused_result, nonnull));

#endif
