/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsan_cluster - threads ask a cluster, read its status, hold its snapshots and change its rules,
 * while its own thread follows a server that sends events without a pause. Then the cluster is
 * freed while it has open questions. A program without criterion, for ThreadSanitizer.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "k8s/cluster/cluster.h"
#include "k8s/util/clock.h"
#include "tests/k8s/thread_server.h"

#define ASKERS 3
#define LOOKERS 2
#define ASKS 30
#define RULES 30
#define EVENT_USEC 500
#define HEAD "HTTP/1.1 200 OK\r\n"

/* Accessed with relaxed order: a stronger order would hide races from ThreadSanitizer. */
static atomic_uint version = 1000;
static atomic_bool stop;
static atomic_uint held_rules; /* set by set_rules() and not yet released */
static atomic_uint open_questions;
static struct cluster *cluster;
static struct cluster_options options;

/* A ConfigMap without a signature, in its newest version. */
static int object_text(char *text, size_t size)
{
    return snprintf(
        text, size,
        "{\"metadata\":{\"name\":\"a\",\"namespace\":\"sandgate-system\","
        "\"resourceVersion\":\"%u\",\"labels\":{\"sandbox.runx.dev/evidence\":\"true\"}},"
        "\"data\":{\"sandbox.yaml\":\"kind: SandboxBaseline\"}}",
        atomic_fetch_add_explicit(&version, 1, memory_order_relaxed));
}

static bool send_list(int fd)
{
    char object[512], body[1024], answer[2048];
    int len = 0;

    (void)object_text(object, sizeof(object));
    len = snprintf(body, sizeof(body), "{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[%s]}",
                   object);
    len = snprintf(answer, sizeof(answer), HEAD "Content-Length: %d\r\n\r\n%s", len, body);
    return send(fd, answer, (size_t)len, MSG_NOSIGNAL) == len;
}

static bool send_chunk(int fd)
{
    char object[512], line[1024], chunk[2048];
    int len = 0;

    (void)object_text(object, sizeof(object));
    len = snprintf(line, sizeof(line), "{\"type\":\"MODIFIED\",\"object\":%s}\n", object);
    len = snprintf(chunk, sizeof(chunk), "%x\r\n%s\r\n", (unsigned)len, line);
    return send(fd, chunk, (size_t)len, MSG_NOSIGNAL) == len;
}

static void send_watch(int fd)
{
    static const char head[] = HEAD "Transfer-Encoding: chunked\r\n\r\n";

    if (send(fd, head, sizeof(head) - 1, MSG_NOSIGNAL) < 0)
        return;
    while (!atomic_load_explicit(&stop, memory_order_relaxed) && send_chunk(fd))
        (void)usleep(EVENT_USEC);
}

static bool respond(int fd, const char *head)
{
    if (strstr(head, "watch=true") == NULL)
        return send_list(fd);
    send_watch(fd);
    return false;
}

/* ---- the threads that use the cluster ---- */

struct question {
    struct cluster_waiter waiter; /* first member: answered() converts its address */
    pthread_mutex_t lock;
    pthread_cond_t condition;
    bool done;
    int result;
};

static void answered(struct cluster_waiter *waiter, int result)
{
    struct question *question = (struct question *)waiter;

    (void)pthread_mutex_lock(&question->lock);
    question->done = true;
    question->result = result;
    (void)pthread_cond_signal(&question->condition);
    (void)pthread_mutex_unlock(&question->lock);
}

static void *ask(void *context)
{
    static const enum cluster_question kinds[] = {CLUSTER_EVIDENCE, CLUSTER_NAMESPACE,
                                                  CLUSTER_FRESH};

    for (size_t i = 0; i < ASKS; i++) {
        struct question question = {
            .waiter = {.deadline_msec = clock_msec() + 50, .done = answered}};

        (void)pthread_mutex_init(&question.lock, NULL);
        (void)pthread_cond_init(&question.condition, NULL);
        check(cluster_ask(cluster, kinds[i % 3], str_of(context), &question.waiter) == 0,
              "cluster_ask failed");
        (void)pthread_mutex_lock(&question.lock);
        while (!question.done)
            (void)pthread_cond_wait(&question.condition, &question.lock);
        (void)pthread_mutex_unlock(&question.lock);
        check(question.result == 0 || question.result == -ETIMEDOUT || question.result == -EBUSY ||
                  question.result == -EIO,
              "unexpected result of a question");
        (void)pthread_cond_destroy(&question.condition);
        (void)pthread_mutex_destroy(&question.lock);
    }
    return NULL;
}

