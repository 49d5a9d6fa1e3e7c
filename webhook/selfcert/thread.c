/* SPDX-License-Identifier: Apache-2.0 */
/* thread - reconciles again and again, and hands certificates to the server. See thread.h. */

#include "webhook/selfcert/thread.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "k8s/util/clock.h"
#include "webhook/selfcert/reconcile.h"

#define PAUSE_MSEC 20000 /* between two passes, plus or minus a fifth */
#define RETRY_MSEC 1000  /* after a failure; doubled for each further one */
#define JITTER_PARTS 5
#define TEMPORARY_DAYS 3650

struct self_tls {
    struct self_replica replica; /* used by the thread only */
    pthread_t thread;

    pthread_mutex_t lock; /* around all members below */
    pthread_cond_t wake;
    bool ending;
    bool reconcile_now;
    const struct config *config;
    struct arena arena; /* owns the texts of pair */
    struct certificate_pair pair;
    uint64_t generation;
    uint64_t served; /* the generation that is served; 0: none */
    enum self_why why;
    enum self_why failed;
};

static uint32_t random_below(uint32_t below)
{
    uint32_t number = 0;

    /* without random numbers, replicas only write at the same time more often */
    (void)gnutls_rnd(GNUTLS_RND_NONCE, &number, sizeof(number));
    return number % below;
}

/* Hands over the result of the last pass. */
static void publish(struct self_tls *self)
{
    const struct self_replica *replica = &self->replica;
    struct arena arena = {0};
    struct certificate_pair pair = {0};
    bool fresh = replica->generation != self->generation;

    if (fresh) {
        /* without memory: at the next pass */
        fresh = certificate_pair_copy(&replica->serving.pair, &arena, &pair) == 0;
    }
    (void)pthread_mutex_lock(&self->lock);
    self->why = replica->why;
    self->failed = replica->failed;
    if (fresh) {
        arena_wipe(&self->arena);
        self->arena = arena;
        self->pair = pair;
        self->generation = replica->generation;
    }
    (void)pthread_mutex_unlock(&self->lock);
    if (!fresh)
        arena_wipe(&arena);
}

static uint64_t pause_msec(const struct self_replica *replica, unsigned *failures)
{
    uint64_t msec = RETRY_MSEC;

    if (replica->failed == SELF_WEBHOOKS_MISSING) {
        /* An administrator deleted it in an emergency. After it is created again, the API server
         * does not trust the gate until the next pass, so the pause stays short. */
        *failures = 0;
    } else if (replica->failed == SELF_READY || replica->why == SELF_READY) {
        *failures = 0;
        msec = PAUSE_MSEC;
    } else {
        for (unsigned i = 0; i < *failures && msec < PAUSE_MSEC; i++)
            msec *= 2;
        (*failures)++;
    }
    return msec - msec / JITTER_PARTS + random_below((uint32_t)(2 * msec / JITTER_PARTS + 1));
}

/* Waits so long, or until a pass is requested. False: the thread has to end. */
static bool wait_for(struct self_tls *self, uint64_t msec)
{
    struct timespec end = clock_timespec(clock_msec() + msec);
    bool ending = false;
    int r = 0;

    (void)pthread_mutex_lock(&self->lock);
    while (!self->ending && !self->reconcile_now && r != ETIMEDOUT)
        r = pthread_cond_timedwait(&self->wake, &self->lock, &end);
    self->reconcile_now = false;
    ending = self->ending;
    (void)pthread_mutex_unlock(&self->lock);
    return !ending;
}

static const struct config *take_config(struct self_tls *self)
{
    const struct config *config = NULL;

    (void)pthread_mutex_lock(&self->lock);
    config = config_ref(self->config);
    (void)pthread_mutex_unlock(&self->lock);
    return config;
}

static void *run(void *context)
{
    struct self_tls *self = context;
    unsigned failures = 0;

    do {
        const struct config *config = take_config(self);

        self_reconcile(&self->replica, config, clock_unix_sec(), clock_msec());
        config_unref(config);
        publish(self);
    } while (wait_for(self, pause_msec(&self->replica, &failures)));
    return NULL;
}

int self_tls_start(struct api *api, const struct config *config, const struct log *log,
                   struct self_tls **ret_self)
{
    struct self_tls *self = calloc(1, sizeof(*self));
    int r = 0;

