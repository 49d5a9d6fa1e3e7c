/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsan_server - the real server in this process, with TLS clients in threads, while certificates
 * and snapshots are replaced and there are more connections than the limit. For ThreadSanitizer.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "thread_client.h"
#include "webhook/server/server.h"

#define CLIENTS 6
#define REQUESTS 60
#define CROWD 8
#define SWAPS 20
#define LARGE_BYTES ((size_t)300 * 1024) /* large enough to be handled by another thread */

/* Stands for what a running gate has read. */
struct runtime {
    struct snapshot_store *store;
};

struct scene {
    struct runtime runtime;
    struct tls_files files;
    struct tls *tls;
    uint16_t port;
    _Atomic unsigned answered;
    _Atomic bool done;
};

static struct snapshot *scene_snapshot(struct runtime *runtime)
{
    return snapshot_store_get(runtime->store);
}

static struct moment scene_now(void)
{
    return (struct moment){.sec = MOMENT_UNIX_EPOCH_SEC};
}

static void scene_review(struct str body, enum document_syntax syntax, enum answer_format format,
                         const struct snapshot *snapshot, struct moment now, struct arena *arena,
                         struct exchange *ret_exchange)
{
    (void)syntax;
    (void)format;
    (void)snapshot;
    (void)now;
    ret_exchange->status = 200;
    ret_exchange->body = arena_format(arena, "{\"bytes\":%zu}", body.len);
}

static void scene_put_snapshot(struct scene *scene)
{
    struct policy policy = policy_defaults();
    struct snapshot_builder *builder = NULL;
    struct snapshot *snapshot = NULL;

    must(snapshot_builder_new(&policy, (struct snapshot_keep){0}, &builder) == 0 &&
             snapshot_builder_finish(builder, &snapshot) == 0,
         "a snapshot can be made");
    snapshot_store_put(scene->runtime.store, snapshot);
}

static void *run_swaps(void *argument)
{
    struct scene *scene = argument;

    for (int i = 0; i < SWAPS; i++) {
        struct arena cleanup_arena arena = {0};
        struct str reason = {0};

        scene_put_snapshot(scene);
        must(tls_reload(scene->tls, &scene->files, &arena, &reason) == 0, "a reload");
        nap(20);
    }
    return NULL;
}

/* Sends one request. false if the server closed the connection, as it can at the limit. */
static bool ask(gnutls_session_t session, size_t bytes)
{
    static char blanks[LARGE_BYTES];
    char head[160], answer[1024];
    size_t got = 0;

    (void)snprintf(head, sizeof(head),
                   "POST /validate?timeout=5s HTTP/1.1\r\nHost: x\r\nContent-Type: "
                   "application/json\r\nContent-Length: %zu\r\n\r\n",
                   bytes);
    if (!thread_client_send(session, head, strlen(head)) ||
        !thread_client_send(session, blanks, bytes))
        return false;
    while (got < sizeof(answer) - 1) {
        ssize_t n = gnutls_record_recv(session, answer + got, sizeof(answer) - 1 - got);

        if (n == 0 || (n < 0 && gnutls_error_is_fatal((int)n)))
            return false;
        got += n > 0 ? (size_t)n : 0;
        answer[got] = '\0';
        if (strstr(answer, "}") != NULL)
            break;
    }
    must(strncmp(answer, "HTTP/1.1 200", 12) == 0, answer);
    return true;
}

static void *run_client(void *argument)
{
    struct scene *scene = argument;
    gnutls_certificate_credentials_t trust = NULL;

    must(gnutls_certificate_allocate_credentials(&trust) == 0, "credentials");
    for (int i = 0; i < REQUESTS;) {
        gnutls_session_t session = NULL;
        int fd = thread_client_connect(scene->port);

        must(gnutls_init(&session, GNUTLS_CLIENT) == 0 &&
                 gnutls_set_default_priority(session) == 0 &&
                 gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, trust) == 0,
             "a session");
        gnutls_transport_set_int(session, fd);
        /* a connection closed in favour of others counts as answered */
        if (gnutls_handshake(session) != 0)
            i++;
        else
            for (int turn = 0; turn < 10 && i < REQUESTS; turn++, i++) {
                if (!ask(session, turn == 5 ? LARGE_BYTES : 2))
                    turn = 10;
                else
                    (void)atomic_fetch_add(&scene->answered, 1);
            }
        gnutls_deinit(session);
        (void)close(fd);
    }
    gnutls_certificate_free_credentials(trust);
    return NULL;
}

/* More silent connections than the limit. */
static void *run_crowd(void *argument)
{
    struct scene *scene = argument;

    while (!atomic_load(&scene->done)) {
        int fds[CROWD];

        for (size_t i = 0; i < CROWD; i++)
            fds[i] = thread_client_connect(scene->port);
        nap(20);
        for (size_t i = 0; i < CROWD; i++)
            (void)close(fds[i]);
    }
    return NULL;
}

static void scene_play(struct scene *scene)
{
    pthread_t clients[CLIENTS], swaps, crowd;

    must(pthread_create(&swaps, NULL, run_swaps, scene) == 0, "a thread");
    must(pthread_create(&crowd, NULL, run_crowd, scene) == 0, "a thread");
    for (size_t i = 0; i < CLIENTS; i++)
        must(pthread_create(&clients[i], NULL, run_client, scene) == 0, "a thread");
    for (size_t i = 0; i < CLIENTS; i++)
        (void)pthread_join(clients[i], NULL);
    (void)pthread_join(swaps, NULL);
    atomic_store(&scene->done, true);
    (void)pthread_join(crowd, NULL);
    must(atomic_load(&scene->answered) > CLIENTS, "requests are answered");
}

static void scene_serve(struct scene *scene)
{
    static struct metrics metrics;
    static const struct log log = {.fd = STDERR_FILENO, .level = LOG_LEVEL_ERROR};
    struct arena cleanup_arena arena = {0};
    struct str reason = {0};
    struct server *server = NULL;
    struct server_options options = {
        .webhook = {.host = "127.0.0.1"},
        .admin = {.host = "127.0.0.1"},
        .threads = 2,
        .limits = {.max_body_bytes = 1 << 20,
                   .max_in_flight = 64,
                   .max_in_flight_bytes = 64 << 20,
                   .max_connections = 16},
        .times = server_default_times(),
        .gate = {.runtime = &scene->runtime,
                 .snapshot = scene_snapshot,
                 .now = scene_now,
                 .review = scene_review},
        .metrics = &metrics,
        .log = &log,
    };

    must(tls_new(&scene->files, &arena, &scene->tls, &reason) == 0, "credentials");
    options.tls = scene->tls;
    must(server_start(&options, &arena, &server, &reason) == 0, "the server starts");
    scene->port = server_webhook_port(server);
    scene_play(scene);
    server_stop(server, 1000);
    tls_free(scene->tls);
}

int main(void)
{
    static struct scene scene;
    struct thread_client_files files;

    (void)signal(SIGPIPE, SIG_IGN);
    thread_client_make_files(&files);
    scene.files = files.files;
    must(snapshot_store_new(&scene.runtime.store) == 0, "a store");
    scene_put_snapshot(&scene);
    scene_serve(&scene);
    snapshot_store_free(scene.runtime.store);
    thread_client_remove_files(&files);
    return 0;
}
