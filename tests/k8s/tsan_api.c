/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads share one api: some wait for calls of their own, one drives a loop that others wake. A
 * plain program, for ThreadSanitizer. The server is a thread that speaks HTTP in the clear, so that
 * GnuTLS, which is not instrumented, stays out of it.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "k8s/api/api.h"
#include "k8s/util/clock.h"

#define ASKERS 4
#define CALLS 25
#define LOOP_CALLS 100
#define LOOP_AT_ONCE 8
#define WAKES 50
#define FOREVER_MSEC 60000

static const char reply_text[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

static struct api *api;
static int listener;

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    exit(EXIT_FAILURE);
}

static void *serve_one(void *context)
{
    const int fd = *(int *)context;
    char bytes[4096];
    size_t len = 0;

    free(context);
    for (;;) {
        ssize_t n = read(fd, bytes + len, sizeof(bytes) - len);

        if (n <= 0)
            break;
        len += (size_t)n;
        if (len >= 4 && memcmp(bytes + len - 4, "\r\n\r\n", 4) == 0) {
            check(write(fd, reply_text, sizeof(reply_text) - 1) > 0, "no answer was sent");
            len = 0;
        }
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

static const struct api_request request = {.method = API_GET, .path = STR_INIT("/x")};

static void *ask(void *unused)
{
    (void)unused;
    for (int i = 0; i < CALLS; i++) {
        cleanup_arena struct arena arena = {0};
        struct api_reply reply = {0};

        check(api_do(api, &request, &arena, &reply) == 0 && reply.status == 200 &&
                  str_equal(reply.body, STR("hello")),
              "a call failed");
    }
    return NULL;
}

struct many {
    struct api_loop *loop;
    size_t begun, ended;
};

static void begin_more(struct many *many);

static void one_ended(void *context, int result, const struct api_reply *reply)
{
    struct many *many = context;

    check(result == 0 && reply->status == 200 && str_equal(reply->body, STR("hello")),
          "a call of the loop failed");
    many->ended++;
    begin_more(many);
}

static void begin_more(struct many *many)
{
    struct api_request own = request;

    own.context = many;
    while (many->begun < LOOP_CALLS && many->begun - many->ended < LOOP_AT_ONCE) {
        check(api_loop_start(many->loop, &own, one_ended, NULL) == 0, "no call");
        many->begun++;
    }
}

static void *drive(void *context)
{
    struct many *many = context;

    begin_more(many);
    while (many->ended < LOOP_CALLS)
        check(api_loop_turn(many->loop, FOREVER_MSEC) == 0, "no turn");
    return NULL;
}

static void *wake_often(void *context)
{
    struct many *many = context;

    for (int i = 0; i < WAKES; i++) {
        api_loop_wake(many->loop);
        (void)usleep(100);
    }
    return NULL;
}

static void *wake_late(void *context)
{
    (void)usleep(100000);
    api_loop_wake(context);
    return NULL;
}

/* A loop without calls waits until it is woken, and no longer. */
static void wait_for_wake(void)
{
    struct api_loop *loop = NULL;
    uint64_t begin_msec = clock_msec();
    pthread_t thread;

    check(api_loop_new(api, &loop) == 0, "no loop");
    check(pthread_create(&thread, NULL, wake_late, loop) == 0, "no thread");
    check(api_loop_turn(loop, FOREVER_MSEC) == 0, "no turn");
    check(clock_msec() - begin_msec < FOREVER_MSEC / 2, "the wake was not heard");
    check(clock_msec() - begin_msec >= 90, "it did not wait");
    (void)pthread_join(thread, NULL);
    /* one that came before counts for the next turn */
    api_loop_wake(loop);
    check(api_loop_turn(loop, FOREVER_MSEC) == 0, "no turn");
    check(clock_msec() - begin_msec < FOREVER_MSEC / 2, "an early wake was lost");
    api_loop_free(loop);
}

int main(void)
{
    cleanup_arena struct arena arena = {0};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    struct access access = {0};
    struct str reason = {0};
    struct many many = {0};
    pthread_t server;
    pthread_t threads[ASKERS + 2];

    listener = socket(AF_INET, SOCK_STREAM, 0);
    check(bind(listener, (struct sockaddr *)&address, len) == 0 && listen(listener, 64) == 0 &&
              getsockname(listener, (struct sockaddr *)&address, &len) == 0,
          "no server");
    check(pthread_create(&server, NULL, serve, NULL) == 0, "no thread");
    access.server = arena_format(&arena, "http://127.0.0.1:%u", (unsigned)ntohs(address.sin_port));
    check(api_new(&access, &arena, &api, &reason) == 0, "no api");
    wait_for_wake();
    check(api_loop_new(api, &many.loop) == 0, "no loop");
    for (int i = 0; i < ASKERS; i++)
        check(pthread_create(&threads[i], NULL, ask, NULL) == 0, "no thread");
    check(pthread_create(&threads[ASKERS], NULL, drive, &many) == 0, "no thread");
    check(pthread_create(&threads[ASKERS + 1], NULL, wake_often, &many) == 0, "no thread");
    for (int i = 0; i < ASKERS + 2; i++)
        (void)pthread_join(threads[i], NULL);
    api_loop_free(many.loop);
    api_free(api);
    (void)shutdown(listener, SHUT_RDWR);
    (void)pthread_join(server, NULL);
    (void)close(listener);
    return EXIT_SUCCESS;
}
