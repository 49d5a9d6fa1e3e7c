/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_REFLECTOR_REFLECTOR_H
#define K8S_REFLECTOR_REFLECTOR_H

/*
 * reflector - what a list and watch of one kind has to ask next, and what it has learnt.
 *
 * Pure: no socket, no clock, no thread. The caller asks reflector_next() what to do, does it, hands
 * on the bytes of an answer with status 200 as they come, and tells how the call ended. Objects go
 * to a sink one by one, so that no list ever lies in memory as a whole. The reflector remembers
 * names, resourceVersions (texts, compared for equality and nothing else) and one pointer of the
 * sink's for each object; after a whole list it drops what is gone. What a 410 forgets is the
 * version: the objects stay until the list that follows has come whole.
 *
 * Errors     0; -EBADMSG what came cannot be read; -EMSGSIZE an object over the limit; -EREMOTEIO
 *            the server ended a watch by an ERROR event; -ENOMEM, -EIO, and what a sink returns.
 *            After any of them the caller ends the call and tells reflector_failed().
 * Ownership  owns names and versions; values belong to the sink, which is told of each that goes.
 * Units      milliseconds; the moment is given by the caller (monotonic clock).
 * Threads    one at a time.
 */

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "k8s/document/document.h"
#include "planner/base/arena.h"
#include "planner/base/text.h"

#define REFLECTOR_PAGE_ITEMS 100
/* 1.5 MiB in etcd at most, and JSON may write every byte as six. */
#define REFLECTOR_MAX_OBJECT_BYTES ((size_t)16 * 1024 * 1024)
#define REFLECTOR_MAX_VERSION_BYTES 31
#define REFLECTOR_MAX_TOKEN_BYTES 16384 /* of `continue` */
#define REFLECTOR_MAX_REASON_BYTES 512
#define REFLECTOR_PAUSE_MIN_MSEC 800 /* doubled at each failure, up to as much again at random */
#define REFLECTOR_PAUSE_MAX_MSEC 30000
#define REFLECTOR_CALM_MSEC 120000      /* without a failure: pauses begin anew */
#define REFLECTOR_SHORT_WATCH_MSEC 1000 /* a watch that ends sooner, without event, has failed */
#define REFLECTOR_WATCH_MIN_SEC 300
#define REFLECTOR_WATCH_MAX_SEC 600

struct reflector;

/* One object; everything lives for the call. */
struct reflector_object {
    struct str namespace_name; /* empty for what lies in none */
    struct str name;
    struct str resource_version;
    const cJSON *tree;
};

/* Where objects go. Each has a value of the sink's own, NULL at first. */
struct reflector_sink {
    void *context;
    /* A new object, or a new version. On failure *value is as it was. */
    int (*put)(void *context, const struct reflector_object *object, void **value);
    /* It is gone, and so is its place for the value. */
    void (*drop)(void *context, void *value);
};

struct reflector_options {
    struct str path;     /* "/api/v1/configmaps" */
    struct str selector; /* encoded "labelSelector=…" or "fieldSelector=…"; may be empty */
    /* What of an object becomes a tree: at least metadata's name, namespace, resourceVersion, and
     * its annotations where initial_events is set. Outlives the reflector. */
    const struct document_shape *members;
    struct reflector_sink sink;
    uint32_t seed;       /* of the jitter */
    bool initial_events; /* ask for lists as the beginning of a watch; plain lists where refused */
};

enum reflector_step { REFLECTOR_LIST = 1, REFLECTOR_WATCH };

struct reflector_task {
    enum reflector_step step;
    struct str path;      /* with its query; valid until the next call; a NUL stands behind it */
    uint32_t pause_msec;  /* before it is asked */
    uint32_t timeout_sec; /* of a watch: what the server was told */
};

int reflector_new(const struct reflector_options *options, struct reflector **ret_reflector)
    __attribute__((warn_unused_result, nonnull));
/* Drops every object. NULL is allowed. */
void reflector_free(struct reflector *reflector);

/* What to ask. Whatever was under way counts as never asked. */
int reflector_next(struct reflector *reflector, uint64_t now_msec, struct reflector_task *ret_task)
    __attribute__((warn_unused_result, nonnull));

/* Bytes of an answer with status 200, cut anywhere. */
int reflector_bytes(struct reflector *reflector, struct str bytes, uint64_t now_msec)
    __attribute__((warn_unused_result, nonnull));
/* The answer came to its end. An event that was cut is dropped whole; a list that was cut is
 * -EBADMSG. */
int reflector_ended(struct reflector *reflector, uint64_t now_msec)
    __attribute__((warn_unused_result, nonnull));
/*
 * Any other end: status 0 where none came, or where the answer broke off or could not be used. 410
 * forgets the version; where a page's `continue` has expired, the list begins anew without pages.
 */
void reflector_failed(struct reflector *reflector, int status, struct str body,
                      uint32_t retry_after_sec, uint64_t now_msec) __attribute__((nonnull));

/* How the next list is to be asked, and when: now, whatever is under way (the caller ends it). */
enum reflector_relist {
    REFLECTOR_LATEST = 1, /* as it stands in etcd, not in a cache that may lag */
    REFLECTOR_AGAIN,      /* known versions are put again too: the sink's rules changed */
};
void reflector_relist(struct reflector *reflector, enum reflector_relist how)
    __attribute__((nonnull));

/* Whether a first list has come whole. */
bool reflector_listed(const struct reflector *reflector);
/* Whether a list is on its way: what is known is half old, half new. */
bool reflector_listing(const struct reflector *reflector);
/* When something last came: an event, a bookmark, a list. 0: never. */
uint64_t reflector_heard_msec(const struct reflector *reflector);
size_t reflector_object_count(const struct reflector *reflector);
uint64_t reflector_list_count(const struct reflector *reflector); /* whole ones */
uint64_t reflector_failure_count(const struct reflector *reflector);
/* Why the last call failed, where the answer itself says so: the words of a Status, or what could
 * not be read. Empty where it does not; valid until the next call. */
struct str reflector_reason(const struct reflector *reflector);

/* Visits each known object's value, in no order, until a visit is not 0, which is returned. A visit
 * may change the value. */
int reflector_each(struct reflector *reflector,
                   int (*visit)(void *context, struct str namespace_name, struct str name,
                                void **value),
                   void *context) __attribute__((warn_unused_result, nonnull(1, 2)));

/*
 * Objects that a read beside the watch brought (a list, or one object): put where their version is
 * new. Never moves the watch's own version, and drops nothing. What the watch changed or dropped
 * since the read began stays as the watch has it; what the read brought stays until the watch or a
 * later list has come so far.
 */
struct reflector_merge;
/* Before the read is asked. */
int reflector_merge_new(struct reflector *reflector, struct reflector_merge **ret_merge)
    __attribute__((warn_unused_result, nonnull));
int reflector_merge_bytes(struct reflector_merge *merge, struct str bytes)
    __attribute__((warn_unused_result, nonnull));
/* The answer is whole. -EAGAIN: more was dropped meanwhile than is remembered. */
int reflector_merge_end(struct reflector_merge *merge) __attribute__((warn_unused_result, nonnull));
/* Before the reflector is freed. NULL is allowed. */
void reflector_merge_free(struct reflector_merge *merge);

#endif
