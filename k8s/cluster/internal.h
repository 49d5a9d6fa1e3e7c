/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_CLUSTER_INTERNAL_H
#define K8S_CLUSTER_INTERNAL_H

/*
 * internal - the members of a cluster; for the files of this directory only.
 *
 * state.c    small operations for all files
 * cluster.c  the thread; what other threads ask
 * feed.c     one list and watch: its calls, its events for the log
 * object.c   arrived objects: verified and kept, or dropped
 * invalid.c  limits the records of a namespace
 * copies.c   documents with equal bytes
 * build.c    snapshots; changes of rules
 * confirm.c  questions: what they need; begins and ends it
 * reads.c    confirmation reads
 * share.c    their limits, and the share of each namespace
 * fresh.c    refreshes of a stale snapshot
 * probe.c    reads that a stale cluster makes by itself
 * waiter.c   ends the waits of requests
 *
 * Threads    everything belongs to the cluster's thread, unless stated otherwise.
 */

#include <pthread.h>
#include <stdatomic.h>

#include "k8s/cluster/cluster.h"
#include "k8s/reflector/reflector.h"
#include "k8s/util/digest.h"
#include "k8s/util/refcount.h"

#define CLUSTER_SELECTOR "labelSelector=sandbox.runx.dev%2Fevidence%3Dtrue"
#define CLUSTER_LIST_SEC 120     /* longest duration of a list or a page */
#define CLUSTER_LIST_IDLE_SEC 30 /* longest time without a byte */
/* Two bookmarks are missing: the watch can be dead. A new list is requested, before the snapshot
 * becomes stale. */
#define CLUSTER_SILENT_SEC 130
#define CLUSTER_WATCH_GRACE_SEC 30    /* after the end that the server was given */
#define CLUSTER_READ_SEC 10           /* longest duration of a confirmation read */
#define CLUSTER_LONG_READ_MSEC 1000   /* from then on its namespace counts as slow */
#define CLUSTER_MAX_SLOW_CONFIRMING 2 /* of CLUSTER_MAX_CONFIRMING, while others wait */
#define CLUSTER_MAX_SLOW_WAITING 10   /* of the reads that wait to begin */
#define CLUSTER_MAX_SLOW_KNOWN 32
#define CLUSTER_MAX_NAMESPACE_PER_SEC 5 /* of CLUSTER_MAX_CONFIRMED_PER_SEC, for one namespace */
#define CLUSTER_PROBE_SEC 5             /* longest duration of a read while stale */
#define CLUSTER_PROBE_MIN_MSEC 500      /* pause between two of them; doubled up to the longest */
#define CLUSTER_PROBE_MAX_MSEC 5000
#define CLUSTER_NOTIFY_SEC 60            /* shortest time between two events for one failure */
#define CLUSTER_RETRY_MSEC 1000          /* pause after an allocation failed */
#define CLUSTER_TURN_MSEC 1000           /* longest wait in a turn */
#define CLUSTER_MAX_UNREADABLE_EVENTS 60 /* in CLUSTER_NOTIFY_SEC */
#define CLUSTER_MAX_NAME_BYTES 253
#define CLUSTER_MAX_PROBLEM_BYTES (REFLECTOR_MAX_REASON_BYTES + 128) /* reason and remedy */

/* Keyring and policy. Reference-counted: each snapshot holds one reference. */
struct cluster_rules {
    struct refcount count;
    struct keyring *keyring;
    struct policy policy;
    struct snapshot_keep keep;
    unsigned char digest[DIGEST_BYTES];
};

enum cluster_kind { CLUSTER_CONFIG_MAPS = 1, CLUSTER_NAMESPACES, CLUSTER_NETWORK_POLICIES };
#define CLUSTER_KINDS ((size_t)CLUSTER_NETWORK_POLICIES) /* how many there are */

