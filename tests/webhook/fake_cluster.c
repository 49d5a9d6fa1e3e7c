/* SPDX-License-Identifier: Apache-2.0 */
/* fake_cluster - answers the questions of a server as a test chooses. */
#include "fake_cluster.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "k8s/util/clock.h"
#include "thread_client.h"

#define TURN_MSEC 2

struct fake_waiter {
    struct fake_waiter *next;
    struct cluster_waiter *waiter;
    enum cluster_question question;
    struct fake_answer answer;
    uint64_t due_msec;
};

/* Removes a waiter that is due. NULL if there is none. */
static struct fake_waiter *take_due(struct fake_cluster *fake)
{
    uint64_t now_msec = clock_msec();

    for (struct fake_waiter **at = &fake->first; *at != NULL; at = &(*at)->next) {
        struct fake_waiter *due = *at;

        if (!fake->dismissed && (now_msec < due->due_msec || (due->answer.held && !fake->released)))
            continue;
        *at = due->next;
        return due;
    }
    return NULL;
}

static int fake_result(struct fake_cluster *fake, const struct fake_waiter *due)
{
    if (fake->dismissed)
        return -ESHUTDOWN;
    if (due->answer.never)
        return -ETIMEDOUT;
    if (due->answer.then != NULL)
        snapshot_store_put(fake->store, snapshot_ref(due->answer.then));
    if (due->question == CLUSTER_FRESH && due->answer.result == 0)
        fake->stale = false;
    return due->answer.result;
}

static void *fake_run(void *argument)
{
    struct fake_cluster *fake = argument;

    for (;;) {
        struct fake_waiter *due = NULL;
        int result = 0;
        bool stop = false;

        (void)pthread_mutex_lock(&fake->lock);
        due = take_due(fake);
        result = due != NULL ? fake_result(fake, due) : 0;
        stop = fake->stop;
        (void)pthread_mutex_unlock(&fake->lock);
        if (due == NULL && stop)
            return NULL;
        if (due == NULL) {
            nap(TURN_MSEC);
            continue;
        }
        due->waiter->done(due->waiter, result);
        free(due);
        (void)pthread_mutex_lock(&fake->lock);
        fake->unanswered--;
        (void)pthread_mutex_unlock(&fake->lock);
    }
}

void fake_cluster_start(struct fake_cluster *fake, struct snapshot_store *store)
{
    *fake = (struct fake_cluster){.store = store};
    must(pthread_mutex_init(&fake->lock, NULL) == 0, "a lock");
    must(pthread_create(&fake->thread, NULL, fake_run, fake) == 0, "a thread");
}

void fake_cluster_end(struct fake_cluster *fake)
{
    (void)pthread_mutex_lock(&fake->lock);
    fake->stop = true;
    (void)pthread_mutex_unlock(&fake->lock);
    (void)pthread_join(fake->thread, NULL);
    must(fake->first == NULL, "no request waits");
    (void)pthread_mutex_destroy(&fake->lock);
}

void fake_cluster_play(struct fake_cluster *fake, enum cluster_question question,
                       struct fake_answer answer)
{
    (void)pthread_mutex_lock(&fake->lock);
    fake->answers[question] = answer;
    fake->released = false;
    memset(fake->asked, 0, sizeof(fake->asked));
    (void)pthread_mutex_unlock(&fake->lock);
}

void fake_cluster_release(struct fake_cluster *fake)
{
    (void)pthread_mutex_lock(&fake->lock);
    fake->released = true;
    (void)pthread_mutex_unlock(&fake->lock);
}

void fake_cluster_be_stale(struct fake_cluster *fake)
{
    (void)pthread_mutex_lock(&fake->lock);
    fake->stale = true;
    (void)pthread_mutex_unlock(&fake->lock);
}

unsigned fake_cluster_asked(struct fake_cluster *fake, enum cluster_question question)
{
    unsigned asked = 0;

    (void)pthread_mutex_lock(&fake->lock);
    asked = fake->asked[question];
    (void)pthread_mutex_unlock(&fake->lock);
    return asked;
}

unsigned fake_cluster_unanswered(struct fake_cluster *fake)
{
    unsigned unanswered = 0;

    (void)pthread_mutex_lock(&fake->lock);
    unanswered = fake->unanswered;
    (void)pthread_mutex_unlock(&fake->lock);
    return unanswered;
}

int fake_cluster_ask(struct fake_cluster *fake, enum cluster_question question,
                     struct str namespace_name, struct cluster_waiter *waiter)
{
    struct fake_waiter *made = calloc(1, sizeof(*made));
    int r = 0;

    must(made != NULL, "memory");
    must(question != CLUSTER_FRESH || namespace_name.len == 0, "no namespace with freshness");
    (void)pthread_mutex_lock(&fake->lock);
    fake->asked[question]++;
    memset(fake->last_namespace, 0, sizeof(fake->last_namespace));
    memcpy(fake->last_namespace, namespace_name.ptr, namespace_name.len);
    fake->deadline_msec[question] = waiter->deadline_msec;
    made->waiter = waiter;
    made->question = question;
    made->answer = fake->answers[question];
    made->due_msec =
        made->answer.never ? waiter->deadline_msec : clock_msec() + made->answer.late_msec;
    r = fake->dismissed ? -ESHUTDOWN : made->answer.refused;
    if (r == 0) {
        made->next = fake->first;
        fake->first = made;
        fake->unanswered++;
        made = NULL;
    }
    (void)pthread_mutex_unlock(&fake->lock);
    free(made);
    return r;
}

bool fake_cluster_is_stale(struct fake_cluster *fake)
{
    bool stale = false;

    (void)pthread_mutex_lock(&fake->lock);
    stale = fake->stale;
    (void)pthread_mutex_unlock(&fake->lock);
    return stale;
}

void fake_cluster_dismiss(struct fake_cluster *fake)
{
    (void)pthread_mutex_lock(&fake->lock);
    fake->dismissed = true;
    (void)pthread_mutex_unlock(&fake->lock);
}
