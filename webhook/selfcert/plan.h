/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SELFCERT_PLAN_H
#define WEBHOOK_SELFCERT_PLAN_H

/*
 * plan - when the certificates that the gate makes itself are made, exchanged and served. Pure:
 * times and observations are arguments, and nothing is made here.
 *
 * One Secret holds all of them, and every replica follows the same plan. The first write wins; the
 * other replicas read again. In the last third of a CA's life a `next` CA is made, and only
 * published. When a replica has seen it in every caBundle for SELF_SETTLE_MSEC, it becomes the CA
 * that signs, and the former one stays published until it expires. So no certificate is served
 * whose CA the API server does not know, in whatever order the replicas read and write.
 *
 * Units      seconds since 1970 of the wall clock; milliseconds of the monotonic clock.
 */

#include <stdbool.h>
#include <stdint.h>

#include "webhook/tls/certificate.h"

#define SELF_SETTLE_MSEC (UINT64_C(120) * 1000) /* longer than any replica needs for two passes */
#define SELF_MAX_CAS 8                          /* in the Secret */
#define SELF_MAX_WRITES 4                       /* by one replica in SELF_WRITES_MSEC */
#define SELF_WRITES_MSEC (UINT64_C(3600) * 1000)
#define SELF_FULL_JITTER 1000

/* When something is valid; zeroes: it does not exist. */
struct self_validity {
    int64_t from_sec;
    int64_t to_sec;
};

/* The content of the Secret. A CA without its own key does not count. */
struct self_facts {
    struct self_validity ca;      /* the CA that signs */
    struct self_validity next;    /* the CA that signs after it */
    struct self_validity serving; /* certificate with its key */
    bool serving_by_ca;           /* signed by `ca` */
    bool serving_named;           /* it has all names of tls.self.dnsNames */
    bool old_ended;               /* a former CA ended more than a day ago */
};

struct self_view {
    int64_t now_sec;
    uint32_t certificate_days;
    unsigned jitter;   /* 0 to SELF_FULL_JITTER, so that usually only one replica renews */
    bool watched;      /* the gate maintains the caBundles */
    bool next_settled; /* `next` was in all of them for SELF_SETTLE_MSEC */
};

enum self_step {
    SELF_MAKE_CA = 1 << 0,
    SELF_MAKE_NEXT = 1 << 1,
    SELF_PROMOTE = 1 << 2, /* `next` becomes the CA that signs */
    SELF_MAKE_SERVING = 1 << 3,
    SELF_DROP_OLD = 1 << 4,
};

struct self_plan {
    unsigned steps;  /* of enum self_step; 0: nothing to do */
    const char *why; /* the reason for the most important step; set where steps is not 0 */
};

struct self_plan self_plan(const struct self_facts *facts, const struct self_view *view)
    __attribute__((nonnull));

bool self_is_valid(struct self_validity span, int64_t now_sec);

/* Whether it should have been renewed long ago: five sixths of its life are over. */
bool self_is_overdue(struct self_validity span, int64_t now_sec);

/* What decides whether a certificate replaces the one that is served. */
struct self_offer {
    struct self_validity current; /* zeroes: none is served yet */
    struct self_validity offered;
    bool same_ca;
    bool settled; /* the API server knows the CA of the offered one, or the gate maintains no
                     caBundles */
};

bool self_may_serve(const struct self_offer *offer, int64_t now_sec) __attribute__((nonnull));

/* ---- since when each CA has been in all caBundles ---- */

struct self_seen {
    struct {
        struct certificate_id id;
        uint64_t since_msec;
    } items[CERTIFICATE_MAX_BUNDLE];
    size_t count;
};

/* Notes the CAs that are in all caBundles now. The time of a CA that disappears and returns begins
 * again. */
void self_seen_update(struct self_seen *seen, const struct certificate_id *ids, size_t count,
                      uint64_t now_msec) __attribute__((nonnull(1)));
bool self_seen_is(const struct self_seen *seen, const struct certificate_id *id);
bool self_seen_settled(const struct self_seen *seen, const struct certificate_id *id,
                       uint64_t now_msec);

/* ---- a limit of writes for each replica ---- */

struct self_quota {
    uint64_t at_msec[SELF_MAX_WRITES]; /* of the last writes; 0: none */
};

/* True: the caller can write once. False: the limit is reached. The reason for the limit: two
 * replicas whose clocks or configurations differ must not replace each other's certificates without
 * end. */
bool self_quota_take(struct self_quota *quota, uint64_t now_msec) __attribute__((nonnull));

#endif
