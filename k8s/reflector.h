#ifndef K8S_REFLECTOR_H
#define K8S_REFLECTOR_H

/*
 * reflector - what a list and watch of one kind has to ask next, and what it has learnt.
 *
 * Pure: no socket, no clock, no thread. The caller asks reflector_next() what to do, does it, and
 * tells what came. Objects are handed on one by one; the reflector remembers only names and
 * resourceVersions (texts, compared for equality and nothing else), so that after a list what is
 * gone is known. No event is lost, no stale object is kept: what a 410 forgets is the version, the
 * objects stay until the list that follows has come whole.
 *
 * Errors     0; -ENOMEM; -EBADMSG what came cannot be read: the caller ends the call and tells
 *            reflector_failed(). A sink that fails ends it with its error.
 * Ownership  owns names and versions.
 * Units      milliseconds; the moment is given by the caller (monotonic clock).
 */

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "k8s/document.h"
#include "planner/arena.h"
#include "planner/text.h"

#define REFLECTOR_PAGE_ITEMS 100
#define REFLECTOR_MAX_EVENT_BYTES (4 * 1024 * 1024) /* an object is at most 1.5 MiB in etcd */
#define REFLECTOR_PAUSE_MIN_MSEC                                                                   \
    800 /* doubled at each failure, and up to as much again at random */
#define REFLECTOR_PAUSE_MAX_MSEC 30000
#define REFLECTOR_CALM_MSEC 120000 /* without a failure: pauses begin anew */

struct reflector;

/* Where objects go. resource_version is that of the object. Trees live for the call. */
struct reflector_sink {
    void *context;
    int (*put)(void *context, struct str namespace_name, struct str name,
               struct str resource_version, const cJSON *object);
    void (*drop)(void *context, struct str namespace_name, struct str name);
};

struct reflector_options {
    struct str path;     /* "/api/v1/configmaps" */
    struct str selector; /* encoded "labelSelector=…" or "fieldSelector=…"; may be empty */
    const struct document_shape *members; /* what of an object becomes a tree; metadata's name,
                                           * namespace and resourceVersion must be in it */
    struct reflector_sink sink;
    uint32_t seed; /* of the jitter */
};

enum reflector_step { REFLECTOR_LIST = 1, REFLECTOR_WATCH };

struct reflector_task {
    enum reflector_step step;
    struct str path;      /* with its query; valid until the next call */
    uint32_t pause_msec;  /* before it is asked */
    uint32_t timeout_sec; /* of a watch: what the server was told */
};

int reflector_new(const struct reflector_options *options, struct reflector **ret_reflector)
    __attribute__((warn_unused_result, nonnull));
void reflector_free(struct reflector *reflector);

int reflector_next(struct reflector *reflector, uint64_t now_msec, struct reflector_task *ret_task)
    __attribute__((warn_unused_result, nonnull));

/* A whole page of a list (status 200). */
int reflector_page(struct reflector *reflector, struct str body, uint64_t now_msec)
    __attribute__((warn_unused_result, nonnull));
/* Bytes of a watch (status 200), cut anywhere. */
int reflector_bytes(struct reflector *reflector, struct str bytes, uint64_t now_msec)
    __attribute__((warn_unused_result, nonnull));
/* The watch ended by itself; an event that was cut is dropped whole. */
void reflector_ended(struct reflector *reflector, uint64_t now_msec);
/* Any other end: status 0 where none came. 410 forgets the version; a page's 410 begins the list
 * anew, without pages where that fails again. */
void reflector_failed(struct reflector *reflector, int status, struct str body,
                      uint32_t retry_after_sec, uint64_t now_msec);
/* Ask for a list now, whatever is under way (the caller ends it). Objects that are known with their
 * version are put again as well: their rules changed. */
void reflector_relist(struct reflector *reflector);

/* Whether a first list has come whole. */
bool reflector_listed(const struct reflector *reflector);
/* When something last came: an event, a bookmark, a list. 0: never. */
uint64_t reflector_heard_msec(const struct reflector *reflector);
size_t reflector_object_count(const struct reflector *reflector);
uint64_t reflector_relist_count(const struct reflector *reflector);
uint64_t reflector_failure_count(const struct reflector *reflector);

/* Objects that a list outside of the watch brought (a confirmation): put where their version is
 * new. Never moves the watch's own version. An object that the watch has dropped since the list
 * was asked (mark) is not put again. */
uint64_t reflector_mark(const struct reflector *reflector);
int reflector_merge(struct reflector *reflector, struct str list_body, uint64_t mark)
    __attribute__((warn_unused_result, nonnull));

#endif
