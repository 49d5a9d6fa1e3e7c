#include "webhook/serve.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "k8s/file.h"
#include "webhook/bytes.h"
#include "webhook/commands/commands.h"
#include "webhook/commands/output.h"
#include "webhook/denials_page.h"
#include "webhook/fingerprint.h"
#include "webhook/listen.h"
#include "webhook/serve_self.h"
#include "webhook/serve_watch.h"
#include "webhook/server.h"
#include "webhook/world.h"

#define SERVE_LOOK_MSEC 1000   /* between two looks at the files, where a look is cheap */
#define SERVE_LOOK_SHARE 20    /* and at most one part in so many of the time goes into looking */
#define SERVE_GRACE_MSEC 10000 /* for requests that are begun when the drain ends */
#define SERVE_EXPIRY_WARNING_SEC (7 * 24 * 3600)
#define SERVE_NAMESPACE_FILE "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
#define SERVE_MAX_NAMESPACE_BYTES 253
#define MSEC_PER_SEC 1000
#define NSEC_PER_MSEC 1000000

struct serve {
    const struct serve_options *options;
    struct world *world;
    struct tls *tls;
    struct server *server;
    struct serve_self self; /* where certificates are made here */
    struct fingerprint tls_seen;
    struct metrics metrics;
    struct decision_log *decision_log;
    struct config *decision_log_config; /* that names its path */
    struct recorder recorder;
    struct log log;
    struct arena arena; /* of texts that live as long as the server */
};

static uint64_t serve_clock_msec(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * MSEC_PER_SEC + (uint64_t)now.tv_nsec / NSEC_PER_MSEC;
}

static struct snapshot *serve_snapshot(void *context)
{
    const struct serve *serve = context;

    return world_snapshot(serve->world);
}

static struct moment serve_now(void *context)
{
    struct timespec now = {0};

    (void)context;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (struct moment){.sec = now.tv_sec + MOMENT_UNIX_EPOCH_SEC, .nsec = (int32_t)now.tv_nsec};
}

static void serve_review(void *context, const struct server_review *review, struct arena *arena,
                         struct exchange *ret_exchange)
{
    (void)context;
    exchange_review(review->body, review->syntax, review->format, review->snapshot, review->now,
                    arena, ret_exchange);
}

static const char *serve_why_not_yet(void *context)
{
    const struct serve *serve = context;

    return serve_self_why(&serve->self);
}

static void serve_done_config(struct config **config)
{
    config_unref(*config);
}

#define cleanup_config __attribute__((cleanup(serve_done_config)))

static void serve_complain(struct str reason)
{
    complain("%.*s", (int)reason.len, reason.ptr);
}

/* Tells once what failed in a reading: on standard error before the log runs, else in it. */
static void serve_tell_report(const struct serve *serve, const struct world_report *report)
{
    for (size_t i = 0; i < report->reason_count; i++)
        log_line_with(&serve->log, LOG_LEVEL_ERROR, "a file cannot be used",
                      log_text("reason", report->reasons[i]));
    for (size_t i = 0; i < report->warning_count; i++)
        log_line_with(&serve->log, LOG_LEVEL_WARN, "this should not stay so",
                      log_text("reason", report->warnings[i]));
}

static struct tls_files serve_tls_files(const struct config *config)
{
    return (struct tls_files){
        .certificate = config->tls_certificate,
        .key = config->tls_key,
        .client_ca = config->tls_client_ca,
        .client_names = config->tls_client_names,
    };
}

static struct fingerprint serve_look_at_tls(const struct config *config)
{
    struct fingerprint fingerprint = {0};
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_REALTIME, &now);
    fingerprint_add(&fingerprint, config->tls_certificate, now.tv_sec);
    fingerprint_add(&fingerprint, config->tls_key, now.tv_sec);
    fingerprint_add(&fingerprint, config->tls_client_ca, now.tv_sec);
    return fingerprint;
}

static void serve_note_expiry(struct serve *serve)
{
    int64_t expires_sec = tls_expires_sec(serve->tls);
    struct timespec now = {0};

    if (serve_self_is_on(&serve->self)) {
        /* it renews by itself, and says by itself when that fails */
        atomic_store(&serve->metrics.certificate_expires_sec,
                     serve_self_has_certificate(&serve->self) ? expires_sec : 0);
        return;
    }
    atomic_store(&serve->metrics.certificate_expires_sec, expires_sec);
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (expires_sec < now.tv_sec + SERVE_EXPIRY_WARNING_SEC)
        log_line_with(&serve->log, LOG_LEVEL_WARN,
                      "the serving certificate ends soon, or has ended",
                      log_number("days", (expires_sec - now.tv_sec) / (24 * 3600)));
}

