/* SPDX-License-Identifier: Apache-2.0 */
/* open - reads what a gate needs at the start, opens its ports and starts its threads. */

#include <errno.h>
#include <string.h>
#include <time.h>

#include "k8s/util/clock.h"
#include "k8s/util/file.h"
#include "webhook/cli/output.h"
#include "webhook/serve/denials_page.h"
#include "webhook/serve/internal.h"
#include "webhook/serve/watch.h"
#include "webhook/server/listen.h"
#include "webhook/util/input.h"

#define SERVE_NAMESPACE_FILE "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
#define SERVE_MAX_NAMESPACE_BYTES 253

static const char *why_not_ready(void *self)
{
    return serve_self_why(self);
}

static void complain_of(struct str reason)
{
    output_error("%.*s", (int)reason.len, reason.ptr);
}

/* The namespace of the gate's service account; empty outside a cluster. */
static struct str read_own_namespace(struct arena *arena)
{
    struct str text = {0};

    if (input_read_file(SERVE_NAMESPACE_FILE, SERVE_MAX_NAMESPACE_BYTES, arena, &text) < 0)
        return STR("");
    return str_trim(text);
}

int serve_read(struct serve *serve, struct config **ret_config)
{
    struct arena cleanup_arena_wiped arena = {0}; /* can contain a private key */
    struct runtime_report report = {0};
    struct str own = read_own_namespace(&arena), reason = {0};
    struct runtime_overrides overrides = {
        .own_namespace = own.len > 0 ? arena_copy(&arena, own) : NULL,
        .serving = true,
        .on_event = serve_watch_log,
        .event_context = &serve->log,
    };
    cleanup_config struct config *config = NULL;
    struct tls_files files = {0};
    int r = runtime_open(serve->options->config_path, &overrides, &serve->runtime, &report);

    for (size_t i = 0; i < report.reason_count; i++)
        complain_of(report.reasons[i]);
    if (r < 0 && report.reason_count == 0)
        output_error("%s: out of memory", serve->options->config_path);
    report.reason_count = 0; /* printed already */
    serve_log_report(serve, &report);
    runtime_report_done(&report);
    if (r < 0)
        return r;
    config = runtime_config(serve->runtime);
    serve->tls_seen = serve_tls_fingerprint(config);
    files = serve_tls_files(config);
    r = serve_self_open(&serve->self, config, &arena, &reason);
    if (r == 0)
        r = serve_self_files(&serve->self, &arena, &files);
    if (r == 0)
        r = tls_new(&files, &arena, &serve->tls, &reason);
    if (r < 0) {
        complain_of(r == -ENOMEM ? STR("out of memory") : reason);
        return r;
    }
    *ret_config = config;
    config = NULL;
    return 0;
}

static bool override_address(const char *option, const char *given,
                             struct config_address *ret_address)
{
    const char *what = given != NULL ? config_read_address(str_of(given), ret_address) : NULL;

    if (what != NULL)
        output_error("%s %s: %s", option, given, what);
    return what == NULL;
}

static int open_decision_log(struct serve *serve, const struct config *config)
{
    int r = decision_log_open(config->decision_log_path, &serve->log, &serve->decision_log);

    if (r < 0) {
        output_error("decisionLog.path: %s: %s", config->decision_log_path, file_error_text(r));
        return r;
    }
    r = recorder_init(&serve->recorder, serve->decision_log);
    if (r < 0) {
        complain_of(STR("out of memory"));
        decision_log_close(serve->decision_log, 0);
        serve->decision_log = NULL;
        return r;
    }
    serve->decision_log_config = config_ref(config);
    atomic_store(&serve->recorder.allowed, config->decision_log_allowed);
    return 0;
}

int serve_open(struct serve *serve, const struct config *config)
{
    struct arena cleanup_arena arena = {0};
    struct str reason = STR("a thread cannot be started");
    struct server_options options = {
        .webhook = config->webhook,
        .admin = config->admin,
        .threads = config->limits.threads,
        .limits = serve_limits(config),
        .times = server_default_times(),
        .gate = {.runtime = serve->runtime,
                 .snapshot = runtime_snapshot,
                 .now = clock_now,
                 .review = exchange_review,
                 .why_not_ready = why_not_ready,
                 .why_context = &serve->self,
                 .attend = serve_attend,
                 .attend_context = serve},
        .tls = serve->tls,
        .metrics = &serve->metrics,
        .recorder = &serve->recorder,
        .denials_page = denials_page_write,
        .log = &serve->log,
    };
    int r = 0;

    if (!override_address("--listen", serve->options->listen, &options.webhook) ||
        !override_address("--admin", serve->options->admin, &options.admin))
        return -EINVAL;
    if (serve->options->check)
        return serve_note_trust(serve, true) ? 0 : -EINVAL;
    (void)serve_note_trust(serve, false);
    r = open_decision_log(serve, config);
    if (r < 0)
        return r;
    r = serve_self_start(&serve->self, config, &serve->log);
    if (r == 0)
        r = serve_watch_gate(serve->runtime, &serve->arena, &options.gate);
    if (r == 0)
        r = server_start(&options, &arena, &serve->server, &reason);
    if (r < 0) {
        complain_of(r == -ENOMEM ? STR("out of memory") : reason);
        return r;
    }
    r = runtime_start(serve->runtime);
    if (r < 0) {
        output_error("the watch of the cluster cannot be started: %s", strerror(-r));
        return r;
    }
    log_line_with(
        &serve->log, LOG_LEVEL_INFO, "serving", log_text("version", STR(SANDGATE_VERSION)),
        log_text("webhook",
                 listen_text(&options.webhook, server_webhook_port(serve->server), &arena)),
        log_text("admin", listen_text(&options.admin, server_admin_port(serve->server), &arena)));
    return 0;
}
