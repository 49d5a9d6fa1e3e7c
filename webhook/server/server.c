/* SPDX-License-Identifier: Apache-2.0 */
/* server - starts and stops the daemon of the webhook port and everything around it. See server.h;
 * request.c has the requests, connection.c the TLS connections, admin.c the admin port. */

#define _GNU_SOURCE /* CPU_COUNT */
#include "webhook/server/server.h"

#include <errno.h>
#include <gnutls/abstract.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "k8s/util/clock.h"
#include "webhook/server/connection.h"
#include "webhook/server/internal.h"
#include "webhook/server/listen.h"
#include "webhook/server/request.h"

#define SERVER_IDLE_SEC 180
#define SERVER_SLOW_MSEC 10000
#define SERVER_MAX_DISCARDED_BYTES (UINT64_C(32) << 20)
#define SERVER_DEFER_BYTES (UINT64_C(256) << 10)
#define SERVER_POOL_BYTES                                                                          \
    ((size_t)64 * 1024)              /* for each connection; HEAD_MAX_BYTES must fit in            \
                                      */
#define SERVER_SPARE_CONNECTIONS 256 /* accepted or cut, but not counted in the limit */
#define SERVER_SPARE_DESCRIPTORS 64
#define SERVER_STOP_TURN_NSEC 10000000
#define SERVER_LAST_MSEC 1000

struct server_times server_default_times(void)
{
    return (struct server_times){
        .idle_sec = SERVER_IDLE_SEC,
        .slow_msec = SERVER_SLOW_MSEC,
        .last_msec = SERVER_LAST_MSEC,
        .max_discarded_bytes = SERVER_MAX_DISCARDED_BYTES,
        .defer_bytes = SERVER_DEFER_BYTES,
    };
}

uint16_t server_webhook_port(const struct server *server)
{
    return server->webhook_port;
}

uint16_t server_admin_port(const struct server *server)
{
    return server->admin_port;
}

static uint64_t fitting_connections(const struct server *server, uint64_t wanted)
{
    uint64_t possible = server->max_descriptors > 2 * SERVER_SPARE_DESCRIPTORS
                            ? server->max_descriptors - SERVER_SPARE_DESCRIPTORS
                            : SERVER_SPARE_DESCRIPTORS;

    return wanted < possible ? wanted : possible;
}

void server_set_limits(struct server *server, const struct server_limits *limits)
{
    atomic_store(&server->shared.max_body_bytes, limits->max_body_bytes);
    atomic_store(&server->shared.deadline_margin_msec, limits->deadline_margin_msec);
    atomic_store(&server->table.max_connections,
                 fitting_connections(server, limits->max_connections));
    budget_set_limits(&server->shared.budget, limits->max_in_flight_bytes, limits->max_in_flight);
}

void server_drain(struct server *server)
{
    atomic_store(&server->shared.draining, true);
}

static void on_connection(void *context, struct MHD_Connection *mhd, void **state,
                          enum MHD_ConnectionNotificationCode code)
{
    struct server *server = context;
    struct connection *connection = *state;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        int fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        const struct sockaddr *address =
            MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;

        connection = connection_table_open(&server->table, &server->shared, mhd, fd, address);
        if (connection == NULL || connection_begin(connection, reaper_park, &server->reaper) < 0)
            (void)shutdown(fd, SHUT_RDWR);
        *state = connection;
    } else if (connection != NULL) {
        reaper_forget(&server->reaper, connection);
        connection_table_close(&server->table, connection);
        *state = NULL;
    }
}

/* The library's messages are about clients that disconnected or do not speak TLS, so they are not
 * errors of the gate. */
__attribute__((format(printf, 2, 0))) static void on_log(void *context, const char *format,
                                                         va_list arguments)
{
    const struct server *server = context;
    char text[256];

    if (!log_wants(server->options.log, LOG_LEVEL_DEBUG))
        return;
    (void)vsnprintf(text, sizeof(text), format, arguments);
    log_line_with(server->options.log, LOG_LEVEL_DEBUG, "http",
                  log_text("what", str_trim(str_of(text))));
}