/* The namespace of the gate's service account; empty outside of a cluster. */
static struct str serve_own_namespace(struct arena *arena)
{
    struct str text = {0};

    if (bytes_read(SERVE_NAMESPACE_FILE, SERVE_MAX_NAMESPACE_BYTES, arena, &text) < 0)
        return STR("");
    return str_trim(text);
}

/* Everything that is read at the start. Complains about all that is wrong with it. */
static int serve_read(struct serve *serve, struct config **ret_config)
{
    struct arena cleanup_arena_wiped arena = {0}; /* a key may be in it */
    struct world_report report = {0};
    struct str own = serve_own_namespace(&arena), reason = {0};
    struct world_overrides overrides = {
        .own_namespace = own.len > 0 ? arena_copy(&arena, own) : NULL,
        .serving = true,
        .tell = serve_watch_tell,
        .tell_context = &serve->log,
    };
    cleanup_config struct config *config = NULL;
    struct tls_files files = {0};
    int r = world_open(serve->options->config_path, &overrides, &serve->world, &report);

    for (size_t i = 0; i < report.reason_count; i++)
        serve_complain(report.reasons[i]);
    if (r < 0 && report.reason_count == 0)
        complain("%s: out of memory", serve->options->config_path);
    report.reason_count = 0; /* said */
    serve_tell_report(serve, &report);
    world_report_done(&report);
    if (r < 0)
        return r;
    config = world_config(serve->world);
    serve->tls_seen = serve_look_at_tls(config);
    files = serve_tls_files(config);
    r = serve_self_open(&serve->self, config, &arena, &reason);
    if (r == 0)
        r = serve_self_files(&serve->self, &arena, &files);
    if (r == 0)
        r = tls_new(&files, &arena, &serve->tls, &reason);
    if (r < 0) {
        serve_complain(r == -ENOMEM ? STR("out of memory") : reason);
        return r;
    }
    *ret_config = config;
    config = NULL;
    return 0;
}

static struct server_limits serve_limits(const struct config *config)
{
    return (struct server_limits){
        .max_body_bytes = config->limits.max_body_bytes,
        .max_in_flight = config->limits.max_in_flight,
        .max_in_flight_bytes = config->limits.max_in_flight_bytes,
        .max_connections = config->limits.max_connections,
        .deadline_margin_msec = config->limits.deadline_margin_msec,
    };
}

static bool serve_override_address(const char *option, const char *given,
                                   struct config_address *ret_address)
{
    const char *what = given != NULL ? config_read_address(str_of(given), ret_address) : NULL;

    if (what != NULL)
        complain("%s %s: %s", option, given, what);
    return what == NULL;
}

static int serve_open_decision_log(struct serve *serve, const struct config *config)
{
    int r = decision_log_open(config->decision_log_path, &serve->log, &serve->decision_log);

    if (r < 0) {
        complain("decisionLog.path: %s: %s", config->decision_log_path, file_error_text(r));
        return r;
    }
    r = recorder_init(&serve->recorder, serve->decision_log);
    if (r < 0) {
        serve_complain(STR("out of memory"));
        decision_log_close(serve->decision_log, 0);
        serve->decision_log = NULL;
        return r;
    }
    serve->decision_log_config = config_ref(config);
    atomic_store(&serve->recorder.allowed, config->decision_log_allowed);
    return 0;
}

/* Nobody decides any more. */
static void serve_close_decision_log(struct serve *serve)
{
    if (serve->decision_log == NULL)
        return;
    decision_log_close(serve->decision_log, DECISION_LOG_CLOSE_MSEC);
    recorder_done(&serve->recorder);
    config_unref(serve->decision_log_config);
}

