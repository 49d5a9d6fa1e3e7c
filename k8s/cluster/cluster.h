/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_CLUSTER_CLUSTER_H
#define K8S_CLUSTER_CLUSTER_H

/*
 * cluster - a source of snapshots: labelled ConfigMaps, Namespaces and, if asked for,
 * NetworkPolicies of an API server, by list and watch (gate-v1, sections 2 and 4; boundary-v1,
 * section 6).
 *
 * Its thread runs the watches, verifies evidence when it arrives, builds snapshots, and reads
 * objects that a request misses (confirmation). It puts each new snapshot into the given store, the
 * first one when all first lists are complete; a burst of events gives one snapshot. While the API
 * server cannot be reached, the last snapshot stays in use. Members of objects that no snapshot
 * needs are not kept.
 *
 * Errors     negative errno, with a reason where there is a parameter for it.
 * Ownership  options, and what they point to, must outlive the cluster. The cluster owns a keep
 *            that it is given (see snapshot.h).
 * Threads    any, unless stated otherwise. Callbacks are called by the cluster's thread and must
 *            not block. They can call cluster_ask(), and must not call cluster_free().
 * Units      in the names; deadlines are of the monotonic clock (clock_msec()), what the API server
 *            sent last has an age (clock_age_msec()).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "k8s/api/api.h"
#include "k8s/keyring/keyring.h"
#include "k8s/policy/policy.h"
#include "k8s/snapshot/snapshot.h"

#define CLUSTER_MAX_NAMESPACES 64 /* of the option `namespaces` */
#define CLUSTER_MAX_CONFIRMING 4  /* confirmation reads in progress (section 4) */
#define CLUSTER_MAX_CONFIRMED_PER_SEC 20
#define CLUSTER_BURST_MSEC 20     /* events within this time give one snapshot */
#define CLUSTER_BUILD_SHARE 20    /* building takes at most 1/20 of the time */
#define CLUSTER_REFRESH_MSEC 1000 /* shortest time between two refreshes */
/* Direct reads in a row that must fail before the API server counts as out of reach. */
#define CLUSTER_MAX_FAILED_READS 3
#define CLUSTER_OUT_OF_REACH_MSEC 1000 /* longest wait of a question then */

/* Events for a log. */
enum cluster_event_kind {
    CLUSTER_LISTED = 1, /* a list is complete */
    CLUSTER_FAILED,     /* a call failed; at the first failure, then once a minute */
    CLUSTER_RECOVERED,  /* the first success after CLUSTER_FAILED */
    CLUSTER_UNREADABLE, /* an object has the evidence label, but is not valid evidence */
};

struct cluster_event {
    enum cluster_event_kind kind;
    struct str what;    /* "configmaps", a kind of a namespace, or namespace/name; valid during the
                           call */
    struct str reason;  /* the message of the server, if there is one; valid during the call */
    uint64_t since_sec; /* FAILED, RECOVERED: duration without an event or response */
};

struct cluster_options {
    struct api *api;
    struct str own_namespace;
    struct str_list namespaces; /* in addition to own_namespace; empty: all */
    bool network_policies;      /* whether they are read; of the same namespaces */
    struct snapshot_store *store;
    uint32_t max_stale_sec; /* without news for longer than this, the snapshot is stale */
    void (*on_event)(void *context, const struct cluster_event *event); /* can be NULL */
    void *event_context;
};

struct cluster;

int cluster_new(const struct cluster_options *options, struct cluster **ret_cluster)
    __attribute__((warn_unused_result, nonnull));

/* Sets the keys and rules to verify with. Evidence that they certainly refuse (too few signers
 * left, digest revoked) becomes invalid at once; all other evidence is read and verified again.
 * Must be called before cluster_start(), and can be called at any time after it. The texts of
 * policy are valid as long as keep. */
int cluster_set_rules(struct cluster *cluster, const struct keyring *keyring,
                      const struct policy *policy, struct snapshot_keep keep)
    __attribute__((warn_unused_result, nonnull));

/* As the option. Any thread, at any time. */
void cluster_set_max_stale(struct cluster *cluster, uint32_t max_stale_sec)
    __attribute__((nonnull));

int cluster_start(struct cluster *cluster) __attribute__((warn_unused_result, nonnull));
/* Ends the thread; waiters get -ESHUTDOWN. NULL is allowed. */
void cluster_free(struct cluster *cluster);

/* Whether the store has a first snapshot: all first lists are complete. */
bool cluster_ready(const struct cluster *cluster);

/* For commands: lists once and puts a snapshot, without a watch. Blocks. Must not be used together
 * with cluster_start(). -EACCES: the server refuses access; -ETIMEDOUT; -EIO, -ENOMEM; each with a
 * reason. */
int cluster_read_once(struct cluster *cluster, uint64_t deadline_msec, struct arena *arena,
                      struct str *reterr_reason) __attribute__((warn_unused_result, nonnull));

/* ---- questions of waiting requests ---- */

enum cluster_question {
    CLUSTER_NAMESPACE = 1, /* read this Namespace, which the snapshot does not have */
    CLUSTER_EVIDENCE,      /* list the evidence of this namespace and of the gate's own */
    CLUSTER_FRESH,         /* list everything again: the snapshot is stale */
};

/*
 * A question. Owned by the caller; must stay valid until the cluster's thread has called `done`,
 * which it does exactly once, possibly before cluster_ask() returns. result:
 *   0           the snapshot in the store has the answer, which can be that there is no such object
 *   -ETIMEDOUT  the deadline passed
 *   -EBUSY      the limits of section 4 are reached
 *   -EIO        the API server did not answer, or is out of reach, so check the snapshot in the
 * store again: it has everything that arrived before; or this gate does not read the namespace
 *   -ENOMEM
 *   -ESHUTDOWN  the cluster ends
 */
struct cluster_waiter {
    uint64_t deadline_msec;
    void (*done)(struct cluster_waiter *waiter, int result);

    /* private to the files of this directory */
    struct cluster_waiter *next;
    enum cluster_question question;
    struct str namespace_name;     /* borrowed */
    struct cluster_read *reads[2]; /* that it still waits for; NULL: none */
    bool refresh;                  /* whether it still waits for a refresh */
    int failed;                    /* its result after the next snapshot; 0: no failure */
    int late;                      /* its result at the deadline */
};

/* 0, or an error as for `done`, which is not called then. */
int cluster_ask(struct cluster *cluster, enum cluster_question question, struct str namespace_name,
                struct cluster_waiter *waiter) __attribute__((warn_unused_result, nonnull));

/* Whether a watch has had no event, bookmark or list for the time of the option. While this is so,
 * the cluster reads by itself, so that it notices when the API server answers again. */
bool cluster_is_stale(const struct cluster *cluster);

struct cluster_status {
    bool ready;
    uint64_t last_event_age_msec;     /* of the watch with the oldest last event */
    uint64_t relists;                 /* complete lists after the first ones */
    uint64_t failures;                /* calls that failed */
    bool stale;                       /* only after a first snapshot */
    uint64_t failed_reads;            /* direct reads (all but watches) that failed in a row */
    uint64_t failed_read_age_msec;    /* of the last one; UINT64_MAX: none failed */
    uint64_t confirmations;           /* confirmation reads */
    uint64_t confirmations_refused;   /* with -EBUSY */
    uint64_t config_maps, namespaces; /* known objects */
    uint64_t network_policies;        /* the same */
};

void cluster_read_status(const struct cluster *cluster, struct cluster_status *ret_status)
    __attribute__((nonnull));

#endif