/* One list and watch. */
struct cluster_feed {
    struct cluster *cluster;
    enum cluster_kind kind;
    struct str namespace_name; /* empty: all namespaces */
    struct str what;           /* of events */
    struct reflector *reflector;
    bool planned; /* task begins at begin_msec */
    struct reflector_task task;
    uint64_t begin_msec;
    struct api_call *call;     /* in progress; NULL: none */
    uint64_t byte_msec;        /* of clock_age_msec(): its begin or its last byte */
    int error;                 /* of the reflector, for this call; 0: none */
    uint64_t lists;            /* number of lists that were reported */
    uint64_t refresh_lists;    /* number of complete lists when the last refresh began */
    uint64_t refresh_failures; /* number of failures when it began */

    bool failing;
    uint64_t failing_msec;                   /* of clock_age_msec(): the first failure */
    uint64_t reported_msec;                  /* of clock_age_msec(): the last event for it */
    int failed_status;                       /* HTTP status of the last failure; 0: no response */
    char problem[CLUSTER_MAX_PROBLEM_BYTES]; /* of the last call, if it failed; else empty */
};

/* A confirmation read: of one Namespace, or of the evidence of one namespace. */
struct cluster_read {
    struct cluster_read *next;
    struct cluster_feed *feed; /* that its objects are merged into */
    struct reflector_merge *merge;
    struct api_call *call; /* NULL: not begun yet */
    uint64_t begun_msec;
    bool slow; /* its namespace takes long to read */
    int error;
    size_t namespace_len;
    char namespace_name[];
};

/* The reads of a cluster that is stale: one at a time, of the gate's own Namespace. */
struct cluster_probe {
    struct api_call *call; /* in progress; NULL: none */
    uint64_t next_msec;    /* earliest begin of the next one */
    uint64_t pause_msec;   /* before the next one; 0: it is the first */
};

/* What is remembered of a namespace; feed NULL: nothing. */
struct cluster_mark {
    const struct cluster_feed *feed;
    uint64_t msec;
    size_t len;
    char name[CLUSTER_MAX_NAME_BYTES];
};

struct cluster_share {
    struct cluster_mark begun[CLUSTER_MAX_CONFIRMED_PER_SEC]; /* the last reads: a ring */
    size_t begun_count;                                       /* number of reads begun so far */
    struct cluster_mark slow[CLUSTER_MAX_SLOW_KNOWN];         /* namespaces whose read took long */
};

/* What other threads can read. Only each member is consistent, not all of them together. */
struct cluster_shared {
    _Atomic bool ready;               /* released after the first snapshot is in the store */
    _Atomic uint64_t last_event_msec; /* of clock_age_msec(): the oldest last event of all feeds;
                                         0: none yet */
    _Atomic uint64_t relists, failures, confirmations, refused;
    _Atomic uint64_t config_maps, namespaces, network_policies;
    _Atomic uint64_t failed_reads, failed_read_msec; /* in a row; of clock_age_msec(), 0: never */
    _Atomic uint32_t max_stale_sec;
};

struct cluster {
    struct cluster_options options;
    struct arena arena; /* for texts of the feeds */
    struct api_loop *loop;
    struct cluster_feed *feeds;
    size_t feed_count;
    bool once; /* lists without watches */

    pthread_t thread;
    bool started;
    pthread_mutex_t lock;             /* guards the next three members */
    struct cluster_waiter *inbox;     /* new questions, the last one first */
    struct cluster_rules *next_rules; /* owned; NULL: none */
    bool stopping;
    struct cluster_shared shared;

    struct cluster_rules *rules;
    void *invalid_counts; /* of tsearch(), by namespace */
    void *copies;         /* of tsearch(), by digest and namespace */
    bool has_room;        /* valid documents without a record must be listed again */
    bool dirty;           /* the snapshot in the store is out of date */
    bool urgent;          /* build the next one without waiting for more events */
    bool listed;          /* a list was completed since the last build */
    uint64_t dirty_msec;  /* when it became out of date */
    uint64_t built_msec;  /* when the last one was built */
    uint64_t cost_msec;   /* how long that took */
    uint64_t retry_msec;  /* earliest time of the next build, after a failure */

    struct cluster_waiter *waiters;
    struct cluster_read *reads;
    struct cluster_share share;
    bool refreshing;
    uint64_t refresh_msec; /* when the last refresh began */
    struct cluster_probe probe;
    uint64_t read_reported_msec; /* time of the last event for a failed read */
    uint64_t read_failures;