static void *look(void *unused)
{
    (void)unused;
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        struct cluster_status status = {0};
        struct snapshot *snapshot = snapshot_store_get(options.store);

        cluster_read_status(cluster, &status);
        (void)cluster_is_stale(cluster);
        check(cluster_ready(cluster) == (status.ready || cluster_ready(cluster)),
              "the cluster was ready and is no longer");
        if (snapshot != NULL)
            check(snapshot_all(snapshot).count == 1, "unexpected number of documents");
        snapshot_unref(snapshot);
        (void)usleep(200);
    }
    return NULL;
}

static void release_rules(void *object)
{
    check(object == &held_rules, "an unexpected object was released");
    (void)atomic_fetch_sub_explicit(&held_rules, 1, memory_order_relaxed);
}

static void set_rules(const struct keyring *keyring, unsigned threshold)
{
    struct policy policy = policy_defaults();

    for (size_t i = 0; i < EVIDENCE_KIND_COUNT; i++)
        policy.signers[i].threshold = threshold;
    (void)atomic_fetch_add_explicit(&held_rules, 1, memory_order_relaxed);
    check(cluster_set_rules(
              cluster, keyring, &policy,
              (struct snapshot_keep){.object = &held_rules, .release = release_rules}) == 0,
          "cluster_set_rules failed");
}

static void *change_rules(void *keyring)
{
    for (unsigned i = 0; i < RULES; i++) {
        set_rules(keyring, 1 + i % 2);
        (void)usleep(3000);
    }
    return NULL;
}

static void closed(struct cluster_waiter *waiter, int result)
{
    (void)waiter;
    check(result == -ESHUTDOWN || result == 0, "unexpected result of an open question");
    (void)atomic_fetch_sub_explicit(&open_questions, 1, memory_order_relaxed);
}

static void run(const struct keyring *keyring)
{
    static const char *const names[ASKERS] = {"payments", "other", "sandgate-system"};
    struct cluster_waiter open[4];
    pthread_t threads[ASKERS + LOOKERS + 1];
    size_t count = 0;

    for (; count < ASKERS; count++)
        check(pthread_create(&threads[count], NULL, ask, (void *)(uintptr_t)names[count]) == 0,
              "pthread_create failed");
    for (size_t i = 0; i < LOOKERS; i++)
        check(pthread_create(&threads[count++], NULL, look, NULL) == 0, "pthread_create failed");
    check(pthread_create(&threads[count++], NULL, change_rules, (void *)(uintptr_t)keyring) == 0,
          "pthread_create failed");
    for (size_t i = 0; i < ASKERS; i++)
        (void)pthread_join(threads[i], NULL);
    (void)pthread_join(threads[count - 1], NULL);
    for (size_t i = 0; i < 4; i++) {
        open[i] = (struct cluster_waiter){.deadline_msec = UINT64_MAX, .done = closed};
        (void)atomic_fetch_add_explicit(&open_questions, 1, memory_order_relaxed);
        check(cluster_ask(cluster, CLUSTER_FRESH, STR(""), &open[i]) == 0, "cluster_ask failed");
    }
    atomic_store_explicit(&stop, true, memory_order_relaxed);
    for (size_t i = ASKERS; i < ASKERS + LOOKERS; i++)
        (void)pthread_join(threads[i], NULL);
    cluster_free(cluster);
    check(open_questions == 0, "an open question got no answer");
}

int main(void)
{
    cleanup_arena struct arena arena = {0};
    struct access access = {0};
    struct keyring *keyring = NULL;
    struct str reason = {0};
    struct thread_server server;

    thread_server_start(&server, respond);
    access.server = str_of(server.url);
    check(api_new(&access, &arena, &options.api, &reason) == 0, "api_new failed");
    check(keyring_load(TESTS_DIR "/cases/world/keyring", &arena, &keyring, &reason) == 0,
          "keyring_load failed");
    check(snapshot_store_new(&options.store) == 0, "snapshot_store_new failed");
    options.own_namespace = STR(POLICY_OWN_NAMESPACE);
    check(cluster_new(&options, &cluster) == 0, "cluster_new failed");
    set_rules(keyring, 1);
    check(cluster_start(cluster) == 0, "cluster_start failed");
    run(keyring);
    snapshot_store_free(options.store);
    check(held_rules == 0, "rules were not released");
    keyring_unref(keyring);
    api_free(options.api);
    thread_server_stop(&server);
    return EXIT_SUCCESS;
}