/* A file may have been moved away before SIGHUP, and another path may be named. */
static void serve_reload_decision_log(struct serve *serve, struct config *config, bool force)
{
    struct config *before = serve->decision_log_config;
    bool same = strcmp(before->decision_log_path, config->decision_log_path) == 0;

    atomic_store(&serve->recorder.allowed, config->decision_log_allowed);
    if (same && !force)
        return;
    if (decision_log_reopen(serve->decision_log, config->decision_log_path) < 0) {
        log_line(&serve->log, LOG_LEVEL_ERROR, "out of memory: the decision log stays as it is");
        return;
    }
    serve->decision_log_config = config_ref(config);
    config_unref(before);
}

static int serve_open(struct serve *serve, const struct config *config)
{
    struct arena cleanup_arena arena = {0};
    struct str reason = STR("a thread cannot be started");
    struct server_options options = {
        .webhook = config->webhook,
        .admin = config->admin,
        .threads = config->limits.threads,
        .limits = serve_limits(config),
        .times = server_default_times(),
        .gate = {.context = serve,
                 .snapshot = serve_snapshot,
                 .now = serve_now,
                 .why_not_yet = serve_why_not_yet,
                 .review = serve_review},
        .tls = serve->tls,
        .metrics = &serve->metrics,
        .recorder = &serve->recorder,
        .denials_page = denials_page_write,
        .log = &serve->log,
    };
    int r = 0;

    if (!serve_override_address("--listen", serve->options->listen, &options.webhook) ||
        !serve_override_address("--admin", serve->options->admin, &options.admin))
        return -EINVAL;
    if (serve->options->check)
        return 0;
    r = serve_open_decision_log(serve, config);
    if (r < 0)
        return r;
    r = serve_self_start(&serve->self, config, &serve->log);
    if (r == 0)
        r = serve_watch_gate(serve->world, &serve->arena, &options.gate);
    if (r == 0)
        r = server_start(&options, &arena, &serve->server, &reason);
    if (r < 0) {
        serve_complain(r == -ENOMEM ? STR("out of memory") : reason);
        return r;
    }
    r = world_start(serve->world);
    if (r < 0) {
        complain("the watch of the cluster cannot be started: %s", strerror(-r));
        return r;
    }
    log_line_with(
        &serve->log, LOG_LEVEL_INFO, "serving", log_text("version", STR(SANDGATE_VERSION)),
        log_text("webhook",
                 listen_text(&options.webhook, server_webhook_port(serve->server), &arena)),
        log_text("admin", listen_text(&options.admin, server_admin_port(serve->server), &arena)));
    return 0;
}

static void serve_reload_tls(struct serve *serve, const struct config *config, bool force)
{
    struct arena cleanup_arena_wiped arena = {0}; /* a key may be in it */
    struct fingerprint seen = serve_look_at_tls(config);
    struct tls_files files = serve_tls_files(config);
    struct str reason = {0};
    int r = 0;

    if (!force && fingerprint_same(serve->tls_seen, seen) && !serve_self_is_fresh(&serve->self))
        return;
    serve->tls_seen = seen;
    r = serve_self_files(&serve->self, &arena, &files);
    if (r == 0)
        r = tls_reload(serve->tls, &files, &arena, &reason);
    metrics_count_reload(&serve->metrics, METRICS_PART_CERTIFICATE, r == 0);
    if (r < 0) {
        log_line_with(&serve->log, LOG_LEVEL_ERROR, "the old certificate stays in use",
                      log_text("reason", r == -ENOMEM ? STR("out of memory") : reason));
        return;
    }
    serve_self_served(&serve->self);
    log_line(&serve->log, LOG_LEVEL_INFO, "certificate read again");
    serve_note_expiry(serve);
}

static void serve_count_report(struct serve *serve, const struct world_report *report)
{
    metrics_count_reload(&serve->metrics, METRICS_PART_CONFIGURATION, !report->config_failed);
    metrics_count_reload(&serve->metrics, METRICS_PART_KEYRING, !report->keyring_failed);
    metrics_count_reload(&serve->metrics, METRICS_PART_EVIDENCE, !report->evidence_failed);
}

