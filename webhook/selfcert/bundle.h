/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SELFCERT_BUNDLE_H
#define WEBHOOK_SELFCERT_BUNDLE_H

/*
 * bundle - the caBundles of one ValidatingWebhookConfiguration, and what they lack.
 *
 * CAs are only ever added, and taken out when they have ended: replicas that know different ones do
 * not fight, and a certificate that another replica still serves stays trusted. So whoever wants to
 * be rid of a CA before its end empties both the Secret and the caBundle.
 *
 * Errors     0; -EBADMSG the text is no such object; -E2BIG more than SELF_MAX_WEBHOOKS; -ENOMEM.
 * Ownership  in the given arena.
 */

#include "webhook/tls/certificate.h"

#define SELF_MAX_WEBHOOKS 16

struct self_webhooks {
    struct str resource_version;
    struct certificate_bundle items[SELF_MAX_WEBHOOKS];
    size_t count;
};

int self_bundle_read(struct str json, struct arena *arena, struct self_webhooks *ret_webhooks)
    __attribute__((warn_unused_result, nonnull));

/* *ret_patch is a JSON patch that holds only for the object as it was read, and puts all of cas
 * that have not ended into every caBundle; absent where there is nothing to do. */
int self_bundle_mend(const struct self_webhooks *webhooks, const struct certificate_bundle *cas,
                     int64_t now_sec, struct arena *arena, struct str *ret_patch)
    __attribute__((warn_unused_result, nonnull));

/* Those of cas that are in all caBundles: all of them, where there are no webhooks. Returns their
 * count. */
size_t self_bundle_present(const struct self_webhooks *webhooks,
                           const struct certificate_bundle *cas,
                           struct certificate_id ret_ids[static CERTIFICATE_MAX_BUNDLE]);

#endif