    if (self == NULL)
        return -ENOMEM;
    self->replica = (struct self_replica){
        .api = api, .log = log, .jitter = random_below(SELF_FULL_JITTER), .why = SELF_STARTING};
    self->why = SELF_STARTING;
    self->config = config_ref(config);
    r = -pthread_mutex_init(&self->lock, NULL);
    if (r < 0)
        goto no_lock;
    r = clock_condition_init(&self->wake);
    if (r < 0)
        goto no_wake;
    r = -pthread_create(&self->thread, NULL, run, self);
    if (r < 0)
        goto no_thread;
    *ret_self = self;
    return 0;

no_thread:
    (void)pthread_cond_destroy(&self->wake);
no_wake:
    (void)pthread_mutex_destroy(&self->lock);
no_lock:
    config_unref(self->config);
    free(self);
    return r;
}

void self_tls_end(struct self_tls *self)
{
    (void)pthread_mutex_lock(&self->lock);
    self->ending = true;
    (void)pthread_cond_signal(&self->wake);
    (void)pthread_mutex_unlock(&self->lock);
}

void self_tls_reconcile(struct self_tls *self)
{
    (void)pthread_mutex_lock(&self->lock);
    self->reconcile_now = true;
    (void)pthread_cond_signal(&self->wake);
    (void)pthread_mutex_unlock(&self->lock);
}

void self_tls_free(struct self_tls *self)
{
    if (self == NULL)
        return;
    self_tls_end(self);
    (void)pthread_join(self->thread, NULL);
    self_replica_done(&self->replica);
    arena_wipe(&self->arena);
    config_unref(self->config);
    (void)pthread_cond_destroy(&self->wake);
    (void)pthread_mutex_destroy(&self->lock);
    free(self);
}

void self_tls_set_config(struct self_tls *self, const struct config *config)
{
    const struct config *old = NULL;

    (void)pthread_mutex_lock(&self->lock);
    old = self->config;
    self->config = config_ref(config);
    (void)pthread_mutex_unlock(&self->lock);
    config_unref(old);
}

uint64_t self_tls_generation(struct self_tls *self)
{
    uint64_t generation = 0;

    (void)pthread_mutex_lock(&self->lock);
    generation = self->generation;
    (void)pthread_mutex_unlock(&self->lock);
    return generation;
}

int self_tls_take(struct self_tls *self, struct arena *arena, struct certificate_pair *ret_pair,
                  uint64_t *ret_generation)
{
    int r = -ENOENT;

    (void)pthread_mutex_lock(&self->lock);
    if (self->generation > 0) {
        r = certificate_pair_copy(&self->pair, arena, ret_pair);
        *ret_generation = self->generation;
    }
    (void)pthread_mutex_unlock(&self->lock);
    return r;
}

void self_tls_served(struct self_tls *self, uint64_t generation)
{
    (void)pthread_mutex_lock(&self->lock);
    self->served = generation;
    (void)pthread_mutex_unlock(&self->lock);
}

const char *self_tls_why(struct self_tls *self)
{
    enum self_why why = SELF_STARTING;

    (void)pthread_mutex_lock(&self->lock);
    why = self->why;
    if (why == SELF_READY && self->served == 0)
        why = SELF_STARTING;
    (void)pthread_mutex_unlock(&self->lock);
    return self_why_text(why);
}

const char *self_tls_failure(struct self_tls *self)
{
    enum self_why failed = SELF_READY;

    (void)pthread_mutex_lock(&self->lock);
    failed = self->failed;
    (void)pthread_mutex_unlock(&self->lock);
    return failed != SELF_READY ? self_why_detail(failed) : NULL;
}

int self_tls_make_temporary(int64_t now_sec, struct arena *arena, struct certificate_pair *ret_pair)
{
    static const struct str name = STR_INIT("not-ready.invalid");
    const struct str_list names = {.items = &name, .count = 1};
    struct certificate_pair ca = {0};
    int r = certificate_make_ca(now_sec, TEMPORARY_DAYS, arena, &ca);

    return r < 0 ? r
                 : certificate_make_serving(&ca, &names, now_sec, TEMPORARY_DAYS, arena, ret_pair);
}
