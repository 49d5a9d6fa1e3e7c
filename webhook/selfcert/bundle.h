/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SELFCERT_BUNDLE_H
#define WEBHOOK_SELFCERT_BUNDLE_H

/*
 * bundle - the caBundles of one ValidatingWebhookConfiguration: reads them, and adds missing CAs.
 *
 * A CA is removed only after it has expired. So replicas that know different CAs do not overwrite
 * each other, and a certificate that another replica still serves stays trusted. To remove a CA
 * earlier, an administrator has to empty both the Secret and the caBundle.
 *
 * Errors     0; -EBADMSG the text is not such an object; -E2BIG more than SELF_MAX_WEBHOOKS;
 *            -ENOMEM.
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

/* *ret_patch is a JSON patch that adds all of cas that have not expired to every caBundle. The API
 * server accepts it only while the object is as it was read. Absent where there is nothing to do.
 */
int self_bundle_add(const struct self_webhooks *webhooks, const struct certificate_bundle *cas,
                    int64_t now_sec, struct arena *arena, struct str *ret_patch)
    __attribute__((warn_unused_result, nonnull));

/* Those of cas that are in all caBundles; all of cas where there are no webhooks. Returns their
 * count. */
size_t self_bundle_present(const struct self_webhooks *webhooks,
                           const struct certificate_bundle *cas,
                           struct certificate_id ret_ids[static CERTIFICATE_MAX_BUNDLE]);

#endif
