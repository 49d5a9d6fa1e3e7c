/* SPDX-License-Identifier: Apache-2.0 */
/* files - reloads configuration, certificates and the decision log of a running gate where their
 * files changed. */

#include <errno.h>
#include <string.h>
#include <time.h>

#include "k8s/util/clock.h"
#include "webhook/serve/internal.h"

void serve_log_report(const struct serve *serve, const struct runtime_report *report)
{
    for (size_t i = 0; i < report->reason_count; i++)
        log_line_with(&serve->log, LOG_LEVEL_ERROR, "a file cannot be used",
                      log_text("reason", report->reasons[i]));
    for (size_t i = 0; i < report->warning_count; i++)
        log_line_with(&serve->log, LOG_LEVEL_WARN, report->warnings[i].title,
                      log_text("reason", report->warnings[i].reason));
}

struct tls_files serve_tls_files(const struct config *config)
{
    return (struct tls_files){
        .certificate = config->tls_certificate,
        .key = config->tls_key,
        .client_ca = config->tls_client_ca,
        .client_names = config->tls_client_names,
    };
}

struct fingerprint serve_tls_fingerprint(const struct config *config)
{
    struct fingerprint fingerprint = {0};
    int64_t now_sec = clock_unix_sec();

    fingerprint_add(&fingerprint, config->tls_certificate, now_sec);
    fingerprint_add(&fingerprint, config->tls_key, now_sec);
    fingerprint_add(&fingerprint, config->tls_client_ca, now_sec);
    return fingerprint;
}

void serve_note_expiry(struct serve *serve)
{
    int64_t expires_sec = tls_expires_sec(serve->tls);
    int64_t now_sec = clock_unix_sec();

    if (serve_self_is_on(&serve->self)) {
        /* it is renewed without an operator, and a failure is logged elsewhere */
        atomic_store(&serve->metrics.certificate_expires_sec,
                     serve_self_has_certificate(&serve->self) ? expires_sec : 0);
        return;
    }
    atomic_store(&serve->metrics.certificate_expires_sec, expires_sec);
    if (expires_sec < now_sec + SERVE_EXPIRY_WARNING_SEC)
        log_line_with(&serve->log, LOG_LEVEL_WARN,
                      "the serving certificate expires soon, or has expired",
                      log_number("days", (expires_sec - now_sec) / (24 * 3600)));
}

struct server_limits serve_limits(const struct config *config)
{
    return (struct server_limits){
        .max_body_bytes = config->limits.max_body_bytes,
        .max_in_flight = config->limits.max_in_flight,
        .max_in_flight_bytes = config->limits.max_in_flight_bytes,
        .max_connections = config->limits.max_connections,
        .deadline_margin_msec = config->limits.deadline_margin_msec,
    };
}

/* SIGHUP opens the file again, because it can have been renamed for rotation; another path is
 * opened without a signal. */
static void reload_decision_log(struct serve *serve, struct config *config, bool force)
{
    struct config *before = serve->decision_log_config;
    bool same = strcmp(before->decision_log_path, config->decision_log_path) == 0;

    atomic_store(&serve->recorder.allowed, config->decision_log_allowed);
    if (same && !force)
        return;
    if (decision_log_reopen(serve->decision_log, config->decision_log_path) < 0) {
        log_line(&serve->log, LOG_LEVEL_ERROR, "out of memory: the decision log is not reopened");
        return;
    }
    serve->decision_log_config = config_ref(config);
    config_unref(before);
}

static void reload_tls(struct serve *serve, const struct config *config, bool force)
{
    struct arena cleanup_arena_wiped arena = {0}; /* can contain a private key */
    struct fingerprint seen = serve_tls_fingerprint(config);
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
        log_line_with(&serve->log, LOG_LEVEL_ERROR,
                      "the new certificate cannot be used; the old one stays in use",
                      log_text("reason", r == -ENOMEM ? STR("out of memory") : reason));
        return;
    }
    serve_self_served(&serve->self);
    log_line(&serve->log, LOG_LEVEL_INFO, "certificate reloaded");
    serve_note_expiry(serve);
}

static void count_report(struct serve *serve, const struct runtime_report *report)
{
    metrics_count_reload(&serve->metrics, METRICS_PART_CONFIGURATION, !report->config_failed);
    metrics_count_reload(&serve->metrics, METRICS_PART_KEYRING, !report->keyring_failed);
    metrics_count_reload(&serve->metrics, METRICS_PART_EVIDENCE, !report->evidence_failed);
}

void serve_reload(struct serve *serve, bool force)
{
    struct runtime_report report = {0};
    cleanup_config struct config *config = NULL;
    struct server_limits limits = {0};
    int r = runtime_reload(serve->runtime, force, &report);
    bool changed = report.changed;

    if (r < 0)
        log_line(&serve->log, LOG_LEVEL_ERROR,
                 "out of memory: configuration, keyring and evidence are not reloaded");
    serve_log_report(serve, &report);
    if (r < 0 || changed)
        count_report(serve, &report);
    runtime_report_done(&report);
    config = runtime_config(serve->runtime);
    if (changed) {
        log_line(&serve->log, LOG_LEVEL_INFO, "configuration, keyring and evidence reloaded");
        limits = serve_limits(config);
        server_set_limits(serve->server, &limits);
        serve_self_set_config(&serve->self, config, &serve->log);
        (void)serve_note_trust(serve, false);
    }
    if (force)
        serve_self_reconcile(&serve->self);
    reload_tls(serve, config, force || changed);
    if (serve_self_is_on(&serve->self))
        atomic_store(&serve->metrics.failing[METRICS_PART_CERTIFICATE],
                     serve_self_failure(&serve->self) != NULL);
    reload_decision_log(serve, config, force);
}
