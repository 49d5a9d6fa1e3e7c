/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SELFCERT_RECONCILE_H
#define WEBHOOK_SELFCERT_RECONCILE_H

/*
 * reconcile - one pass over the Secret and the caBundles: reads them, makes and writes what is
 * missing, and starts to serve the certificate. The times are arguments, so tests can run through
 * years.
 *
 * Errors     none are returned: a failure is in `failed`, and logged when it begins, hourly, and
 *            when it ends.
 * Ownership  self_replica_done() frees and overwrites what a replica holds; api, log and
 *            configuration are borrowed.
 * Threads    one.
 */

#include "k8s/api/api.h"
#include "webhook/config/config.h"
#include "webhook/selfcert/plan.h"
#include "webhook/util/log.h"

#define SELF_CALL_MSEC 5000 /* one call to the API server */

/* Why a replica is not ready, or what fails while it is ready. */
enum self_why {
    SELF_READY = 0,
    SELF_STARTING,
    SELF_SECRET_UNREACHABLE,
    SELF_SECRET_MISSING,
    SELF_SECRET_NO_GET,
    SELF_SECRET_NO_PATCH,
    SELF_SECRET_FAILED,
    SELF_WEBHOOKS_UNREACHABLE,
    SELF_WEBHOOKS_MISSING,
    SELF_WEBHOOKS_NO_GET,
    SELF_WEBHOOKS_NO_PATCH,
    SELF_WEBHOOKS_FAILED,
    SELF_TOO_MANY_WRITES, /* the limit of writes is reached */
    SELF_CA_NOT_PUBLISHED,
    SELF_EXPIRED,
    SELF_MEMORY,
    SELF_WHY_COUNT
};

/* A sentence for people that begins with `not ready: `; NULL for SELF_READY. Static. */
const char *self_why_text(enum self_why why);
/* The same without `not ready: `, for a replica that can be ready in spite of it. */
const char *self_why_detail(enum self_why why);

/* The certificate that is served. */
struct self_serving {
    struct arena arena; /* owns the texts */
    struct certificate_pair pair;
    struct certificate_id id;
    struct certificate_id ca;
    struct self_validity span; /* zeroes: none yet */
};

struct self_replica {
    struct api *api;
    const struct log *log;
    unsigned jitter;

    struct self_serving serving;
    uint64_t generation; /* increases with each change of `serving` */
    bool ca_published; /* its CA was seen in all caBundles, or tls.self.webhookConfiguration is not
                          set */
    enum self_why why; /* why it is not ready */
    enum self_why failed; /* what failed in the last pass */

    struct self_seen seen;
    struct self_quota quota;
    enum self_why logged; /* the failure that was logged last */
    uint64_t logged_msec;
    uint64_t overdue_logged_msec; /* 0: never */
};

void self_reconcile(struct self_replica *replica, const struct config *config, int64_t now_sec,
                    uint64_t now_msec) __attribute__((nonnull));
void self_replica_done(struct self_replica *replica);

#endif
