/* SPDX-License-Identifier: Apache-2.0 */
/* metrics - counts requests, reloads and cut connections, and writes the whole text. reviews.c,
 * evidence.c and watch.c write their topics, format.c the lines that all of them share. */

#include "webhook/metrics/metrics.h"

#include <assert.h>
#include <errno.h>

#include "webhook/metrics/format.h"
#include "webhook/metrics/internal.h"
#include "webhook/metrics/watch.h"

#define METRICS_MAX_BYTES ((size_t)2 * 1024 * 1024) /* enough for every series that can exist */

/* The last one counts every other status. */
static const int codes[METRICS_CODE_COUNT] = {
    200, 400, 401, 403, 404, 405, 411, 413, 415, 431, 500, 503, 504, 505, 0,
};

static const char *const path_names[METRICS_PATH_COUNT] = {
    [METRICS_PATH_VALIDATE] = "/validate", [METRICS_PATH_HEALTHZ] = "/healthz",
    [METRICS_PATH_READYZ] = "/readyz",     [METRICS_PATH_METRICS] = "/metrics",
    [METRICS_PATH_DENIALS] = "/denials",   [METRICS_PATH_OTHER] = "other",
};

static const char *const part_names[METRICS_PART_COUNT] = {
    [METRICS_PART_CONFIGURATION] = "configuration",
    [METRICS_PART_CERTIFICATE] = "certificate",
    [METRICS_PART_KEYRING] = "keyring",
    [METRICS_PART_EVIDENCE] = "evidence",
};

static const char *const cut_names[METRICS_CUT_COUNT] = {
    [METRICS_CUT_SLOW] = "slow",
    [METRICS_CUT_CROWDED] = "crowded",
};

void metrics_count_request(struct metrics *metrics, enum metrics_path path, int status)
{
    size_t i = 0;

    assert(path < METRICS_PATH_COUNT);
    while (i + 1 < METRICS_CODE_COUNT && codes[i] != status)
        i++;
    metrics_add(&metrics->requests[path][i], 1);
}

void metrics_count_reload(struct metrics *metrics, enum metrics_part part, bool succeeded)
{
    assert(part < METRICS_PART_COUNT);
    metrics_add(&metrics->reloads[part][succeeded], 1);
    atomic_store_explicit(&metrics->failing[part], !succeeded, memory_order_relaxed);
}

const char *metrics_part_text(enum metrics_part part)
{
    assert(part < METRICS_PART_COUNT);
    return part_names[part];
}

void metrics_count_cut(struct metrics *metrics, enum metrics_cut why)
{
    assert(why < METRICS_CUT_COUNT);
    metrics_add(&metrics->cut[why], 1);
}

static void write_requests(struct metrics *metrics, struct buffer *b)
{
    metrics_write_head(b, "sandgate_http_requests_total", "counter",
                       "Requests that were answered.");
    for (size_t path = 0; path < METRICS_PATH_COUNT; path++)
        for (size_t i = 0; i < METRICS_CODE_COUNT; i++) {
            uint64_t n = metrics_load(&metrics->requests[path][i]);

            if (n > 0 && codes[i] != 0)
                buffer_add_format(
                    b, "sandgate_http_requests_total{path=\"%s\",code=\"%d\"} %" PRIu64 "\n",
                    path_names[path], codes[i], n);
            else if (n > 0)
                buffer_add_format(
                    b, "sandgate_http_requests_total{path=\"%s\",code=\"other\"} %" PRIu64 "\n",
                    path_names[path], n);
        }
}

static void write_reloads_and_cuts(struct metrics *metrics, struct buffer *b)
{
    metrics_write_head(b, "sandgate_reloads_total", "counter",
                       "Reloads of configuration, certificate, keyring and evidence.");
    for (size_t part = 0; part < METRICS_PART_COUNT; part++)
        for (size_t succeeded = 0; succeeded < 2; succeeded++)
            buffer_add_format(b, "sandgate_reloads_total{part=\"%s\",result=\"%s\"} %" PRIu64 "\n",
                              part_names[part], succeeded ? "ok" : "error",
                              metrics_load(&metrics->reloads[part][succeeded]));
    metrics_write_head(b, "sandgate_last_reload_successful", "gauge",
                       "1 if the last reading of this part succeeded, otherwise 0.");
    for (size_t part = 0; part < METRICS_PART_COUNT; part++)
        buffer_add_format(b, "sandgate_last_reload_successful{part=\"%s\"} %d\n", part_names[part],
                          !atomic_load_explicit(&metrics->failing[part], memory_order_relaxed));
    metrics_write_head(b, "sandgate_connections_cut_total", "counter",
                       "Connections that the server cut.");
    for (size_t i = 0; i < METRICS_CUT_COUNT; i++)
        buffer_add_format(b, "sandgate_connections_cut_total{reason=\"%s\"} %" PRIu64 "\n",
                          cut_names[i], metrics_load(&metrics->cut[i]));
}

