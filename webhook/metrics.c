#include "webhook/metrics.h"

#include <errno.h>
#include <inttypes.h>

#include "planner/buffer.h"
#include "webhook/metrics_watch.h"

#define METRICS_MAX_BYTES ((size_t)64 * 1024)
#define USEC_PER_SEC 1000000
#define TIMEOUT_CODE 504

/* The last stands for every other one. */
static const int codes[METRICS_CODE_COUNT] = {
    200, 400, 401, 404, 405, 411, 413, 415, 431, 500, 503, 504, 505, 0,
};

static const char *const path_names[METRICS_PATH_COUNT] = {
    [METRICS_PATH_VALIDATE] = "/validate", [METRICS_PATH_HEALTHZ] = "/healthz",
    [METRICS_PATH_READYZ] = "/readyz",     [METRICS_PATH_METRICS] = "/metrics",
    [METRICS_PATH_OTHER] = "other",
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

static const struct bucket {
    uint64_t usec;
    const char *name;
} buckets[METRICS_BUCKET_COUNT] = {
    {100, "0.0001"}, {250, "0.00025"}, {500, "0.0005"}, {1000, "0.001"}, {2500, "0.0025"},
    {5000, "0.005"}, {25000, "0.025"}, {100000, "0.1"}, {1000000, "1"},  {10000000, "10"},
};

static void count(_Atomic uint64_t *counter, uint64_t by)
{
    (void)atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

static uint64_t look(_Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void metrics_count_request(struct metrics *metrics, enum metrics_path path, int status)
{
    size_t i = 0;

    while (i + 1 < METRICS_CODE_COUNT && codes[i] != status)
        i++;
    count(&metrics->requests[path][i], 1);
}

void metrics_count_review(struct metrics *metrics, enum gate_outcome outcome, bool allowed,
                          uint64_t usec)
{
    size_t i = 0;

    while (i < METRICS_BUCKET_COUNT && usec > buckets[i].usec)
        i++;
    count(&metrics->reviews[outcome][allowed], 1);
    count(&metrics->review_buckets[i], 1);
    count(&metrics->review_usec, usec);
}

void metrics_count_undecided(struct metrics *metrics, int code)
{
    count(&metrics->undecided[code == TIMEOUT_CODE], 1);
}

void metrics_count_reload(struct metrics *metrics, enum metrics_part part, bool done)
{
    count(&metrics->reloads[part][done], 1);
}

void metrics_count_cut(struct metrics *metrics, enum metrics_cut why)
{
    count(&metrics->cut[why], 1);
}

static void write_head(struct buffer *b, const char *name, const char *type, const char *help)
{
    buffer_add_format(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_requests(struct metrics *metrics, struct buffer *b)
{
    write_head(b, "sandgate_http_requests_total", "counter", "Requests that were answered.");
    for (size_t path = 0; path < METRICS_PATH_COUNT; path++)
        for (size_t i = 0; i < METRICS_CODE_COUNT; i++) {
            uint64_t n = look(&metrics->requests[path][i]);

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

static void write_reviews(struct metrics *metrics, struct buffer *b)
{
    uint64_t sum = 0;

    write_head(b, "sandgate_reviews_total", "counter", "Reviews that were decided.");
    for (size_t i = OUTCOME_READY; i < METRICS_OUTCOME_COUNT; i++)
        for (size_t allowed = 0; allowed < 2; allowed++)
            buffer_add_format(b,
                              "sandgate_reviews_total{outcome=\"%s\",allowed=\"%s\"} %" PRIu64 "\n",
                              gate_outcome_text((enum gate_outcome)i), allowed ? "true" : "false",
                              look(&metrics->reviews[i][allowed]));
    write_head(b, "sandgate_reviews_undecided_total", "counter",
               "Reviews that were denied because the cluster was not heard of in time.");
    for (size_t i = 0; i < 2; i++)
        buffer_add_format(b, "sandgate_reviews_undecided_total{code=\"%s\"} %" PRIu64 "\n",
                          i == 0 ? "503" : "504", look(&metrics->undecided[i]));
    write_head(b, "sandgate_review_duration_seconds", "histogram",
               "Time from the last byte of a review to its answer.");
    for (size_t i = 0; i < METRICS_BUCKET_COUNT; i++) {
        sum += look(&metrics->review_buckets[i]);
        buffer_add_format(b, "sandgate_review_duration_seconds_bucket{le=\"%s\"} %" PRIu64 "\n",
                          buckets[i].name, sum);
    }
    sum += look(&metrics->review_buckets[METRICS_BUCKET_COUNT]);
    buffer_add_format(b,
                      "sandgate_review_duration_seconds_bucket{le=\"+Inf\"} %" PRIu64
                      "\nsandgate_review_duration_seconds_sum %.6f"
                      "\nsandgate_review_duration_seconds_count %" PRIu64 "\n",
                      sum, (double)look(&metrics->review_usec) / USEC_PER_SEC, sum);
}

static void write_life(struct metrics *metrics, struct buffer *b)
{
    write_head(b, "sandgate_reloads_total", "counter", "Readings of what may change at run time.");
    for (size_t part = 0; part < METRICS_PART_COUNT; part++)
        for (size_t done = 0; done < 2; done++)
            buffer_add_format(b, "sandgate_reloads_total{part=\"%s\",result=\"%s\"} %" PRIu64 "\n",
                              part_names[part], done ? "ok" : "error",
                              look(&metrics->reloads[part][done]));
    write_head(b, "sandgate_connections_cut_total", "counter",
               "Connections that the server ended by itself.");
    for (size_t i = 0; i < METRICS_CUT_COUNT; i++)
        buffer_add_format(b, "sandgate_connections_cut_total{reason=\"%s\"} %" PRIu64 "\n",
                          cut_names[i], look(&metrics->cut[i]));
}

static void write_gauge(struct buffer *b, const char *name, const char *help, int64_t value)
{
    write_head(b, name, "gauge", help);
    buffer_add_format(b, "%s %" PRId64 "\n", name, value);
}

int metrics_write(struct metrics *metrics, const struct metrics_state *state, struct arena *arena,
                  struct str *ret_text)
{
    struct buffer b = buffer_make(arena, METRICS_MAX_BYTES);
    struct str text = {0};

    write_head(&b, "sandgate_build_info", "gauge", "The running program.");
    buffer_add(&b, STR("sandgate_build_info{version=\"" SANDGATE_VERSION "\"} 1\n"));
    write_gauge(&b, "sandgate_ready", "Whether /readyz says ok.", state->ready);
    write_gauge(&b, "sandgate_connections", "Open connections.", (int64_t)state->connections);
    write_gauge(&b, "sandgate_in_flight_requests", "Reviews being decided.",
                (int64_t)state->in_flight);
    write_gauge(&b, "sandgate_in_flight_bytes", "Bytes of bodies and of the work on them.",
                (int64_t)state->in_flight_bytes);
    write_gauge(&b, "sandgate_certificate_expiry_timestamp_seconds",
                "When the serving certificate ends.",
                atomic_load_explicit(&metrics->certificate_expires_sec, memory_order_relaxed));
    write_requests(metrics, &b);
    write_reviews(metrics, &b);
    write_life(metrics, &b);
    if (state->watch != NULL)
        metrics_write_watch(state->watch, &b);
    text = buffer_text(&b);
    if (!str_present(text))
        return -ENOMEM;
    *ret_text = text;
    return 0;
}
