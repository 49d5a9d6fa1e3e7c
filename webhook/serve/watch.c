/* SPDX-License-Identifier: Apache-2.0 */
#include "webhook/serve/watch.h"

#include <errno.h>

void serve_watch_tell(void *log, const struct cluster_event *event)
{
    static const struct {
        enum log_level level;
        const char *message;
    } kinds[] = {
        [CLUSTER_LISTED] = {LOG_LEVEL_INFO, "listed all there is"},
        [CLUSTER_FAILED] = {LOG_LEVEL_WARN,
                            "the API server is not heard; what was heard before stays in use"},
        [CLUSTER_RECOVERED] = {LOG_LEVEL_INFO, "the API server is heard again"},
        [CLUSTER_UNREADABLE] = {LOG_LEVEL_WARN, "an object cannot be used"},
    };
    struct log_field fields[3] = {log_text("what", event->what)};
    const char *message = kinds[event->kind].message;
    size_t count = 1;

    if (str_present(event->reason) && event->reason.len > 0)
        fields[count++] = log_text("reason", event->reason);
    if (event->kind == CLUSTER_FAILED || event->kind == CLUSTER_RECOVERED)
        fields[count++] = log_number("seconds", (int64_t)event->since_sec);
    if (message != NULL)
        log_write(log, kinds[event->kind].level, message, fields, count);
}

static int watch_ask(void *runtime, enum cluster_question question, struct str namespace_name,
                     struct cluster_waiter *waiter)
{
    return runtime_ask(runtime, question, namespace_name, waiter);
}

static bool watch_is_stale(void *runtime)
{
    return runtime_is_stale(runtime);
}

static void watch_look(void *runtime, struct cluster_status *ret_status)
{
    runtime_look(runtime, ret_status);
}

static void watch_dismiss(void *runtime)
{
    runtime_dismiss(runtime);
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
    gate->source = runtime;
    gate->ask = watch_ask;
    gate->is_stale = watch_is_stale;
    gate->look = watch_look;
    gate->dismiss = watch_dismiss;
    gate->why_unready = why.ptr;
    return 0;
}
