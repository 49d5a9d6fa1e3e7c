/* SPDX-License-Identifier: Apache-2.0 */
/* admin - the admin port: plain HTTP for metrics, probes and the page of denials (gate-v1, section
 * 8). It has one thread, so what it keeps in struct server needs no lock. */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "webhook/server/health.h"
#include "webhook/server/internal.h"
#include "webhook/server/request.h"

#define ADMIN_MAX_CONNECTIONS 64
#define ADMIN_IDLE_SEC 30
#define ADMIN_POOL_BYTES ((size_t)32 * 1024)

/* The part of the state that comes from the snapshot and the recorder. */
static void look_at_evidence(struct server *server, struct metrics_state *ret_state)
{
    const struct server_gate *gate = &server->options.gate;
    struct recorder *recorder = server->options.recorder;
    struct snapshot *snapshot = gate->snapshot(gate->runtime);

    if (snapshot != NULL) {
        metrics_evidence_look(&server->evidence, snapshot, gate->now());
        ret_state->evidence = &server->evidence;
    }
    snapshot_unref(snapshot);
    if (recorder == NULL)
        return;
    ret_state->records = true;
    ret_state->decision_log = decision_log_counts(recorder->log);
    ret_state->denials_kept = denials_kept(&recorder->denials);
}

static struct answer_text write_metrics(struct server *server, int *ret_status)
{
    struct arena cleanup_arena arena = {0};
    struct metrics_state state = {
        .connections = atomic_load(&server->table.count),
        .in_flight = atomic_load(&server->shared.budget.in_flight),
        .in_flight_bytes = atomic_load(&server->shared.budget.bytes),
    };
    const struct server_gate *gate = &server->options.gate;
    struct cluster_status watch = {0};
    char health[HEALTH_TEXT_BYTES];
    struct answer_text answer = {.type = "text/plain; version=0.0.4"};
    struct str text = {0};

    look_at_evidence(server, &state);
    state.ready = server_health(&server->shared, METRICS_PATH_READYZ, health) == MHD_HTTP_OK;
    if (gate->look != NULL) {
        gate->look(gate->runtime, &watch);
        state.watch = &watch;
    }
    if (metrics_write(server->options.metrics, &state, &arena, &text) == 0)
        answer.ptr = strndup(text.ptr, text.len);
    if (answer.ptr == NULL) {
        *ret_status = MHD_HTTP_INTERNAL_SERVER_ERROR;
        return request_status_text(*ret_status, "the gate is out of memory");
    }
    answer.len = text.len;
    *ret_status = MHD_HTTP_OK;
    return answer;
}

static enum metrics_path read_path(const char *url)
{
    if (strcmp(url, "/metrics") == 0)
        return METRICS_PATH_METRICS;
    if (strcmp(url, "/healthz") == 0)
        return METRICS_PATH_HEALTHZ;
    if (strcmp(url, "/readyz") == 0)
        return METRICS_PATH_READYZ;
    if (strcmp(url, "/denials") == 0 || strcmp(url, "/denials.json") == 0)
        return METRICS_PATH_DENIALS;
    return METRICS_PATH_OTHER;
}

static enum MHD_Result answer_request(struct server *server, struct MHD_Connection *mhd,
                                      const char *url, const char *method, void **state)
{
    bool get =
        strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
    struct answer_text answer = {0};
    struct admin_page *page = NULL;
    char health[HEALTH_TEXT_BYTES];
    int status = MHD_HTTP_NOT_FOUND;
    enum metrics_path path = read_path(url);

    if (path == METRICS_PATH_OTHER) {
        answer = request_status_text(
            status, "no such path: /metrics, /healthz, /readyz, /denials and /denials.json exist");
    } else if (!get) {
        status = MHD_HTTP_METHOD_NOT_ALLOWED;
        answer = request_status_text(status, "only GET and HEAD are allowed");
    } else if (path == METRICS_PATH_METRICS) {
        answer = write_metrics(server, &status);
    } else if (path == METRICS_PATH_DENIALS) {
        answer = admin_denials(server, mhd, url, &status, &page);
        if (page != NULL)
            *state = page;
    } else {
        status = server_health(&server->shared, path, health);
        answer = request_status_text(status, health);
    }
    metrics_count_request(server->options.metrics, path, status);
    if (answer.ptr == NULL)
        return MHD_NO;
    return request_send(mhd, status, &answer,
                        status == MHD_HTTP_METHOD_NOT_ALLOWED ? "GET, HEAD" : NULL, false);
}

static enum MHD_Result on_access(void *server, struct MHD_Connection *mhd, const char *url,
                                 const char *method, const char *version, const char *upload,
                                 size_t *upload_bytes, void **state)
{
    (void)version;
    (void)upload;
    if (*state == NULL) {
        *state = server;
        return MHD_YES;
    }
    if (*upload_bytes > 0) {
        *upload_bytes = 0;
        return MHD_YES;
    }
    return answer_request(server, mhd, url, method, state);
}

static void on_completed(void *context, struct MHD_Connection *mhd, void **state,
                         enum MHD_RequestTerminationCode code)
{
    struct server *server = context;

    (void)mhd;
    (void)code;
    for (size_t i = 0; i < ADMIN_MAX_PAGES; i++) {
        if (*state == &server->admin_pages[i])
            admin_page_done(server, &server->admin_pages[i]);
    }
}

int admin_start(struct server *server, int listen_fd)
{
    server->admin = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC, 0, NULL, NULL, on_access, server,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, server, MHD_OPTION_LISTEN_SOCKET, listen_fd,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)ADMIN_MAX_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)ADMIN_IDLE_SEC, MHD_OPTION_CONNECTION_MEMORY_LIMIT, ADMIN_POOL_BYTES,
        MHD_OPTION_END);
    if (server->admin != NULL)
        return 0;
    (void)close(listen_fd);
    return -EIO;
}
