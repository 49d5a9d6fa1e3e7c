/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SELF_SITE_H
#define TESTS_SELF_SITE_H

/*
 * self_site - replicas of a gate with one fake API server, and clocks that the tests set.
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
    int64_t skew_sec[SITE_REPLICAS]; /* of the wall clock of each replica */
    int64_t now_sec;
    uint64_t now_msec;
};

/* CAs for 90 days, certificates for 9, one name. The log is an unnamed file. */
void site_open(struct site *site);
void site_done(struct site *site);

void site_reconcile(struct site *site, size_t replica);
/* All replicas take a turn at this interval, for this time, in seconds. */
void site_live(struct site *site, int64_t seconds, int64_t step_sec);
/* Restarts a replica without any state. */
void site_restart(struct site *site, size_t replica);
void site_set_names(struct site *site, const struct str_list *names);
/* The whole log, in the arena. */
struct str site_log(const struct site *site, struct arena *arena);

/* Whether the CA is in every caBundle. */
bool site_covers(const struct site *site, const struct certificate_id *ca);

#endif
