/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_CLUSTER_INTERNAL_H
#define K8S_CLUSTER_INTERNAL_H

/*
 * internal - what a cluster is made of; private to cluster*.c.
 *
 * state.c            what all of them use
 * cluster.c          the thread, its turn, what comes from other threads
 * feed.c     one list and watch: its calls, what is told of them
 * object.c   objects that came: verified, kept, gone
 * tally.c    how many that are not valid are kept
 * build.c    snapshots, and rules that change
 * confirm.c  waiters and the reads that they wait for
 *
 * Threads    everything belongs to the cluster's thread but what is marked.
 */

#include <pthread.h>
#include <stdatomic.h>

#include "k8s/cluster/cluster.h"
#include "k8s/reflector/reflector.h"
#include "k8s/util/digest.h"
#include "k8s/util/refcount.h"

#define CLUSTER_SELECTOR "labelSelector=sandbox.runx.dev%2Fevidence%3Dtrue"
#define CLUSTER_LIST_SEC 120     /* a list, or a page of one, at most */
#define CLUSTER_LIST_IDLE_SEC 30 /* without a byte */
/* Two bookmarks that did not come: the watch may be dead. Then a list, before the snapshot counts
 * as stale. */
#define CLUSTER_SILENT_SEC 130
#define CLUSTER_WATCH_GRACE_SEC 30     /* beyond the end that the server was told */
#define CLUSTER_READ_SEC 10            /* a confirmation's read */
#define CLUSTER_NOTIFY_SEC 60          /* from one word on a failure to the next */
#define CLUSTER_RETRY_MSEC 1000        /* where memory was short */
#define CLUSTER_TURN_MSEC 1000         /* at most */
#define CLUSTER_MAX_TOLD_UNREADABLE 60 /* in CLUSTER_NOTIFY_SEC */
#define CLUSTER_MAX_NAME_BYTES 253
#define CLUSTER_MAX_PROBLEM_BYTES (REFLECTOR_MAX_REASON_BYTES + 128) /* with a remedy */

/* Keyring and policy with their count: each snapshot holds one. */
struct cluster_rules {
    struct refcount count;
    struct keyring *keyring;
    struct policy policy;
    struct snapshot_keep keep;
    unsigned char digest[DIGEST_BYTES];
};

enum cluster_kind { CLUSTER_CONFIG_MAPS = 1, CLUSTER_NAMESPACES };

/* One list and watch. */
struct cluster_feed {
    struct cluster *cluster;
    enum cluster_kind kind;
    struct str namespace_name; /* the only one; empty: all */
    struct str what;           /* for event */
    struct reflector *reflector;
    bool planned; /* task is to be asked at begin_msec */
    struct reflector_task task;
    uint64_t begin_msec;
    struct api_call *call;     /* under way */
    int error;                 /* of what came of it */
    uint64_t lists;            /* that were told of */
    uint64_t refresh_lists;    /* complete lists when the last refresh began */
    uint64_t refresh_failures; /* failures then */

    bool failing;
    uint64_t failing_msec; /* since when */
    uint64_t told_msec;
    int failed_status;                       /* of the last failure; 0: none came */
    char problem[CLUSTER_MAX_PROBLEM_BYTES]; /* of the last call, where it failed */
};

/* One read beside the watches. */
struct cluster_read {
    struct cluster_read *next;
    struct cluster_feed *feed; /* where its objects go */
    struct reflector_merge *merge;
    struct api_call *call; /* NULL: not begun */
    int error;
    size_t namespace_len;
    char namespace_name[];
};

/* What other threads can read. Only each member is consistent, not all of them together. */
struct cluster_shared {
    _Atomic bool ready;               /* released after the first snapshot is in the store */
    _Atomic uint64_t last_event_msec; /* of the feed with the oldest last event; 0: none yet */
    _Atomic uint64_t relists, failures, confirmations, refused, config_maps, namespaces;
};

struct cluster {
    struct cluster_options options;
    struct arena arena; /* texts of the feeds */
    struct api_loop *loop;
    struct cluster_feed *feeds;
    size_t feed_count;
    bool once; /* lists only */