    uint64_t unreadable_msec;  /* begin of the current period of CLUSTER_NOTIFY_SEC */
    unsigned unreadable_count; /* events in it */
};

/* ---- state.c ---- */

/* The earlier of two times; 0 is none. */
uint64_t cluster_earlier(uint64_t a, uint64_t b);
void cluster_notify(const struct cluster *cluster, const struct cluster_event *event);
/* Marks the snapshot in the store as out of date. */
void cluster_mark_dirty(struct cluster *cluster);
/* Counts a direct read: one that failed, or one that the API server answered. */
void cluster_note_read(struct cluster *cluster, bool succeeded);
bool cluster_is_out_of_reach(const struct cluster *cluster);
/* Whether an event of that age, of clock_age_msec(), is older than max_stale_sec. */
bool cluster_is_old(const struct cluster *cluster, uint64_t event_msec);

/* ---- feed.c ---- */

int cluster_feeds_new(struct cluster *cluster) __attribute__((warn_unused_result));
void cluster_feeds_free(struct cluster *cluster);
/* Begins the calls that are due. */
void cluster_feeds_run(struct cluster *cluster, uint64_t now_msec);
/* The time of the next call; 0: none. */
uint64_t cluster_feeds_next(const struct cluster *cluster);
/* Ends the call in progress and requests a list now. */
void cluster_feed_relist(struct cluster_feed *feed, enum reflector_relist how);
/* Whether each feed has had a complete list. */
bool cluster_feeds_listed(const struct cluster *cluster);
/* NULL: the namespace is not read. */
struct cluster_feed *cluster_feed_find(struct cluster *cluster, enum cluster_kind kind,
                                       struct str namespace_name);

/* ---- object.c ---- */

struct reflector_sink cluster_sink(struct cluster_feed *feed);
const struct document_shape *cluster_members(enum cluster_kind kind);

/* ---- invalid.c ---- */

/* Counts that *now replaces before; each can be NULL. If a limit is reached, *now becomes the
 * anonymous record. Does not fail if *now is NULL. */
int cluster_invalid_replace(struct cluster *cluster, const struct evidence *before,
                            struct evidence **now) __attribute__((warn_unused_result));
/* Adds the counts to a snapshot. */
int cluster_invalid_add(const struct cluster *cluster, struct snapshot_builder *builder)
    __attribute__((warn_unused_result));
void cluster_invalid_free(struct cluster *cluster);

/* ---- copies.c ---- */

/* The objects of a namespace that have a record and equal bytes. */
struct cluster_copies {
    const struct evidence *evidence;  /* owned: one reference; valid, or for another audience */
    const struct str *namespace_name; /* borrowed */
    unsigned objects;
    unsigned valid; /* of them, those that are valid */
};

/* Those with the bytes and the namespace of the evidence; NULL: none. */
struct cluster_copies *cluster_copies_find(const struct cluster *cluster,
                                           const struct evidence *evidence);
/* The same, made without objects if there are none. The namespace must outlive them. */
int cluster_copies_get(struct cluster *cluster, const struct evidence *evidence,
                       const struct str *namespace_name, struct cluster_copies **ret_copies)
    __attribute__((warn_unused_result));
/* Frees them if no object is left. */
void cluster_copies_drop_unused(struct cluster *cluster, struct cluster_copies *copies);
void cluster_copies_free(struct cluster *cluster);
/* For struct evidence_known; the context is the cluster. */
const struct evidence *cluster_copies_known(void *context, struct str digest);

/* ---- build.c ---- */

int cluster_rules_new(const struct keyring *keyring, const struct policy *policy,
                      struct snapshot_keep keep, struct cluster_rules **ret_rules)
    __attribute__((warn_unused_result));
void cluster_rules_unref(void *rules);
/* Takes over the reference to rules if it succeeds. */
int cluster_adopt_rules(struct cluster *cluster, struct cluster_rules *rules, uint64_t now_msec)
    __attribute__((warn_unused_result));
