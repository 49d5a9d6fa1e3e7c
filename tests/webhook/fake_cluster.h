/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_WEBHOOK_FAKE_CLUSTER_H
#define TESTS_WEBHOOK_FAKE_CLUSTER_H

/*
 * fake_cluster - answers the questions of a server as a test chooses: late, never, with an error,
 * or with a new snapshot. Answers come from its own thread, as with the real cluster.
 */

#include <pthread.h>

#include "webhook/server/server.h"

struct fake_answer {
    int refused;        /* result of asking; 0: the question is accepted */
    uint32_t late_msec; /* delay of the answer */
    bool never;         /* answer only at the deadline of the waiter */
    bool held;          /* do not answer before fake_cluster_release() */
    int result;
    struct snapshot
        *then; /* put into the store before the answer; NULL: none. The test holds the reference. */
};

struct fake_cluster {
    pthread_mutex_t lock;
    pthread_t thread;
    struct snapshot_store *store;
    struct fake_answer answers[CLUSTER_FRESH + 1];
    unsigned asked[CLUSTER_FRESH + 1];
    char last_namespace[64];                   /* the last namespace that was asked about */
    uint64_t deadline_msec[CLUSTER_FRESH + 1]; /* of the last question of each kind */
    bool stale;                                /* until CLUSTER_FRESH is answered with 0 */
    bool released;
    bool dismissed;
    bool stop;
    struct fake_waiter *first;
    unsigned unanswered; /* accepted, and done() has not returned */
};

void fake_cluster_start(struct fake_cluster *fake, struct snapshot_store *store);
void fake_cluster_end(struct fake_cluster *fake);
/* Sets the answers from now on, clears the recorded questions, and ends an earlier release. */
void fake_cluster_play(struct fake_cluster *fake, enum cluster_question question,
                       struct fake_answer answer);
void fake_cluster_release(struct fake_cluster *fake);
void fake_cluster_be_stale(struct fake_cluster *fake);
unsigned fake_cluster_asked(struct fake_cluster *fake, enum cluster_question question);
/* How many waiters have no answer yet. At 0 the server has returned the slots of all of them. */
unsigned fake_cluster_unanswered(struct fake_cluster *fake);

/* The functions for struct server_gate. */
int fake_cluster_ask(struct fake_cluster *fake, enum cluster_question question,
                     struct str namespace_name, struct cluster_waiter *waiter);
bool fake_cluster_is_stale(struct fake_cluster *fake);
void fake_cluster_dismiss(struct fake_cluster *fake);

#endif
