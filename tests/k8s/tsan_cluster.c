/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads ask a cluster, look at it, hold its snapshots and change its rules while its own thread
 * follows a server that never stops sending events; then it ends with questions open. A plain
 * program, for ThreadSanitizer; the server is a thread that speaks HTTP in the clear.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "k8s/cluster/cluster.h"
#include "k8s/util/clock.h"

#define ASKERS 3
#define LOOKERS 2
#define ASKS 30
#define RULES 30
#define EVENT_USEC 500
#define HEAD "HTTP/1.1 200 OK\r\n"

static int listener;
static unsigned version = 1000;
static bool stop;
static unsigned alive; /* rules that were not let go */
static unsigned open_asks;
static struct cluster *cluster;
static struct cluster_options options;

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    exit(EXIT_FAILURE);
}

/* A ConfigMap without a signature, in its newest version. */
static int object_text(char *text, size_t room)
{
    return snprintf(
        text, room,
        "{\"metadata\":{\"name\":\"a\",\"namespace\":\"sandgate-system\","
        "\"resourceVersion\":\"%u\",\"labels\":{\"sandbox.runx.dev/evidence\":\"true\"}},"
        "\"data\":{\"sandbox.yaml\":\"kind: SandboxBaseline\"}}",
        __atomic_add_fetch(&version, 1, __ATOMIC_RELAXED));
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
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED) && send_chunk(fd))
        (void)usleep(EVENT_USEC);
}

static void *serve_one(void *context)
{
    const int fd = *(int *)context;
    char bytes[4096];
    size_t len = 0;
    bool more = true;

    free(context);
    while (more) {
        ssize_t n = read(fd, bytes + len, sizeof(bytes) - 1 - len);

        if (n <= 0)
            break;
        len += (size_t)n;
        bytes[len] = '\0';
        if (len < 4 || memcmp(bytes + len - 4, "\r\n\r\n", 4) != 0)
            continue;
        if (strstr(bytes, "watch=true") != NULL) {
            send_watch(fd);
            more = false;
        } else {
            more = send_list(fd);
        }
        len = 0;
    }
    (void)close(fd);
    return NULL;
}

static void *serve(void *unused)
{
    (void)unused;
    for (;;) {
        int *fd = malloc(sizeof(*fd));
        pthread_t thread;

        check(fd != NULL, "no memory");
        *fd = accept(listener, NULL, NULL);
        if (*fd < 0) {
            free(fd);
            return NULL;
        }
        check(pthread_create(&thread, NULL, serve_one, fd) == 0, "no thread");
        (void)pthread_detach(thread);
    }
}

/* ---- who asks ---- */

struct question {
    struct cluster_waiter waiter; /* the first: it is what done() is given */
    pthread_mutex_t lock;
    pthread_cond_t answered;
    bool done;
    int result;
};

static void done(struct cluster_waiter *waiter, int result)
{
    struct question *question = (struct question *)waiter;

    (void)pthread_mutex_lock(&question->lock);
    question->done = true;
    question->result = result;
    (void)pthread_cond_signal(&question->answered);
    (void)pthread_mutex_unlock(&question->lock);
}

static void *ask(void *context)
{
    static const enum cluster_question kinds[] = {CLUSTER_EVIDENCE, CLUSTER_NAMESPACE,
                                                  CLUSTER_FRESH};

    for (size_t i = 0; i < ASKS; i++) {
        struct question question = {.waiter = {.deadline_msec = clock_msec() + 50, .done = done}};

        (void)pthread_mutex_init(&question.lock, NULL);
        (void)pthread_cond_init(&question.answered, NULL);
        check(cluster_ask(cluster, kinds[i % 3], str_of(context), &question.waiter) == 0,
              "a question was refused");
        (void)pthread_mutex_lock(&question.lock);
        while (!question.done)
            (void)pthread_cond_wait(&question.answered, &question.lock);
        (void)pthread_mutex_unlock(&question.lock);
        check(question.result == 0 || question.result == -ETIMEDOUT || question.result == -EBUSY ||
                  question.result == -EIO,
              "another answer");
        (void)pthread_cond_destroy(&question.answered);
        (void)pthread_mutex_destroy(&question.lock);
    }
    return NULL;
}

