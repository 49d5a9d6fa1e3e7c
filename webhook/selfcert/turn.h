/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SELFCERT_TURN_H
#define WEBHOOK_SELFCERT_TURN_H

/*
 * turn - one look at the Secret and at the caBundles, and what has to be done about them: the
 * part of self_tls that asks the API server. The moments are arguments, so that tests live through
 * years.
 *
 * Errors     none: what went wrong is in `why`, and logged when it begins, hourly, and when it
 * ends. Ownership  self_replica_done() frees and overwrites what a replica holds; api, log and
 * settings are borrowed. Threads    one.
 */

#include "k8s/api/api.h"
#include "webhook/config/config.h"
#include "webhook/util/log.h"
#include "webhook/selfcert/plan.h"

#define SELF_CALL_MSEC 5000 /* one call to the API server */

/* Why a replica is not ready, or what goes wrong while it is. */
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
    SELF_CROWDED, /* written too often */
    SELF_UNCOVERED,
    SELF_ENDED,
    SELF_MEMORY,
    SELF_WHY_COUNT
};

/* For people, with what to do; NULL for SELF_READY. */
const char *self_why_text(enum self_why why);

/* What is served. */
struct self_serving {
    struct arena arena; /* owns the texts */
    struct certificate_pair pair;
    struct certificate_id id;
    struct certificate_id ca;
    struct self_span span; /* zeroes: nothing yet */
};

struct self_replica {
    struct api *api;
    const struct log *log;
    unsigned jitter;

    struct self_serving serving;
    uint64_t generation;  /* changes with `serving` */
    bool covered;         /* its CA was seen in all caBundles, or nobody watches */
    enum self_why why;    /* why it is not ready */
    enum self_why failed; /* what went wrong in the last turn */

    struct self_seen seen;
    struct self_pace pace;
    enum self_why told; /* what was logged last */
    uint64_t told_msec;
    uint64_t overdue_told_msec; /* 0: not yet */
};

void self_turn(struct self_replica *replica, const struct config *config, int64_t now_sec,
               uint64_t now_msec) __attribute__((nonnull));
void self_replica_done(struct self_replica *replica);

#endif
