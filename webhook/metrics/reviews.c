/* SPDX-License-Identifier: Apache-2.0 */
/* reviews - counters and durations of reviews, and their text. */

#include <assert.h>

#include "k8s/util/http_status.h"
#include "webhook/metrics/format.h"
#include "webhook/metrics/internal.h"

#define USEC_PER_SEC 1000000

static const struct bucket {
    uint64_t usec;
    const char *name;
} buckets[METRICS_BUCKET_COUNT] = {
    {100, "0.0001"}, {250, "0.00025"}, {500, "0.0005"}, {1000, "0.001"}, {2500, "0.0025"},
    {5000, "0.005"}, {25000, "0.025"}, {100000, "0.1"}, {1000000, "1"},  {10000000, "10"},
};

static const char *const level_names[METRICS_LEVEL_COUNT] = {
    [LEVEL_UNSET] = "unset", /* not looked at */
    [LEVEL_NONE] = "none",
    [LEVEL_ANNOTATED] = "annotated",
    [LEVEL_REQUIRED] = "required",
};

static const char *const kind_names[METRICS_KIND_COUNT] = {
    [WORKLOAD_NONE] = "other",
    [WORKLOAD_POD] = "Pod",
    [WORKLOAD_POD_TEMPLATE] = "PodTemplate",
    [WORKLOAD_REPLICATION_CONTROLLER] = "ReplicationController",
    [WORKLOAD_REPLICA_SET] = "ReplicaSet",
    [WORKLOAD_DEPLOYMENT] = "Deployment",
    [WORKLOAD_STATEFUL_SET] = "StatefulSet",
    [WORKLOAD_DAEMON_SET] = "DaemonSet",
    [WORKLOAD_JOB] = "Job",
    [WORKLOAD_CRON_JOB] = "CronJob",
};

static const char *const undecided_names[METRICS_UNDECIDED_COUNT] = {"503", "504"};

static const char *const refusal_names[METRICS_REFUSAL_COUNT] = {
    [METRICS_REFUSAL_SLOTS] = "slots",
    [METRICS_REFUSAL_BYTES] = "bytes",
    [METRICS_REFUSAL_NOT_READY] = "not_ready",
};

static void count_findings(struct metrics *metrics, const struct decision *decision)
{
    bool gate[GATE_CODE_COUNT] = {false}, plan[PLAN_CODE_COUNT] = {false};

    for (size_t i = 0; i < decision->finding_count; i++)
        gate[decision->findings[i].code] = true;
    for (size_t i = 0; decision->planned && i < decision->plan.finding_count; i++)
        plan[decision->plan.findings[i].code] = true;
    for (size_t i = 0; i < GATE_CODE_COUNT; i++)
        if (gate[i])
            metrics_add(&metrics->gate_findings[i], 1);
    for (size_t i = 0; i < PLAN_CODE_COUNT; i++)
        if (plan[i])
            metrics_add(&metrics->plan_findings[i], 1);
}

void metrics_count_review(struct metrics *metrics, const struct exchange *exchange, uint64_t usec)
{
    const struct decision *d = &exchange->decision;
    const struct review *r = &exchange->review;
    size_t i = 0;

    if (!exchange->decided && exchange->undecided == 0)
        return;
    while (i < METRICS_BUCKET_COUNT && usec > buckets[i].usec)
        i++;
    metrics_add(&metrics->review_buckets[i], 1);
    metrics_add(&metrics->review_usec, usec);
    if (!exchange->decided) {
        metrics_add(&metrics->undecided[exchange->undecided == HTTP_SERVICE_UNAVAILABLE ? 0 : 1],
                    1);
        return;
    }
    assert(d->outcome < METRICS_OUTCOME_COUNT && d->levels.enforce < METRICS_LEVEL_COUNT);
    assert(r->operation < METRICS_OPERATION_COUNT && r->kind < METRICS_KIND_COUNT);
    metrics_add(&metrics->reviews[d->outcome][d->allowed], 1);
    metrics_add(&metrics->decisions[d->outcome][d->allowed][d->levels.enforce][r->operation]
                                   [r->kind][r->dry_run],
                1);
    if (d->finding_count > 0 || (d->planned && d->plan.finding_count > 0))
        count_findings(metrics, d);
    for (size_t control = 0; d->boundary_read && control < BOUNDARY_CONTROL_COUNT; control++)
        metrics_add(&metrics->boundary_reads[control][d->boundary.states[control]], 1);
}

void metrics_count_refusal(struct metrics *metrics, enum metrics_refusal why)
{
    assert(why < METRICS_REFUSAL_COUNT);
    metrics_add(&metrics->refused[why], 1);
}

static void write_outcomes(struct metrics *metrics, struct buffer *b)
{
    metrics_write_head(b, "sandgate_reviews_total", "counter", "Reviews that were decided.");
    for (size_t i = OUTCOME_READY; i < METRICS_OUTCOME_COUNT; i++)
        for (size_t allowed = 0; allowed < 2; allowed++)
            buffer_add_format(b,
                              "sandgate_reviews_total{outcome=\"%s\",allowed=\"%s\"} %" PRIu64 "\n",
                              gate_outcome_text((enum gate_outcome)i), allowed ? "true" : "false",
                              metrics_load(&metrics->reviews[i][allowed]));
}

/* One of many series; those with the value 0 are not shown. n counts through the dimensions of the
 * array. */