/* The library does not start without this callback; sessions get their certificate in
 * connection_begin(). */
static int no_certificate(gnutls_session_t session, const gnutls_datum_t *names, int name_count,
                          const gnutls_pk_algorithm_t *algorithms, int algorithm_count,
                          gnutls_pcert_st **pcert, unsigned int *pcert_count, gnutls_privkey_t *key)
{
    (void)session;
    (void)names;
    (void)name_count;
    (void)algorithms;
    (void)algorithm_count;
    (void)pcert;
    (void)pcert_count;
    (void)key;
    return -1;
}

/* Escapes are kept: no path of the gate needs one, and `%00` would cut another path to one of the
 * gate. */
static size_t keep_escapes(void *context, struct MHD_Connection *mhd, char *text)
{
    (void)context;
    (void)mhd;
    return strlen(text);
}

static unsigned thread_count(const struct server_options *options)
{
    cpu_set_t set;

    if (options->threads > 0)
        return options->threads;
    if (sched_getaffinity(0, sizeof(set), &set) < 0)
        return 1;
    return (unsigned)CPU_COUNT(&set);
}

static int start_webhook(struct server *server, unsigned threads)
{
    const struct server_options *options = &server->options;
    uint64_t connections =
        (options->limits.max_connections + SERVER_SPARE_CONNECTIONS) * (uint64_t)threads;

    server->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_USE_TLS | MHD_ALLOW_SUSPEND_RESUME |
            MHD_USE_ERROR_LOG,
        0, NULL, NULL, request_on_access, NULL, /* the logger is first: later options can use it */
        MHD_OPTION_EXTERNAL_LOGGER, on_log, server, MHD_OPTION_LISTEN_SOCKET, server->listen_fd,
        MHD_OPTION_HTTPS_PRIORITIES, tls_priorities(), MHD_OPTION_HTTPS_CERT_CALLBACK,
        no_certificate, MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,
        MHD_OPTION_URI_LOG_CALLBACK, request_on_line, NULL, MHD_OPTION_NOTIFY_COMPLETED,
        request_on_completed, NULL, MHD_OPTION_CONNECTION_LIMIT, (unsigned)connections,
        MHD_OPTION_CONNECTION_TIMEOUT, options->times.idle_sec, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        SERVER_POOL_BYTES, MHD_OPTION_THREAD_POOL_SIZE, threads > 1 ? threads : 0, MHD_OPTION_END);
    return server->daemon != NULL ? 0 : -EIO;
}

/* Raises the limit of descriptors as far as possible. Without a descriptor a connection cannot be
 * accepted, and no other one either, so the limit of connections has to fit. */
