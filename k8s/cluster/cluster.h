/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_CLUSTER_CLUSTER_H
#define K8S_CLUSTER_CLUSTER_H

/*
 * cluster - a source of snapshots: labelled ConfigMaps and Namespaces of an API server, by list
 * and watch (gate-v1, sections 2 and 4).
 *
 * One thread of its own does all of it: the watches, the verifying of what arrives, the building
 * of snapshots, the confirmation of misses. It puts each new snapshot into the store it was given,
 * the first one when all first lists have come; a burst of events becomes one. While the API server
 * is away the last snapshot stays. What no snapshot needs of an object is not kept.
 *
 * Errors     negative errno, with a reason where one is asked for.
 * Ownership  options and what they point to outlive the cluster. Whoever is given a keep takes it
 *            over (snapshot.h).
 * Threads    any, where not said otherwise. Callbacks come from the cluster's thread and must not
 *            block; they may ask again, and must not free the cluster.
 * Units      in the names; msec are of the monotonic clock (clock_msec()).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "k8s/api/api.h"
#include "k8s/keyring/keyring.h"
#include "k8s/policy/policy.h"
#include "k8s/snapshot/snapshot.h"

#define CLUSTER_MAX_NAMESPACES 64 /* named ones */
#define CLUSTER_MAX_CONFIRMING 4  /* reads at once (section 4) */
#define CLUSTER_MAX_CONFIRMED_PER_SEC 20
#define CLUSTER_BURST_MSEC 20     /* events of so long become one snapshot */
#define CLUSTER_BUILD_SHARE 20    /* building snapshots takes at most this part of the time */
#define CLUSTER_REFRESH_MSEC 1000 /* from one refresh to the next */

/* For a log: what happened, in a sentence. */
enum cluster_event_kind {
    CLUSTER_LISTED = 1, /* a first or a new whole list */
    CLUSTER_FAILED,     /* a call failed; the first of a row, then once a minute */
    CLUSTER_RECOVERED,
    CLUSTER_UNREADABLE, /* an object that cannot be used as what it says it is */
};

struct cluster_event {
    enum cluster_event_kind kind;
    struct str what;    /* "configmaps", "namespaces", or namespace/name */
    struct str reason;  /* the server's own words where there are some */
    uint64_t since_sec; /* FAILED, RECOVERED: how long nothing was heard; texts live for the call */
};

struct cluster_options {
    struct api *api;
    struct str own_namespace;
    struct str_list namespaces; /* named ones, beside the gate's own; empty: all */
    struct snapshot_store *store;
    void (*on_event)(void *context, const struct cluster_event *event); /* may be NULL */
    void *event_context;
};

struct cluster;

int cluster_new(const struct cluster_options *options, struct cluster **ret_cluster)
    __attribute__((warn_unused_result, nonnull));

/* Keys and rules to verify by, from now on. What they surely refuse ends at once (too few signers
 * left, a digest revoked), all else is read and verified anew. Once before the start, and at any
 * time after. policy's texts live as long as keep. */
int cluster_set_rules(struct cluster *cluster, const struct keyring *keyring,
                      const struct policy *policy, struct snapshot_keep keep)
    __attribute__((warn_unused_result, nonnull));

int cluster_start(struct cluster *cluster) __attribute__((warn_unused_result, nonnull));
/* Ends the thread; waiters are told -ESHUTDOWN. NULL is allowed. */
void cluster_free(struct cluster *cluster);

/* Whether the first full lists have come, and so the first snapshot. */
bool cluster_ready(const struct cluster *cluster);

/* Lists once and puts a snapshot, without watching: for commands. Blocks; must not be mixed with
 * cluster_start(). -EACCES: the server refuses; -ETIMEDOUT; -EIO, -ENOMEM: the reason says why. */
int cluster_read_once(struct cluster *cluster, uint64_t deadline_msec, struct arena *arena,
                      struct str *reterr_reason) __attribute__((warn_unused_result, nonnull));

/* ---- what a request waits for ---- */

enum cluster_question {
    CLUSTER_NAMESPACE = 1, /* read this Namespace: the watch has not shown it */
    CLUSTER_EVIDENCE,      /* list evidence of this namespace and of the gate's own */
    CLUSTER_FRESH,         /* hear from the API server again: the snapshot is stale */
};

/*
 * The asker's memory; stays in place until done was called, which is exactly once and from the
 * cluster's thread: it may be before cluster_ask() has returned there. result:
 *   0           the store's snapshot has the answer, also where it is "no such thing"
 *   -ETIMEDOUT  the waiter's deadline passed
 *   -EBUSY      more than the bounds of section 4 allow
 *   -EIO        the API server did not say (the store's snapshot has all that came before that:
 *               look at it again); a namespace that this gate may not read
 *   -ENOMEM
 *   -ESHUTDOWN
 */
struct cluster_waiter {
    uint64_t deadline_msec;
    void (*done)(struct cluster_waiter *waiter, int result);

    /* private to cluster*.c */
    struct cluster_waiter *next;
    enum cluster_question question;
    struct str namespace_name;     /* borrowed from the asker */
    struct cluster_read *reads[2]; /* that it still waits for */
    bool refresh;                  /* likewise */
    int failed;                    /* what it is told once the snapshot is built; 0: nothing did */
};

/* 0, or an error as for done, which is then not called. */
int cluster_ask(struct cluster *cluster, enum cluster_question question, struct str namespace_name,
                struct cluster_waiter *waiter) __attribute__((warn_unused_result, nonnull));

/* Whether so much time went by without event, bookmark or list of either kind. */
bool cluster_is_stale(const struct cluster *cluster, uint32_t max_stale_sec);

struct cluster_status {
    bool ready;
    uint64_t last_event_age_msec; /* of the watch that was silent longest */
    uint64_t relists;             /* full lists after the first */
    uint64_t failures;            /* calls that failed */
    uint64_t confirmations;       /* reads made for misses */
    uint64_t confirmations_refused;
    uint64_t config_maps, namespaces; /* known */
};

void cluster_read_status(const struct cluster *cluster, struct cluster_status *ret_status)
    __attribute__((nonnull));

#endif