static void write_decision(struct metrics *metrics, size_t n, struct buffer *b)
{
    size_t dry_run = n % 2, kind = n / 2 % METRICS_KIND_COUNT;
    size_t operation = n / 2 / METRICS_KIND_COUNT % METRICS_OPERATION_COUNT;
    size_t rest = n / 2 / METRICS_KIND_COUNT / METRICS_OPERATION_COUNT;
    size_t level = rest % METRICS_LEVEL_COUNT, allowed = rest / METRICS_LEVEL_COUNT % 2;
    size_t outcome = rest / METRICS_LEVEL_COUNT / 2;
    uint64_t count =
        metrics_load(&metrics->decisions[outcome][allowed][level][operation][kind][dry_run]);

    if (count == 0)
        return;
    buffer_add_format(b,
                      "sandgate_decisions_total{outcome=\"%s\",allowed=\"%s\",enforce=\"%s\","
                      "operation=\"%s\",kind=\"%s\",dry_run=\"%s\"} %" PRIu64 "\n",
                      gate_outcome_text((enum gate_outcome)outcome), allowed ? "true" : "false",
                      level_names[level], review_operation_text((enum review_operation)operation),
                      kind_names[kind], dry_run ? "true" : "false", count);
}

static void write_decisions(struct metrics *metrics, struct buffer *b)
{
    metrics_write_head(
        b, "sandgate_decisions_total", "counter",
        "Reviews that were decided, by level of enforce, operation, kind and dry run.");
    for (size_t n = 0; n < sizeof(metrics->decisions) / sizeof(uint64_t); n++)
        write_decision(metrics, n, b);
}

static void write_durations(struct metrics *metrics, struct buffer *b)
{
    uint64_t sum = 0;

    metrics_write_head(b, "sandgate_review_duration_seconds", "histogram",
                       "Time from the last byte of a review to its answer.");
    for (size_t i = 0; i < METRICS_BUCKET_COUNT; i++) {
        sum += metrics_load(&metrics->review_buckets[i]);
        buffer_add_format(b, "sandgate_review_duration_seconds_bucket{le=\"%s\"} %" PRIu64 "\n",
                          buckets[i].name, sum);
    }
    sum += metrics_load(&metrics->review_buckets[METRICS_BUCKET_COUNT]);
    buffer_add_format(b,
                      "sandgate_review_duration_seconds_bucket{le=\"+Inf\"} %" PRIu64
                      "\nsandgate_review_duration_seconds_sum %.6f"
                      "\nsandgate_review_duration_seconds_count %" PRIu64 "\n",
                      sum, (double)metrics_load(&metrics->review_usec) / USEC_PER_SEC, sum);
}

static void write_findings(struct metrics *metrics, struct buffer *b)
{
    metrics_write_head(b, "sandgate_findings_total", "counter",
                       "Decisions that had a finding with that code.");
    for (size_t i = 0; i < GATE_CODE_COUNT; i++)
        buffer_add_format(b, "sandgate_findings_total{code=\"%s\"} %" PRIu64 "\n",
                          gate_code_text((enum gate_code)i),
                          metrics_load(&metrics->gate_findings[i]));
    for (size_t i = 0; i < PLAN_CODE_COUNT; i++)
        buffer_add_format(b, "sandgate_findings_total{code=\"%s\"} %" PRIu64 "\n",
                          plan_code_text((enum plan_code)i),
                          metrics_load(&metrics->plan_findings[i]));
}

static void write_boundary(struct metrics *metrics, struct buffer *b)
{
    metrics_write_head(b, "sandgate_boundary_reads_total", "counter",
                       "Decisions for which the pod's own spec was read, by control and state.");
    for (size_t i = 0; i < BOUNDARY_CONTROL_COUNT; i++)
        for (size_t state = BOUNDARY_HELD; state <= BOUNDARY_CONTRADICTED; state++)
            buffer_add_format(
                b, "sandgate_boundary_reads_total{control=\"%s\",state=\"%s\"} %" PRIu64 "\n",
                boundary_control_text((enum boundary_control)i),
                boundary_state_text((enum boundary_state)state),
                metrics_load(&metrics->boundary_reads[i][state]));
}

static void write_undecided(struct metrics *metrics, struct buffer *b)
{
    metrics_write_head(b, "sandgate_reviews_undecided_total", "counter",
                       "Reviews denied because the decision could not be confirmed in time.");
    for (size_t i = 0; i < METRICS_UNDECIDED_COUNT; i++)
        buffer_add_format(b, "sandgate_reviews_undecided_total{code=\"%s\"} %" PRIu64 "\n",
                          undecided_names[i], metrics_load(&metrics->undecided[i]));
    metrics_write_head(b, "sandgate_reviews_refused_total", "counter",
                       "Reviews refused before they were decided, by reason.");
    for (size_t i = 0; i < METRICS_REFUSAL_COUNT; i++)
        buffer_add_format(b, "sandgate_reviews_refused_total{reason=\"%s\"} %" PRIu64 "\n",
                          refusal_names[i], metrics_load(&metrics->refused[i]));
}

void metrics_write_reviews(struct metrics *metrics, struct buffer *b)
{
    write_outcomes(metrics, b);
    write_decisions(metrics, b);
    write_durations(metrics, b);
    write_findings(metrics, b);
    write_boundary(metrics, b);
    write_undecided(metrics, b);
}
