/* SPDX-License-Identifier: Apache-2.0 */
/* jobs - runs queued work on threads of its own, in the order in which it was put. See jobs.h. */

#include "webhook/server/jobs.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

static void *run_jobs(void *argument)
{
    struct jobs *jobs = argument;

    (void)pthread_mutex_lock(&jobs->lock);
    for (;;) {
        struct job *job = jobs->first;

        if (job == NULL) {
            if (jobs->stop)
                break;
            (void)pthread_cond_wait(&jobs->more, &jobs->lock);
            continue;
        }
        jobs->first = job->next;
        if (jobs->first == NULL)
            jobs->last = NULL;
        (void)pthread_mutex_unlock(&jobs->lock);
        job->work(job);
        (void)pthread_mutex_lock(&jobs->lock);
    }
    (void)pthread_mutex_unlock(&jobs->lock);
    return NULL;
}

int jobs_start(struct jobs *jobs, unsigned threads)
{
    int error = 0;

    *jobs = (struct jobs){0};
    jobs->threads = calloc(threads, sizeof(*jobs->threads));
    if (jobs->threads == NULL)
        return -ENOMEM;
    error = pthread_mutex_init(&jobs->lock, NULL);
    if (error == 0)
        error = pthread_cond_init(&jobs->more, NULL);
    while (error == 0 && jobs->count < threads) {
        error = pthread_create(&jobs->threads[jobs->count], NULL, run_jobs, jobs);
        if (error == 0)
            jobs->count++;
    }
    if (error != 0)
        jobs_done(jobs);
    return -error;
}

void jobs_put(struct jobs *jobs, struct job *job)
{
    assert(job->work != NULL);
    job->next = NULL;
    (void)pthread_mutex_lock(&jobs->lock);
    if (jobs->last != NULL)
        jobs->last->next = job;
    else
        jobs->first = job;
    jobs->last = job;
    (void)pthread_cond_signal(&jobs->more);
    (void)pthread_mutex_unlock(&jobs->lock);
}

void jobs_done(struct jobs *jobs)
{
    if (jobs->threads == NULL)
        return;
    (void)pthread_mutex_lock(&jobs->lock);
    jobs->stop = true;
    (void)pthread_cond_broadcast(&jobs->more);
    (void)pthread_mutex_unlock(&jobs->lock);
    for (unsigned i = 0; i < jobs->count; i++)
        (void)pthread_join(jobs->threads[i], NULL);
    assert(jobs->first == NULL);
    (void)pthread_cond_destroy(&jobs->more);
    (void)pthread_mutex_destroy(&jobs->lock);
    free(jobs->threads);
    jobs->threads = NULL;
}
