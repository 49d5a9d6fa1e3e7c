/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_JOBS_H
#define WEBHOOK_SERVER_JOBS_H

/*
 * jobs - threads for requests that take long, so that those which serve connections never do.
 *
 * Errors     0 or negative errno.
 * Threads    jobs_put() from any. What is put must not end before it was worked on; jobs_done()
 *            works on all that is left.
 */

#include <pthread.h>
#include <stdbool.h>

/* Embedded in what is worked on. */
struct job {
    struct job *next;
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
void jobs_put(struct jobs *jobs, struct job *job);
void jobs_done(struct jobs *jobs);

#endif
