/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_REFLECTOR_REFLECTOR_H
#define K8S_REFLECTOR_REFLECTOR_H

/*
 * reflector - the state of a list and watch of one kind: the next request, and the known objects.
 *
 * Pure: no socket, no clock, no thread. The caller gets the next request from reflector_next(),
 * makes it, passes the bytes of a response with status 200 on as they arrive, and reports how the
 * call ended. Objects go to a sink one by one, so that a list is never in memory as a whole. For
 * each object the reflector keeps its name, its resourceVersion (a text that is only compared for
 * equality) and one pointer for the sink. After a complete list it drops the objects that the list
 * did not have. A 410 only clears the version of the watch: the objects stay known until the next
 * list is complete.
 *
 * Errors     0; -EBADMSG the response cannot be read; -EMSGSIZE an object exceeds the limit;
 *            -EREMOTEIO the server ended the watch by an ERROR event; -ENOMEM; -EIO; errors of the
 *            sink. After any of them the caller ends the call and calls reflector_failed().
 * Ownership  owns names and versions; values belong to the sink, whose `drop` is called for each.
 * Units      milliseconds of the clock of ages (clock_age_msec()); the caller passes the current
 *            time. pause_msec is a duration.
 * Threads    one thread at a time.
 */

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "k8s/document/document.h"
#include "planner/base/arena.h"
#include "planner/base/text.h"

#define REFLECTOR_PAGE_ITEMS 100
/* etcd limits an object to 1.5 MiB, and JSON can take six bytes for each of them. */
#define REFLECTOR_MAX_OBJECT_BYTES ((size_t)16 * 1024 * 1024)
#define REFLECTOR_MAX_VERSION_BYTES 31
#define REFLECTOR_MAX_TOKEN_BYTES 16384 /* of `continue` */
#define REFLECTOR_MAX_REASON_BYTES 512
#define REFLECTOR_PAUSE_MIN_MSEC                                                                   \
    800 /* doubled at each failure, plus a random part up to the same length */
#define REFLECTOR_PAUSE_MAX_MSEC 30000
#define REFLECTOR_CALM_MSEC 120000      /* without failure for this time, pauses begin short */
#define REFLECTOR_SHORT_WATCH_MSEC 1000 /* a watch that ends sooner without an event has failed */
#define REFLECTOR_WATCH_MIN_SEC 300
#define REFLECTOR_WATCH_MAX_SEC 600

struct reflector;

/* One object; all members are only valid during the call. */
struct reflector_object {
    struct str namespace_name; /* empty if its kind has no namespaces */
    struct str name;
    struct str resource_version;
    const cJSON *tree;
    bool cut; /* it has too many values: the tree only has what names it (take_cut) */
};

/* Receives objects. Each object has one value that belongs to the sink, NULL at first. */
struct reflector_sink {
    void *context;
    /* A new object, or a new version of one. On failure *value must be unchanged. */
    int (*put)(void *context, const struct reflector_object *object, void **value);
    /* The object is gone; the reflector does not keep the value. */
    void (*drop)(void *context, void *value);
};

struct reflector_options {
    struct str path;     /* "/api/v1/configmaps" */
    struct str selector; /* encoded "labelSelector=…" or "fieldSelector=…"; can be empty */
    /* The members of an object that become a tree: at least name, namespace and resourceVersion of
     * metadata, and its annotations if initial_events is set. Must outlive the reflector. */
    const struct document_shape *members;
    struct reflector_sink sink;
    /* An object with more than DOCUMENT_MAX_NODES values is put all the same, cut. Otherwise it
     * fails the list or watch: a user who can write such an object could then stop it for everyone.
     */
    bool take_cut;
    uint32_t seed;       /* for random pauses */
    bool initial_events; /* lists by sendInitialEvents of a watch; by plain lists if the server
                            refuses */
};

enum reflector_step { REFLECTOR_LIST = 1, REFLECTOR_WATCH };