/* Builds and puts a snapshot if one is due. */
void cluster_build(struct cluster *cluster, uint64_t now_msec);
/* The time of the next build; 0: none before something else happens. */
uint64_t cluster_build_next(const struct cluster *cluster);

/* ---- waiter.c ---- */

void cluster_waiter_end(struct cluster *cluster, struct cluster_waiter *waiter, int result);
/* Ends the wait with an error, after the next snapshot if one is due. */
void cluster_waiter_fail(struct cluster *cluster, struct cluster_waiter *waiter, int error);
bool cluster_waiter_needs(const struct cluster_waiter *waiter, const struct cluster_read *read);
bool cluster_waiter_answered(const struct cluster_waiter *waiter);
/* Whether a waiter only waits for the next snapshot. */
bool cluster_snapshot_wanted(const struct cluster *cluster);

/* ---- reads.c ---- */

/* A read of this namespace that has not begun; NULL: none. */
struct cluster_read *cluster_read_find(const struct cluster *cluster,
                                       const struct cluster_feed *feed, struct str namespace_name);
/* NULL: no memory. */
struct cluster_read *cluster_read_add(struct cluster *cluster, struct cluster_feed *feed,
                                      struct str namespace_name);
/* Begins the reads that are due. */
void cluster_reads_run(struct cluster *cluster, uint64_t now_msec);
void cluster_reads_free(struct cluster *cluster);

/* ---- share.c ---- */

struct str cluster_read_name(const struct cluster_read *read);
bool cluster_read_is_of(const struct cluster_read *read, const struct cluster_feed *feed,
                        struct str namespace_name);
/* Whether the last read of this namespace took long. */
bool cluster_share_is_slow(struct cluster *cluster, const struct cluster_feed *feed,
                           struct str namespace_name);
/* Marks the reads in progress that take long. */
void cluster_share_note_slow(struct cluster *cluster, uint64_t now_msec);
void cluster_share_note_fast(struct cluster *cluster, const struct cluster_read *read);
void cluster_share_note_begin(struct cluster *cluster, const struct cluster_read *read,
                              uint64_t now_msec);
bool cluster_share_has_slot(const struct cluster *cluster, const struct cluster_read *read);
/* The earliest time at which the limits per second permit it. */
uint64_t cluster_share_begin_msec(const struct cluster *cluster, const struct cluster_read *read);
/* A slow read in progress whose slot another read needs; NULL: none. */
struct cluster_read *cluster_share_find_surplus(const struct cluster *cluster);
/* How many reads can be added: in all, or of slow namespaces. No more than one second's worth wait
 * to begin, so that a request is either served soon or refused at once. */
size_t cluster_reads_remaining(const struct cluster *cluster, bool slow);
/* The time of the next begin, or of the next slot that is taken back; 0: none before a call ends.
 */
uint64_t cluster_reads_next(const struct cluster *cluster);

/* ---- fresh.c ---- */

/* Ends the waits for a refresh when all feeds have listed since it began, or one has failed. */
void cluster_refresh_check(struct cluster *cluster);
/* Begins a refresh if one is wanted and due. */
void cluster_refresh_run(struct cluster *cluster, uint64_t now_msec);
/* The time of the next one; 0: none. */
uint64_t cluster_refresh_next(const struct cluster *cluster);

/* ---- probe.c ---- */

/* Begins the read that a stale cluster makes by itself, if it is due. */
void cluster_probe_run(struct cluster *cluster, uint64_t now_msec);
/* The time of the next one; 0: none. */
uint64_t cluster_probe_next(const struct cluster *cluster);

/* ---- confirm.c ---- */

/* Adds a new question: plans its reads, or ends it with an error. */
void cluster_take_waiter(struct cluster *cluster, struct cluster_waiter *waiter);
/* Ends waits and begins reads. */
void cluster_confirm_run(struct cluster *cluster, uint64_t now_msec);
/* The time of the next action; 0: none. */
uint64_t cluster_confirm_next(const struct cluster *cluster);
/* Ends all waiters. */
void cluster_confirm_end(struct cluster *cluster, int result);

#endif
