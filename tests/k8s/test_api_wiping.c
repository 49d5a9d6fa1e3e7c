/* SPDX-License-Identifier: Apache-2.0 */
/* test_api_wiping - what can be a secret is overwritten before its memory is freed. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "k8s/api/internal.h"
#include "tests/freed.h"

#define BODY_LINES 2000

static const char *const secrets[] = {"secret-token-1", "secret-token-2", "secret-password",
                                      "secret-request", "secret-reply",   NULL};

Test(api_wiping, credentials_and_request)
{
    static const struct api_request request = {.method = API_PATCH,
                                               .path = STR_INIT("/x"),
                                               .content_type = STR_INIT("application/json"),
                                               .body = STR_INIT("{\"data\":\"secret-request\"}")};
    const struct access with_token = {.server = STR_INIT("https://127.0.0.1:1"),
                                      .token = STR_INIT("secret-token-1")};
    const struct access with_password = {.server = STR_INIT("https://127.0.0.1:1"),
                                         .username = STR_INIT("me"),
                                         .password = STR_INIT("secret-password")};
    const struct access *const all[] = {&with_token, &with_password};

    freed_watch(secrets);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        cleanup_arena_wiped struct arena arena = {0};
        struct api_call *call = NULL;
        struct api *api = NULL;
        struct str reason = {0};

        cr_assert_eq(api_new(all[i], &arena, &api, &reason), 0);
        cr_assert_eq(api_call_new(api, &request, NULL, &call), 0);
        cr_assert_eq(api_call_prepare(api, call), 0);
        cr_expect(freed_found() == NULL, "%s", freed_found());
        api_call_free(api, call);
        cr_expect(freed_found() == NULL, "call: %s", freed_found());
        api_free(api);
        cr_expect(freed_found() == NULL, "api: %s", freed_found());
    }
}

Test(api_wiping, a_token_that_is_replaced)
{
    char path[] = "/tmp/sandgate-token-XXXXXX";
    int fd = mkstemp(path);
    const struct access access = {.server = STR_INIT("https://127.0.0.1:1"), .token_file = path};
    cleanup_arena_wiped struct arena arena = {0};
    struct api *api = NULL;
    struct str text = {0};

    freed_watch(secrets);
    cr_assert_eq(pwrite(fd, secrets[0], strlen(secrets[0]), 0), (ssize_t)strlen(secrets[0]));
    cr_assert_eq(api_new(&access, &arena, &api, &text), 0);
    cr_assert_eq(api_token_take(api, false, &arena, &text), 0);
    cr_expect_str_eq(text.ptr, secrets[0]);
    cr_assert_eq(pwrite(fd, secrets[1], strlen(secrets[1]), 0), (ssize_t)strlen(secrets[1]));
    cr_assert_eq(api_token_take(api, true, &arena, &text), 0);
    cr_expect_str_eq(text.ptr, secrets[1]);
    api_free(api);
    cr_expect(freed_found() == NULL, "%s", freed_found());
    (void)close(fd);
    (void)unlink(path);
}

/* Answers one request, in many parts. */
static void *serve(void *context)
{
    const int listener = *(const int *)context;
    char bytes[4096];
    int fd = accept(listener, NULL, NULL);

    if (fd < 0 || read(fd, bytes, sizeof(bytes)) <= 0)
        return NULL;
    (void)!dprintf(fd, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
    for (int i = 0; i < BODY_LINES; i++)
        (void)!dprintf(fd, "%s-%d\n", "secret-reply", i);
    (void)close(fd);
    return NULL;
}

Test(api_wiping, a_reply)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    static const struct api_request request = {.path = STR_INIT("/x"), .idle_sec = 30};
    socklen_t len = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cleanup_arena_wiped struct arena arena = {0};
    struct access access = {0};
    struct api_reply reply = {0};
    struct api *api = NULL;
    struct str reason = {0};
    pthread_t thread;

    cr_assert_eq(bind(listener, (const void *)&address, len), 0);
    cr_assert_eq(listen(listener, 1), 0);
    cr_assert_eq(getsockname(listener, (void *)&address, &len), 0);
    cr_assert_eq(pthread_create(&thread, NULL, serve, &listener), 0);
    freed_watch(secrets);
    access.server = arena_format(&arena, "http://127.0.0.1:%u", (unsigned)ntohs(address.sin_port));
    cr_assert_eq(api_new(&access, &arena, &api, &reason), 0);
    cr_assert_eq(api_do(api, &request, &arena, &reply), 0);
    cr_expect_eq(reply.status, 200);
    cr_expect(str_contains(reply.body, STR("secret-reply-1999")));
    cr_expect(freed_found() == NULL, "call: %s", freed_found());
    api_free(api);
    cr_expect(freed_found() == NULL, "api: %s", freed_found());
    (void)pthread_join(thread, NULL);
    (void)close(listener);
}