struct reflector_task {
    enum reflector_step step;
    struct str path;      /* with its query; ends with NUL; valid until the next call */
    uint32_t pause_msec;  /* before the request */
    uint32_t timeout_sec; /* of a watch: the limit that the server is given */
};

int reflector_new(const struct reflector_options *options, struct reflector **ret_reflector)
    __attribute__((warn_unused_result, nonnull));
/* Drops every object. NULL is allowed. */
void reflector_free(struct reflector *reflector);

/* The next request. A call in progress is discarded. */
int reflector_next(struct reflector *reflector, uint64_t now_msec, struct reflector_task *ret_task)
    __attribute__((warn_unused_result, nonnull));

/* The request is sent now, after its pause. While a list is in progress, merges are refused. */
void reflector_sent(struct reflector *reflector) __attribute__((nonnull));

/* Bytes of a response with status 200, in pieces of any size. */
int reflector_bytes(struct reflector *reflector, struct str bytes, uint64_t now_msec)
    __attribute__((warn_unused_result, nonnull));
/* The response has ended. An incomplete event is ignored; an incomplete list is -EBADMSG. */
int reflector_ended(struct reflector *reflector, uint64_t now_msec)
    __attribute__((warn_unused_result, nonnull));
/*
 * The call ended otherwise. status is 0 if there is none, or if the response broke off or could not
 * be used. 410 clears the version; if the `continue` of a page has expired, the list is restarted
 * without pages.
 */
void reflector_failed(struct reflector *reflector, int status, struct str body,
                      uint32_t retry_after_sec, uint64_t now_msec) __attribute__((nonnull));

/* Requests a list now. The caller must end a call in progress. */
enum reflector_relist {
    REFLECTOR_LATEST = 1, /* from etcd, not from a cache of the server, which can be older */
    REFLECTOR_AGAIN,      /* puts objects of a known version too: the rules of the sink changed */
};
void reflector_relist(struct reflector *reflector, enum reflector_relist how)
    __attribute__((nonnull));

/* Whether at least one list was complete. */
bool reflector_listed(const struct reflector *reflector);
/* Whether a list is in progress, from its first request to its end: the known objects are a mixture
 * of two states. */
bool reflector_listing(const struct reflector *reflector);
/* Time of the last event, bookmark or complete list. 0: none yet. */
uint64_t reflector_last_event_msec(const struct reflector *reflector);
size_t reflector_object_count(const struct reflector *reflector);
uint64_t reflector_list_count(const struct reflector *reflector); /* complete ones */
uint64_t reflector_failure_count(const struct reflector *reflector);
/* Why the last call failed, if the response says so: the message of a Status, or what could not be
 * read. Empty otherwise; valid until the next call. */
struct str reflector_reason(const struct reflector *reflector);

/* Calls `visit` for the value of each known object, in no particular order, until it does not
 * return 0; returns its result. `visit` can replace the value. */
int reflector_each(struct reflector *reflector,
                   int (*visit)(void *context, struct str namespace_name, struct str name,
                                void **value),
                   void *context) __attribute__((warn_unused_result, nonnull(1, 2)));

/*
 * Merges a separate read (of a list or of one object) into the known objects: puts those with a new
 * version. Does not change the version of the watch, and drops nothing. An object that the watch
 * changed or dropped since the read began stays in the state of the watch. An object from the read
 * stays until the watch has reached the same version, or until a later list.
 *
 * -EAGAIN: a list is or was in progress since the read began, or too many objects were dropped:
 * read again after the list.
 */
struct reflector_merge;
/* Called before the read is requested. */
int reflector_merge_new(struct reflector *reflector, struct reflector_merge **ret_merge)
    __attribute__((warn_unused_result, nonnull));
int reflector_merge_bytes(struct reflector_merge *merge, struct str bytes)
    __attribute__((warn_unused_result, nonnull));
/* The response is complete. */
int reflector_merge_end(struct reflector_merge *merge) __attribute__((warn_unused_result, nonnull));
/* Must be called before reflector_free(). NULL is allowed. */
void reflector_merge_free(struct reflector_merge *merge);

#endif
