/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SELFCERT_PLAN_H
#define WEBHOOK_SELFCERT_PLAN_H

/*
 * plan - when certificates that the gate makes itself are made, exchanged and served. Pure:
 * moments and observations are arguments, nothing is made here.
 *
 * One Secret holds it all, and every replica does the same with it: whoever writes first wins, the
 * others read again. A CA's life: in its last third a `next` one is made and only published. Once
 * a replica has seen it in every caBundle for SELF_SETTLE_MSEC, it becomes the one that signs; the
 * former stays published until it ends. So no certificate is served whose CA the API server does
 * not know, however replicas and their readings are interleaved.
 *
 * Units      seconds since 1970 of the wall clock; milliseconds of the monotonic one.
 */

#include <stdbool.h>
#include <stdint.h>

#include "webhook/tls/certificate.h"

#define SELF_SETTLE_MSEC (UINT64_C(120) * 1000) /* more than every replica needs for two looks */
#define SELF_MAX_CAS 8                          /* kept in the Secret */
#define SELF_MAX_WRITES 4                       /* of one replica in SELF_WRITES_MSEC */
#define SELF_WRITES_MSEC (UINT64_C(3600) * 1000)
#define SELF_FULL_JITTER 1000

/* When something is valid; zeroes: it is not there. */
struct self_span {
    int64_t from_sec;
    int64_t to_sec;
};

/* What the Secret holds. A CA counts only with the key that is its own. */
struct self_facts {
    struct self_span ca;      /* the one that signs */
    struct self_span next;    /* the one that will */
    struct self_span serving; /* certificate with its key */
    bool serving_by_ca;       /* signed by the first */
    bool serving_named;       /* it has all names that are asked for */
    bool old_ended;           /* a former CA ended more than a day ago */
};

struct self_view {
    int64_t now_sec;
    uint32_t certificate_days;
    unsigned jitter;   /* 0 to SELF_FULL_JITTER: replicas differ, so that mostly one renews */
    bool watched;      /* caBundles are ours to keep */
    bool next_settled; /* `next` was in all of them for long enough */
};

enum self_step {
    SELF_MAKE_CA = 1 << 0,
    SELF_MAKE_NEXT = 1 << 1,
    SELF_PROMOTE = 1 << 2, /* next becomes the one that signs */
    SELF_MAKE_SERVING = 1 << 3,
    SELF_DROP_OLD = 1 << 4,
};

struct self_plan {
    unsigned steps;  /* of enum self_step; 0: all is well */
    const char *why; /* for people, of the weightiest step */
};

struct self_plan self_plan(const struct self_facts *facts, const struct self_view *view)
    __attribute__((nonnull));

bool self_is_valid(struct self_span span, int64_t now_sec);

/* A moment by which what was to be renewed should long have been: five sixths of its life. */
bool self_is_overdue(struct self_span span, int64_t now_sec);

/* Whether a certificate may be served in the place of the current one. */
struct self_offer {
    struct self_span current; /* zeroes: nothing is served yet */
    struct self_span offered;
    bool same_ca;
    bool settled; /* the offered one's CA is known to the API server, or nobody watches */
};

bool self_may_serve(const struct self_offer *offer, int64_t now_sec) __attribute__((nonnull));

/* ---- since when CAs are in all caBundles ---- */

struct self_seen {
    struct {
        struct certificate_id id;
        uint64_t since_msec;
    } items[CERTIFICATE_MAX_BUNDLE];
    size_t count;
};

/* What is there now; what is no more begins anew when it comes back. */
void self_seen_update(struct self_seen *seen, const struct certificate_id *ids, size_t count,
                      uint64_t now_msec) __attribute__((nonnull(1)));
bool self_seen_is(const struct self_seen *seen, const struct certificate_id *id);
bool self_seen_settled(const struct self_seen *seen, const struct certificate_id *id,
                       uint64_t now_msec);

/* ---- how often one replica may write ---- */

struct self_pace {
    uint64_t at_msec[SELF_MAX_WRITES]; /* the last writes; 0: none */
};

/* Takes one of the writes, or says that there is none left: two replicas whose clocks or
 * configurations differ must not make certificates against each other for ever. */
bool self_pace_take(struct self_pace *pace, uint64_t now_msec) __attribute__((nonnull));

#endif
