/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SELFCERT_SECRET_H
#define WEBHOOK_SELFCERT_SECRET_H

/*
 * secret - the one Secret in which the gate keeps what it made, read and written anew.
 *
 *   tls.crt, tls.key   what is served
 *   ca.crt             all CAs that count: the one that signs, the next one, former ones
 *   ca.key             of the one that signs
 *   next-ca.key        of the next one, where there is one
 *
 * Errors     0; -EBADMSG the text is no Secret; -EIO the crypto library failed; -ENOMEM. What is
 *            wrong inside of the Secret is no error: it counts as not there.
 * Ownership  in the given arena, keys among it: arena_wipe().
 */

#include "webhook/config/config.h"
#include "webhook/selfcert/plan.h"

struct self_secret {
    struct str resource_version;
    struct certificate_bundle cas;
    struct certificate ca; /* pem absent: none with its key */
    struct str ca_key;
    struct certificate next; /* likewise */
    struct str next_key;
    struct certificate serving; /* likewise */
    struct str serving_key;
    struct certificate_id serving_ca; /* which of cas signed it */
    bool serving_trusted;             /* one did */
    const char *flaw;                 /* what cannot be used, for people; NULL: nothing */
};

int self_secret_read(struct str json, struct arena *arena, struct self_secret *ret_secret)
    __attribute__((warn_unused_result, nonnull));

struct self_facts self_secret_facts(const struct self_secret *secret, const struct str_list *names,
                                    int64_t now_sec) __attribute__((nonnull));

/* Takes the steps; *ret_patch is a JSON merge patch that holds only for the Secret as it was read.
 */
int self_secret_change(const struct self_secret *secret, unsigned steps,
                       const struct config_self *settings, int64_t now_sec, struct arena *arena,
                       struct str *ret_patch) __attribute__((warn_unused_result, nonnull));

#endif