static void *look(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        struct cluster_status status = {0};
        struct snapshot *snapshot = snapshot_store_get(options.store);

        cluster_look(cluster, &status);
        (void)cluster_is_stale(cluster, 1);
        check(cluster_ready(cluster) == (status.ready || cluster_ready(cluster)),
              "not ready again");
        if (snapshot != NULL)
            check(snapshot_all(snapshot).count == 1, "another number of documents");
        snapshot_unref(snapshot);
        (void)usleep(200);
    }
    return NULL;
}

static void let_go(void *object)
{
    check(object == &alive, "another keep was let go");
    (void)__atomic_sub_fetch(&alive, 1, __ATOMIC_RELAXED);
}

static void set_rules(const struct keyring *keyring, unsigned threshold)
{
    struct policy policy = policy_defaults();

    for (size_t i = 0; i < EVIDENCE_KIND_COUNT; i++)
        policy.signers[i].threshold = threshold;
    (void)__atomic_add_fetch(&alive, 1, __ATOMIC_RELAXED);
    check(cluster_set_rules(cluster, keyring, &policy,
                            (struct snapshot_keep){.object = &alive, .release = let_go}) == 0,
          "no rules");
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
    check(result == -ESHUTDOWN || result == 0, "no end was told");
    (void)__atomic_sub_fetch(&open_asks, 1, __ATOMIC_RELAXED);
}

static void run(const struct keyring *keyring)
{
    static const char *const names[ASKERS] = {"payments", "other", "sandgate-system"};
    struct cluster_waiter open[4];
    pthread_t threads[ASKERS + LOOKERS + 1];
    size_t count = 0;

    for (; count < ASKERS; count++)
        check(pthread_create(&threads[count], NULL, ask, (void *)(uintptr_t)names[count]) == 0,
              "no thread");
    for (size_t i = 0; i < LOOKERS; i++)
        check(pthread_create(&threads[count++], NULL, look, NULL) == 0, "no thread");
    check(pthread_create(&threads[count++], NULL, change_rules, (void *)(uintptr_t)keyring) == 0,
          "no thread");
    for (size_t i = 0; i < ASKERS; i++)
        (void)pthread_join(threads[i], NULL);
    (void)pthread_join(threads[count - 1], NULL);
    for (size_t i = 0; i < 4; i++) {
        open[i] = (struct cluster_waiter){.deadline_msec = UINT64_MAX, .done = closed};
        (void)__atomic_add_fetch(&open_asks, 1, __ATOMIC_RELAXED);
        check(cluster_ask(cluster, CLUSTER_FRESH, STR(""), &open[i]) == 0,
              "a question was refused");
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (size_t i = ASKERS; i < ASKERS + LOOKERS; i++)
        (void)pthread_join(threads[i], NULL);
    cluster_free(cluster);
    check(open_asks == 0, "a question was forgotten");
}

int main(void)
{
    cleanup_arena struct arena arena = {0};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    struct access access = {0};
    struct keyring *keyring = NULL;
    struct str reason = {0};
    pthread_t server;

    listener = socket(AF_INET, SOCK_STREAM, 0);
    check(bind(listener, (struct sockaddr *)&address, len) == 0 && listen(listener, 64) == 0 &&
              getsockname(listener, (struct sockaddr *)&address, &len) == 0,
          "no server");
    check(pthread_create(&server, NULL, serve, NULL) == 0, "no thread");
    access.server = arena_format(&arena, "http://127.0.0.1:%u", (unsigned)ntohs(address.sin_port));
    check(api_new(&access, &arena, &options.api, &reason) == 0, "no api");
    check(keyring_load(TESTS_DIR "/cases/world/keyring", &arena, &keyring, &reason) == 0,
          "no keyring");
    check(snapshot_store_new(&options.store) == 0, "no store");
    options.own_namespace = STR(POLICY_OWN_NAMESPACE);
    check(cluster_new(&options, &cluster) == 0, "no cluster");
    set_rules(keyring, 1);
    check(cluster_start(cluster) == 0, "no start");
    run(keyring);
    snapshot_store_free(options.store);
    check(alive == 0, "rules were not let go");
    keyring_unref(keyring);
    api_free(options.api);
    (void)shutdown(listener, SHUT_RDWR);
    (void)pthread_join(server, NULL);
    (void)close(listener);
    return EXIT_SUCCESS;
}