static void serve_reload(struct serve *serve, bool force)
{
    struct world_report report = {0};
    cleanup_config struct config *config = NULL;
    struct server_limits limits = {0};
    int r = world_reload(serve->world, force, &report);
    bool changed = report.changed;

    if (r < 0)
        log_line(&serve->log, LOG_LEVEL_ERROR, "out of memory: what was read before stays in use");
    serve_tell_report(serve, &report);
    if (r < 0 || changed)
        serve_count_report(serve, &report);
    world_report_done(&report);
    config = world_config(serve->world);
    if (changed) {
        log_line(&serve->log, LOG_LEVEL_INFO, "configuration, keyring and evidence read again");
        limits = serve_limits(config);
        server_set_limits(serve->server, &limits);
        serve_self_set_config(&serve->self, config, &serve->log);
    }
    if (force)
        serve_self_look(&serve->self);
    serve_reload_tls(serve, config, force || changed);
    serve_reload_decision_log(serve, config, force);
}

/* The next signal of ours, or 0 after so long. */
static int serve_wait(uint64_t msec)
{
    struct timespec timeout = {.tv_sec = (time_t)(msec / MSEC_PER_SEC),
                               .tv_nsec = (long)(msec % MSEC_PER_SEC) * NSEC_PER_MSEC};
    sigset_t set;
    int signal = 0;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGHUP);
    signal = sigtimedwait(&set, NULL, &timeout);
    return signal > 0 ? signal : 0;
}

/* Blocked here, so that all threads inherit it: they come only where they are waited for. */
static void serve_block_signals(void)
{
    sigset_t set;

    (void)signal(SIGPIPE, SIG_IGN);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
}

static void serve_until_signal(struct serve *serve)
{
    uint64_t pause_msec = SERVE_LOOK_MSEC;

    for (;;) {
        int signal = serve_wait(pause_msec);
        uint64_t begun_msec = serve_clock_msec();

        if (signal == SIGTERM || signal == SIGINT)
            return;
        serve_reload(serve, signal == SIGHUP);
        pause_msec = (serve_clock_msec() - begun_msec) * SERVE_LOOK_SHARE;
        if (pause_msec < SERVE_LOOK_MSEC)
            pause_msec = SERVE_LOOK_MSEC;
    }
}

/* The API server may not know yet that this replica ends: new requests are answered all the time.
 * A second signal ends that. */
static void serve_drain(struct serve *serve)
{
    cleanup_config struct config *config = world_config(serve->world);
    uint64_t end_msec = serve_clock_msec() + (uint64_t)config->drain_sec * MSEC_PER_SEC;
    uint32_t grace_msec = SERVE_GRACE_MSEC;

    server_drain(serve->server);
    serve_self_end(&serve->self);
    log_line_with(&serve->log, LOG_LEVEL_INFO, "stopping: not ready any more, still answering",
                  log_number("seconds", config->drain_sec));
    for (uint64_t now_msec = 0; (now_msec = serve_clock_msec()) < end_msec;) {
        int signal = serve_wait(end_msec - now_msec);

        if (signal == SIGTERM || signal == SIGINT) {
            log_line(&serve->log, LOG_LEVEL_INFO, "a second signal: stopping at once");
            grace_msec = 0;
            break;
        }
    }
    server_stop(serve->server, grace_msec);
    serve->server = NULL;
    log_line(&serve->log, LOG_LEVEL_INFO, "stopped");
}

static void serve_print_checked(const struct serve *serve)
{
    struct str server = world_api_server(serve->world);

    if (str_present(server))
        printf("%s: configuration, keyring and certificates can be used; evidence will come from "
               "%.*s, which was not asked\n",
               serve->options->config_path, (int)server.len, server.ptr);
    else
        printf("%s: configuration, keyring, certificates and evidence can be used\n",
               serve->options->config_path);
}

static int serve_life(struct serve *serve)
{
    cleanup_config struct config *config = NULL;

    if (serve_read(serve, &config) < 0 || serve_open(serve, config) < 0)
        return COMMAND_FAILED;
    if (serve->options->check) {
        serve_print_checked(serve);
        return COMMAND_YES;
    }
    serve_note_expiry(serve);
    serve_until_signal(serve);
    serve_drain(serve);
    return COMMAND_YES;
}

int serve_run(const struct serve_options *options)
{
    static struct serve serve;
    int status = 0;

    serve = (struct serve){.options = options, .log = log_open(options->level)};
    serve_block_signals();
    status = serve_life(&serve);
    server_stop(serve.server, 0); /* only after a bad start */
    serve_close_decision_log(&serve);
    serve_self_done(&serve.self);
    tls_free(serve.tls);
    world_free(serve.world);
    arena_release(&serve.arena);
    return status;
}
