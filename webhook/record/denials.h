/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_RECORD_DENIALS_H
#define WEBHOOK_RECORD_DENIALS_H

/*
 * denials - the last denials of this replica, in memory: what `/denials` shows.
 *
 * Bounded in number and in bytes; the oldest goes first. `/denials.json` gives them as
 *
 *   {"schema": DENIALS_SCHEMA, "replica": host name, "time": now, "total": since the start,
 *    "records": [objects of record.h, the oldest first]}
 *
 * with each record on a line of its own.
 *
 * Ownership  holds a count of each line.
 * Threads    any; the lock is held while pointers are moved and counted.
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

/* A moment of it, the oldest first. */
struct denials_view {
    struct record_line *lines[DENIALS_MAX_LINES]; /* a count of each */
    size_t count;
    size_t bytes;
    uint64_t total;
};

/* 0 or negative errno. */
int denials_init(struct denials *denials) __attribute__((warn_unused_result));
void denials_done(struct denials *denials);

/* Takes a count of its own. */
void denials_put(struct denials *denials, struct record_line *line);

size_t denials_kept(struct denials *denials);
void denials_look(struct denials *denials, struct denials_view *ret_view);
void denials_view_done(struct denials_view *view);

#endif