    pthread_t thread;
    bool started;
    pthread_mutex_t lock;               /* for the next three */
    struct cluster_waiter *asked;       /* not taken up yet, the last first */
    struct cluster_rules *coming_rules; /* owned; NULL: none */
    bool stopping;
    struct cluster_shared shared;

    struct cluster_rules *rules;
    void *tallies;       /* of tsearch(), by namespace */
    bool dirty;          /* the store's snapshot is not what is known */
    bool urgent;         /* and must not wait for more */
    bool listed;         /* a whole list has come since */
    uint64_t dirty_msec; /* since when */
    uint64_t built_msec; /* when the last one was done */
    uint64_t cost_msec;  /* what it took */
    uint64_t retry_msec; /* not before; memory was short */

    struct cluster_waiter *waiters;
    struct cluster_read *reads;
    uint64_t read_msec[CLUSTER_MAX_CONFIRMED_PER_SEC]; /* when the last ones began: a ring */
    size_t read_count;                                 /* ever begun */
    bool refreshing;
    uint64_t refresh_msec; /* when the last one began */
    uint64_t read_told_msec;
    uint64_t read_failures;

    uint64_t unreadable_msec; /* since when they are counted */
    unsigned unreadable_told;
};

/* ---- state.c ---- */

/* The earlier of two moments; 0 is none. */
uint64_t cluster_earlier(uint64_t a, uint64_t b);
void cluster_notify(const struct cluster *cluster, const struct cluster_event *event);
/* The snapshot in the store is older than what is known now. */
void cluster_mark_dirty(struct cluster *cluster);

/* ---- feed.c ---- */

int cluster_feeds_new(struct cluster *cluster) __attribute__((warn_unused_result));
void cluster_feeds_free(struct cluster *cluster);
/* Asks what is to be asked now. */
void cluster_feeds_run(struct cluster *cluster, uint64_t now_msec);
/* When the next of them has something to ask; 0: never. */
uint64_t cluster_feeds_next(const struct cluster *cluster);
void cluster_feed_relist(struct cluster_feed *feed, enum reflector_relist how);
bool cluster_feeds_listed(const struct cluster *cluster);
struct cluster_feed *cluster_feed_find(struct cluster *cluster, enum cluster_kind kind,
                                       struct str namespace_name);

/* ---- object.c ---- */

struct reflector_sink cluster_sink(struct cluster_feed *feed);
const struct document_shape *cluster_members(enum cluster_kind kind);

/* ---- tally.c ---- */

/* One record takes the place of another; either may be NULL. *now becomes the record that stands
 * for all that are only counted, where there is no room for more that are not valid. Cannot fail
 * where *now is NULL. */
int cluster_tally_replace(struct cluster *cluster, const struct evidence *before,
                          struct evidence **now) __attribute__((warn_unused_result));
int cluster_tally_add(const struct cluster *cluster, struct snapshot_builder *builder)
    __attribute__((warn_unused_result));
void cluster_tally_free(struct cluster *cluster);

/* ---- build.c ---- */

int cluster_rules_new(const struct keyring *keyring, const struct policy *policy,
                      struct snapshot_keep keep, struct cluster_rules **ret_rules)
    __attribute__((warn_unused_result));
void cluster_rules_unref(void *rules);
/* Takes the rules over where it succeeds. */
int cluster_adopt_rules(struct cluster *cluster, struct cluster_rules *rules, uint64_t now_msec)
    __attribute__((warn_unused_result));
/* Puts a snapshot where one is due. */
void cluster_build(struct cluster *cluster, uint64_t now_msec);
uint64_t cluster_build_next(const struct cluster *cluster);

/* ---- confirm.c ---- */

void cluster_take_waiter(struct cluster *cluster, struct cluster_waiter *waiter);
/* Begins reads, ends waits. */
void cluster_confirm_run(struct cluster *cluster, uint64_t now_msec);
uint64_t cluster_confirm_next(const struct cluster *cluster);
/* Whether someone waits for a snapshot of what is known now. */
bool cluster_snapshot_wanted(const struct cluster *cluster);
/* Ends the waits for a refresh when all feeds have listed since it began, or one has failed. */
void cluster_refresh_check(struct cluster *cluster);
/* Every waiter there is. */
void cluster_confirm_end(struct cluster *cluster, int result);
void cluster_reads_free(struct cluster *cluster);

#endif