static void raise_descriptor_limit(struct server *server)
{
    struct rlimit limit = {0};
    uint64_t *connections = &server->options.limits.max_connections;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    if (limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    server->max_descriptors = limit.rlim_cur;
    if (*connections + SERVER_SPARE_DESCRIPTORS <= limit.rlim_cur)
        return;
    log_line_with(server->options.log, LOG_LEVEL_WARN,
                  "RLIMIT_NOFILE is too low for limits.maxConnections: fewer connections are kept",
                  log_number("may", (int64_t)limit.rlim_cur),
                  log_number("needed", (int64_t)*connections + SERVER_SPARE_DESCRIPTORS));
}

static int open_port(struct server *server, const struct config_address *address,
                     const char *setting, struct arena *arena, struct listener *ret_listener,
                     struct str *reterr_reason)
{
    int r = listen_open(address, setting, arena, ret_listener, reterr_reason);

    if (r == 0 && ret_listener->without_ipv6)
        log_line_with(server->options.log, LOG_LEVEL_WARN,
                      "this system has no IPv6: listening on 0.0.0.0",
                      log_text("setting", str_of(setting)), log_number("port", ret_listener->port));
    return r;
}

static int open_ports(struct server *server, struct arena *arena, struct str *reterr_reason)
{
    const struct server_options *options = &server->options;
    struct listener webhook = {0}, admin = {0};
    int r = open_port(server, &options->webhook, "listen.webhook", arena, &webhook, reterr_reason);

    if (r < 0)
        return r;
    server->listen_fd = webhook.fd;
    server->webhook_port = webhook.port;
    r = open_port(server, &options->admin, "listen.admin", arena, &admin, reterr_reason);
    if (r < 0)
        return r;
    server->admin_port = admin.port;
    return admin_start(server, admin.fd);
}

int server_start(const struct server_options *options, struct arena *arena,
                 struct server **ret_server, struct str *reterr_reason)
{
    struct server *server = calloc(1, sizeof(*server));
    unsigned threads = thread_count(options);
    int r = 0;

    if (server == NULL)
        return -ENOMEM;
    *server = (struct server){.options = *options,
                              .shared = {.gate = options->gate,
                                         .times = options->times,
                                         .tls = options->tls,
                                         .metrics = options->metrics,
                                         .recorder = options->recorder,
                                         .log = options->log}};
    server->listen_fd = server->reaper.epoll_fd = server->reaper.wake_fd = -1;
    r = connection_table_init(&server->table, options->metrics, options->limits.max_connections,
                              options->times.slow_msec);
    if (r < 0) {
        free(server);
        return r;
    }
    raise_descriptor_limit(server);
    server_set_limits(server, &options->limits);

    *reterr_reason = STR("the threads of the server cannot be started");
    r = jobs_start(&server->shared.jobs, threads);
    if (r == 0)
        r = open_ports(server, arena, reterr_reason);
    if (r == 0)
        r = reaper_start(&server->reaper, &server->table);
    if (r == 0)
        r = start_webhook(server, threads);
    if (r < 0) {
        server_stop(server, 0);
        return r == -ENOMEM ? r : -EINVAL;
    }
    *ret_server = server;
    return 0;
}

static void wait_turn(void)
{
    static const struct timespec turn = {.tv_nsec = SERVER_STOP_TURN_NSEC};

    (void)nanosleep(&turn, NULL);
}

/* Requests in progress get the grace period; then the other connections are cut. This returns when
 * all are closed, because the library must not be stopped while a connection is suspended. */
static void end_connections(struct server *server, uint32_t grace_msec)
{
    uint64_t end_msec = clock_msec() + grace_msec;
    uint32_t last_msec = server->shared.times.last_msec;
    const struct server_gate *gate = &server->shared.gate;
    bool dismissed = gate->dismiss == NULL;

    while (connection_table_cut_idle(&server->table) > 0 && clock_msec() < end_msec) {
        if (!dismissed && clock_msec() + last_msec >= end_msec) {
            gate->dismiss(gate->runtime);
            dismissed = true;
        }
        wait_turn();
    }
    if (!dismissed)
        gate->dismiss(gate->runtime);
    while (atomic_load(&server->table.count) > 0) {
        connection_table_cut_all(&server->table);
        wait_turn();
    }
}

void server_stop(struct server *server, uint32_t grace_msec)
{
    if (server == NULL)
        return;
    server_drain(server);
    if (server->daemon != NULL) {
        /* the system refuses new connections from now on */
        (void)MHD_quiesce_daemon(server->daemon);
        (void)shutdown(server->listen_fd, SHUT_RD);
        end_connections(server, grace_msec);
        MHD_stop_daemon(server->daemon);
    }
    reaper_done(&server->reaper);
    jobs_done(&server->shared.jobs);
    if (server->admin != NULL)
        MHD_stop_daemon(server->admin);
    metrics_evidence_done(&server->evidence);
    if (server->listen_fd >= 0)
        (void)close(server->listen_fd);
    connection_table_done(&server->table);
    free(server);
}
