/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_JOBS_H
#define WEBHOOK_SERVER_JOBS_H

/*
 * jobs - a queue with threads for work that takes long, so that the threads that serve connections
 * are never blocked by it.
 *
 * Errors     0 or negative errno.
 * Ownership  the caller's: a struct job is embedded in what is worked on, and stays in place until
 *            its work function is called. The queue does not touch it after that call has begun.
 * Threads    jobs_put() by any. jobs_done() runs every job that is left, then ends the threads; no
 *            job may be put after it.
 */

#include <pthread.h>
#include <stdbool.h>

struct job {
    struct job *next; /* private to jobs.c */
    void (*work)(struct job *job);
};

struct jobs {
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct job *first;
    struct job *last;
    bool stop;
    unsigned count; /* of threads */
    pthread_t *threads;
};

int jobs_start(struct jobs *jobs, unsigned threads) __attribute__((warn_unused_result, nonnull));
void jobs_put(struct jobs *jobs, struct job *job) __attribute__((nonnull));
/* {0} is allowed. */
void jobs_done(struct jobs *jobs) __attribute__((nonnull));

#endif
