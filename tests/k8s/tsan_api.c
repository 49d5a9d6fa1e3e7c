/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsan_api - threads share one api: some wait for their own calls, one drives a loop, and another
 * wakes that loop. A program without criterion, for ThreadSanitizer.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "k8s/api/api.h"
#include "k8s/util/clock.h"
#include "tests/k8s/thread_server.h"

#define CALLERS 4
#define CALLS 25
#define LOOP_CALLS 100
#define LOOP_AT_ONCE 8
#define WAKES 50
#define FOREVER_MSEC 1200000

static struct api *api;

static bool respond(int fd, const char *head)
{
    static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

    (void)head;
    check(write(fd, text, sizeof(text) - 1) > 0, "the server could not send an answer");
    return true;
}

static const struct api_request request = {.method = API_GET, .path = STR_INIT("/x")};

static void *call(void *unused)
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

struct calls {
    struct api_loop *loop;
    size_t started, done;
};

static void start_more(struct calls *calls);

static void call_done(void *context, int result, const struct api_reply *reply)
{
    struct calls *calls = context;

    check(result == 0 && reply->status == 200 && str_equal(reply->body, STR("hello")),
          "a call of the loop failed");
    calls->done++;
    start_more(calls);
}

static void start_more(struct calls *calls)
{
    struct api_request own = request;

    own.context = calls;
    while (calls->started < LOOP_CALLS && calls->started - calls->done < LOOP_AT_ONCE) {
        check(api_loop_start(calls->loop, &own, call_done, NULL) == 0, "api_loop_start failed");
        calls->started++;
    }
}

static void *drive(void *context)
{
    struct calls *calls = context;

    start_more(calls);
    while (calls->done < LOOP_CALLS)
        check(api_loop_turn(calls->loop, FOREVER_MSEC) == 0, "api_loop_turn failed");
    return NULL;
}

static void *wake_often(void *context)
{
    struct calls *calls = context;

    for (int i = 0; i < WAKES; i++) {
        api_loop_wake(calls->loop);
        (void)usleep(100);
    }
    return NULL;
}

static void *wake_later(void *context)
{
    (void)usleep(100000);
    api_loop_wake(context);
    return NULL;
}

/* A turn of a loop without calls waits until the loop is woken. */
static void wait_for_wake(void)
{
    struct api_loop *loop = NULL;
    uint64_t begin_msec = clock_msec();
    pthread_t thread;

    check(api_loop_new(api, &loop) == 0, "api_loop_new failed");
    check(pthread_create(&thread, NULL, wake_later, loop) == 0, "pthread_create failed");
    check(api_loop_turn(loop, FOREVER_MSEC) == 0, "api_loop_turn failed");
    check(clock_msec() - begin_msec < FOREVER_MSEC / 2, "the wake-up had no effect");
    check(clock_msec() - begin_msec >= 90, "api_loop_turn returned too early");
    (void)pthread_join(thread, NULL);
    /* a wake-up before the turn ends that turn at once */
    api_loop_wake(loop);
    check(api_loop_turn(loop, FOREVER_MSEC) == 0, "api_loop_turn failed");
    check(clock_msec() - begin_msec < FOREVER_MSEC / 2, "an earlier wake-up was lost");
    api_loop_free(loop);
}

int main(void)
{
    cleanup_arena struct arena arena = {0};
    struct access access = {0};
    struct str reason = {0};
    struct calls calls = {0};
    struct thread_server server;
    pthread_t threads[CALLERS + 2];

    thread_server_start(&server, respond);
    access.server = str_of(server.url);
    check(api_new(&access, &arena, &api, &reason) == 0, "api_new failed");
    wait_for_wake();
    check(api_loop_new(api, &calls.loop) == 0, "api_loop_new failed");
    for (int i = 0; i < CALLERS; i++)
        check(pthread_create(&threads[i], NULL, call, NULL) == 0, "pthread_create failed");
    check(pthread_create(&threads[CALLERS], NULL, drive, &calls) == 0, "pthread_create failed");
    check(pthread_create(&threads[CALLERS + 1], NULL, wake_often, &calls) == 0,
          "pthread_create failed");
    for (int i = 0; i < CALLERS + 2; i++)
        (void)pthread_join(threads[i], NULL);
    api_loop_free(calls.loop);
    api_free(api);
    thread_server_stop(&server);
    return EXIT_SUCCESS;
}
