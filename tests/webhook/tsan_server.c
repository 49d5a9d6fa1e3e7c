/*
 * The real server in this process, asked by TLS clients in threads while certificates and snapshots
 * are swapped and more connections come than there is room for: what ThreadSanitizer would not
 * like.
 */
#include <arpa/inet.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "webhook/server.h"

#define CLIENTS 6
#define REQUESTS 60
#define CROWD 8
#define SWAPS 20
#define LARGE_BYTES ((size_t)300 * 1024) /* left to another thread */
#define PATH_BYTES 128

struct scene {
    struct snapshot_store *store;
    struct tls_files files;
    struct tls *tls;
    uint16_t port;
    _Atomic unsigned answered;
    _Atomic bool done;
};

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    exit(1);
}

static void nap(long msec)
{
    struct timespec pause = {.tv_nsec = msec * 1000000};

    (void)nanosleep(&pause, NULL);
}

static void write_pem(const char *path, const gnutls_datum_t *pem)
{
    FILE *file = fopen(path, "w");

    must(file != NULL && fwrite(pem->data, 1, pem->size, file) == pem->size && fclose(file) == 0,
         path);
    gnutls_free(pem->data);
}

/* A certificate that signs itself. */
static void make_certificate(const struct tls_files *files)
{
    gnutls_x509_privkey_t key = NULL;
    gnutls_x509_crt_t certificate = NULL;
    gnutls_datum_t pem = {0};
    time_t now = time(NULL);
    bool made =
        gnutls_x509_privkey_init(&key) == 0 && gnutls_x509_crt_init(&certificate) == 0 &&
        gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
                                     GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0) == 0 &&
        gnutls_x509_crt_set_version(certificate, 3) == 0 &&
        gnutls_x509_crt_set_serial(certificate, "\1", 1) == 0 &&
        gnutls_x509_crt_set_activation_time(certificate, now - 3600) == 0 &&
        gnutls_x509_crt_set_expiration_time(certificate, now + 3600) == 0 &&
        gnutls_x509_crt_set_key(certificate, key) == 0 &&
        gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0) == 0;

    must(made, "a certificate can be made");
    must(gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &pem) == 0, "export");
    write_pem(files->certificate, &pem);
    must(gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &pem) == 0, "export of the key");
    write_pem(files->key, &pem);
    gnutls_x509_crt_deinit(certificate);
    gnutls_x509_privkey_deinit(key);
}

static struct snapshot *scene_snapshot(void *context)
{
    struct scene *scene = context;

    return snapshot_store_get(scene->store);
}

static struct moment scene_now(void *context)
{
    (void)context;
    return (struct moment){.sec = MOMENT_UNIX_EPOCH_SEC};
}

static void scene_review(void *context, const struct server_review *review, struct arena *arena,
                         struct exchange *ret_exchange)
{
    (void)context;
    ret_exchange->status = 200;
    ret_exchange->body = arena_format(arena, "{\"bytes\":%zu}", review->body.len);
}

static void scene_put_snapshot(struct scene *scene)
{
    struct policy policy = policy_defaults();
    struct snapshot_builder *builder = NULL;
    struct snapshot *snapshot = NULL;

    must(snapshot_builder_new(&policy, (struct snapshot_keep){0}, &builder) == 0 &&
             snapshot_builder_finish(builder, &snapshot) == 0,
         "a snapshot can be made");
    snapshot_store_put(scene->store, snapshot);
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

static int scene_connect(const struct scene *scene)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(scene->port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    must(fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0,
         "a connection");
    return fd;
}

static bool send_all(gnutls_session_t session, const char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = gnutls_record_send(session, data, bytes);

        if (n < 0 && gnutls_error_is_fatal((int)n))
            return false;
        if (n > 0) {
            data += n;
            bytes -= (size_t)n;
        }
    }
    return true;
}

/* One request; false where the connection ended, as it may when there is no room for it. */
static bool ask(gnutls_session_t session, size_t bytes)
{
    static char blanks[LARGE_BYTES];
    char head[160], answer[1024];
    size_t got = 0;

    (void)snprintf(head, sizeof(head),
                   "POST /validate?timeout=5s HTTP/1.1\r\nHost: x\r\nContent-Type: "
                   "application/json\r\nContent-Length: %zu\r\n\r\n",
                   bytes);
    if (!send_all(session, head, strlen(head)) || !send_all(session, blanks, bytes))
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
        int fd = scene_connect(scene);

        must(gnutls_init(&session, GNUTLS_CLIENT) == 0 &&
                 gnutls_set_default_priority(session) == 0 &&
                 gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, trust) == 0,
             "a session");
        gnutls_transport_set_int(session, fd);
        /* who is cut in favour of others has had its turn as well */
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

/* Connections that say nothing, more than there is room for. */
static void *run_crowd(void *argument)
{
    struct scene *scene = argument;

    while (!atomic_load(&scene->done)) {
        int fds[CROWD];

        for (size_t i = 0; i < CROWD; i++)
            fds[i] = scene_connect(scene);
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
        .gate = {.context = scene,
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
    char folder[] = "/tmp/sandgate-tsan-XXXXXX";
    char certificate[PATH_BYTES], key[PATH_BYTES];

    (void)signal(SIGPIPE, SIG_IGN);
    must(mkdtemp(folder) != NULL, "a folder");
    (void)snprintf(certificate, sizeof(certificate), "%s/tls.crt", folder);
    (void)snprintf(key, sizeof(key), "%s/tls.key", folder);
    scene.files = (struct tls_files){.certificate = certificate, .key = key};
    make_certificate(&scene.files);
    must(snapshot_store_new(&scene.store) == 0, "a store");
    scene_put_snapshot(&scene);
    scene_serve(&scene);
    snapshot_store_free(scene.store);
    (void)unlink(certificate);
    (void)unlink(key);
    (void)rmdir(folder);
    return 0;
}
