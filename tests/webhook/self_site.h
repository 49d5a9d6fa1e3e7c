/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SELF_SITE_H
#define TESTS_SELF_SITE_H

/*
 * self_site - replicas of a gate around one fake API server, with clocks that tests turn.
 */

#include "self_fake.h"
#include "webhook/selfcert/reconcile.h"

#define SITE_REPLICAS 2
#define SITE_START_SEC INT64_C(1767225600) /* 2026-01-01 */
#define SITE_DAY_SEC INT64_C(86400)

struct site {
    struct fake fake;
    struct config *config;
    struct log log;
    struct self_replica replicas[SITE_REPLICAS];
    int64_t skew_sec[SITE_REPLICAS]; /* of a replica's wall clock */
    int64_t now_sec;
    uint64_t now_msec;
};

/* CAs of 90 days, certificates of 9, one name. The log is a file without a name. */
void site_open(struct site *site);
void site_done(struct site *site);

void site_reconcile(struct site *site, size_t replica);
/* All replicas look every so many seconds, for so long. */
void site_live(struct site *site, int64_t seconds, int64_t step_sec);
/* A replica that knows nothing. */
void site_restart(struct site *site, size_t replica);
void site_set_names(struct site *site, const struct str_list *names);
/* All that was logged, in the arena. */
struct str site_log(const struct site *site, struct arena *arena);

/* Whether a CA is in all caBundles. */
bool site_covers(const struct site *site, const struct certificate_id *ca);

#endif