static void write_keyring(struct metrics *metrics, struct buffer *b)
{
    metrics_write_gauge(b, "sandgate_keyring_keys", "Public keys in use.",
                        (int64_t)metrics_load(&metrics->keyring_keys));
    metrics_write_head(
        b, "sandgate_keyring_signers_missing", "gauge",
        "Different keys that the threshold of this kind needs beyond those there are.");
    for (int kind = EVIDENCE_REQUIREMENTS; kind < EVIDENCE_KIND_COUNT; kind++)
        buffer_add_format(b, "sandgate_keyring_signers_missing{kind=\"%s\"} %" PRIu64 "\n",
                          evidence_kind_text((enum evidence_kind)kind),
                          metrics_load(&metrics->signers_missing[kind]));
}

static void write_records(const struct metrics_state *state, struct buffer *b)
{
    const struct decision_log_counts *counts = &state->decision_log;

    if (!state->records)
        return;
    metrics_write_head(b, "sandgate_decision_log_lines_written_total", "counter",
                       "Lines written to the decision log.");
    buffer_add_format(b, "sandgate_decision_log_lines_written_total %" PRIu64 "\n",
                      counts->written);
    metrics_write_head(b, "sandgate_decision_log_lines_lost_total", "counter",
                       "Lines of the decision log that were lost.");
    buffer_add_format(b,
                      "sandgate_decision_log_lines_lost_total{reason=\"queue_full\"} %" PRIu64
                      "\nsandgate_decision_log_lines_lost_total{reason=\"write_failed\"} %" PRIu64
                      "\nsandgate_decision_log_lines_lost_total{reason=\"no_memory\"} %" PRIu64
                      "\n",
                      counts->lost_full, counts->lost_failed, counts->lost_memory);
    metrics_write_gauge(b, "sandgate_denials_kept", "Denials shown by /denials.",
                        (int64_t)state->denials_kept);
}

int metrics_write(struct metrics *metrics, const struct metrics_state *state, struct arena *arena,
                  struct str *ret_text)
{
    struct buffer b = buffer_make(arena, METRICS_MAX_BYTES);
    struct str text = {0};

    metrics_write_head(&b, "sandgate_build_info", "gauge", "The running program.");
    buffer_add(&b, STR("sandgate_build_info{version=\"" SANDGATE_VERSION "\"} 1\n"));
    metrics_write_gauge(&b, "sandgate_ready", "1 if /readyz answers 200, otherwise 0.",
                        state->ready);
    metrics_write_gauge(&b, "sandgate_connections", "Open connections.",
                        (int64_t)state->connections);
    metrics_write_gauge(&b, "sandgate_in_flight_requests", "Reviews being decided.",
                        (int64_t)state->in_flight);
    metrics_write_gauge(&b, "sandgate_in_flight_bytes",
                        "Bytes of request bodies and of the memory to decide them.",
                        (int64_t)state->in_flight_bytes);
    metrics_write_gauge(
        &b, "sandgate_certificate_expiry_timestamp_seconds",
        "Expiry of the serving certificate; 0: unknown.",
        atomic_load_explicit(&metrics->certificate_expires_sec, memory_order_relaxed));
    write_requests(metrics, &b);
    metrics_write_reviews(metrics, &b);
    metrics_write_evidence(state->evidence, &b);
    write_keyring(metrics, &b);
    write_records(state, &b);
    write_reloads_and_cuts(metrics, &b);
    if (state->watch != NULL)
        metrics_write_watch(state->watch, &b);
    text = buffer_text(&b);
    if (!str_present(text))
        return -ENOMEM;
    *ret_text = text;
    return 0;
}
