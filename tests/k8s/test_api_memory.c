/* SPDX-License-Identifier: Apache-2.0 */
/* test_api_memory - each allocation of a call fails once: the call fails, or its reply is complete.
 */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "k8s/api/api.h"
#include "tests/k8s/failing.h"

#define MAX_ALLOCATIONS 500

static const char reply_text[] =
    "HTTP/1.1 403 No\r\nContent-Length: 16\r\nConnection: close\r\n\r\n"
    "{\"message\":\"no\"}";

/* Answers one request on each connection. */
static void *serve(void *context)
{
    const int listener = *(const int *)context;

    for (;;) {
        char bytes[4096];
        int fd = accept(listener, NULL, NULL);

        if (fd < 0)
            return NULL;
        if (read(fd, bytes, sizeof(bytes)) > 0)
            (void)!write(fd, reply_text, sizeof(reply_text) - 1);
        (void)close(fd);
    }
}

static int make_call(struct str server, struct str *ret_reason)
{
    static const struct str groups[] = {STR_INIT("a"), STR_INIT("b")};
    const struct access access = {
        .server = server, .as = STR_INIT("me"), .as_groups = {.items = groups, .count = 2}};
    const struct api_request request = {.method = API_POST,
                                        .path = STR_INIT("/x?y"),
                                        .content_type = STR_INIT("application/json"),
                                        .body = STR_INIT("{}"),
                                        .idle_sec = 30};
    cleanup_arena struct arena arena = {0};
    struct api_reply reply = {0};
    struct api *api = NULL;
    struct str reason = {0};
    int r = api_new(&access, &arena, &api, &reason);

    if (r == 0)
        r = api_do(api, &request, &arena, &reply);
    if (r == 0) {
        cr_expect_eq(reply.status, 403);
        cr_expect(str_equal(reply.body, STR("{\"message\":\"no\"}")));
        cr_expect(str_present(reply.reason));
        *ret_reason =
            str_contains(reply.reason, STR("/x: status 403: no")) ? STR("whole") : STR("less");
    }
    api_free(api);
    return r;
}

Test(api_memory, every_failing_allocation_is_an_error)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    cleanup_arena struct arena arena = {0};
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct str server = {0};
    struct str reason = {0};
    unsigned nth = 1;
    unsigned errors = 0;
    pthread_t thread;

    cr_assert_eq(bind(listener, (struct sockaddr *)&address, len), 0);
    cr_assert_eq(listen(listener, 16), 0);
    cr_assert_eq(getsockname(listener, (struct sockaddr *)&address, &len), 0);
    cr_assert_eq(pthread_create(&thread, NULL, serve, &listener), 0);
    server = arena_format(&arena, "http://127.0.0.1:%u", (unsigned)ntohs(address.sin_port));
    cr_assert_eq(make_call(server, &reason), 0);
    for (; nth < MAX_ALLOCATIONS; nth++) {
        int r = 0;

        failing_alloc_arm(nth);
        r = make_call(server, &reason);
        if (!failing_alloc_failed())
            break;
        cr_expect(r == 0 || r == -ENOMEM, "%u: %d", nth, r);
        errors += r == -ENOMEM;
    }
    cr_expect_lt(nth, MAX_ALLOCATIONS);
    cr_expect_gt(errors, 5, "%u", errors);
    cr_expect(str_equal(reason, STR("whole")));
    (void)shutdown(listener, SHUT_RDWR);
    (void)pthread_join(thread, NULL);
    (void)close(listener);
}
