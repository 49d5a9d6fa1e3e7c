/* SPDX-License-Identifier: Apache-2.0 */
/* watch - the texts of the events of a watched cluster, and its functions for the server. See
 * watch.h. */

#include "webhook/serve/watch.h"

#include <assert.h>
#include <errno.h>

void serve_watch_log(void *log, const struct cluster_event *event)
{
    static const struct {
        enum log_level level;
        const char *message;
    } kinds[] = {
        [CLUSTER_LISTED] = {LOG_LEVEL_INFO, "listed all objects"},
        [CLUSTER_FAILED] = {LOG_LEVEL_WARN,
                            "lost contact with the API server; using last known state"},
        [CLUSTER_RECOVERED] = {LOG_LEVEL_INFO, "the API server is reachable again"},
        [CLUSTER_UNREADABLE] = {LOG_LEVEL_WARN, "an object cannot be used"},
    };
    struct log_field fields[3] = {log_text("what", event->what)};
    const char *message = NULL;
    size_t count = 1;

    assert(event->kind >= CLUSTER_LISTED && event->kind <= CLUSTER_UNREADABLE);
    message = kinds[event->kind].message;
    if (str_present(event->reason) && event->reason.len > 0)
        fields[count++] = log_text("reason", event->reason);
    if (event->kind == CLUSTER_FAILED || event->kind == CLUSTER_RECOVERED)
        fields[count++] = log_number("seconds", (int64_t)event->since_sec);
    if (message != NULL)
        log_write(log, kinds[event->kind].level, message, fields, count);
}

int serve_watch_gate(struct runtime *runtime, struct arena *arena, struct server_gate *gate)
{
    struct str server = runtime_api_server(runtime), why = {0};

    if (!str_present(server))
        return 0;
    why = arena_format(arena, "not ready: waiting for the first list of evidence from %.*s",
                       (int)server.len, server.ptr);
    if (!str_present(why))
        return -ENOMEM;
    gate->ask = runtime_ask;
    gate->is_stale = runtime_is_stale;
    gate->look = runtime_cluster_status;
    gate->dismiss = runtime_stop_cluster;
    gate->why_no_snapshot = why.ptr;
    return 0;
}
