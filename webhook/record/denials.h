/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_RECORD_DENIALS_H
#define WEBHOOK_RECORD_DENIALS_H

/*
 * denials - keeps the latest denials of this replica in memory, for the page `/denials`.
 *
 * Limited in number and in bytes; the oldest is dropped first. `/denials.json` returns them as
 *
 *   {"schema": DENIALS_SCHEMA, "replica": host name, "time": now, "total": since the start,
 *    "records": [objects of record.h, the oldest first]}
 *
 * with one record per line.
 *
 * Ownership  holds a reference to each line.
 * Threads    any; the lock is held only to move pointers and take references.
 */

#include <pthread.h>
#include <stdint.h>

#include "webhook/record/line.h"

#define DENIALS_SCHEMA "sandgate.decisions.v1"
#define DENIALS_MAX_LINES 512
#define DENIALS_MAX_BYTES ((size_t)4 * 1024 * 1024)

struct denials {
    pthread_mutex_t lock;
    struct record_line *lines[DENIALS_MAX_LINES]; /* a ring */
    size_t first;
    size_t count;
    size_t bytes;
    uint64_t total; /* since the start */
};

/* A copy at one moment, the oldest first. */
struct denials_view {
    struct record_line *lines[DENIALS_MAX_LINES]; /* a reference to each */
    size_t count;
    size_t bytes;
    uint64_t total;
};

/* 0 or negative errno. */
int denials_init(struct denials *denials) __attribute__((warn_unused_result));
void denials_done(struct denials *denials);

/* Takes a reference of its own. */
void denials_put(struct denials *denials, struct record_line *line);

/* How many are in memory. */
size_t denials_kept(struct denials *denials);
/* The view must be released with denials_view_done(). */
void denials_look(struct denials *denials, struct denials_view *ret_view);
void denials_view_done(struct denials_view *view);

#endif
