/* SPDX-License-Identifier: Apache-2.0 */
/* evidence - counts the documents of a snapshot, and writes the counts. */

#include "webhook/metrics/evidence.h"

#include <assert.h>

#include "webhook/metrics/format.h"
#include "webhook/metrics/internal.h"

static const char *const state_names[METRICS_EVIDENCE_STATE_COUNT] = {
    [METRICS_EVIDENCE_VALID] = "valid",     [METRICS_EVIDENCE_EXPIRED] = "expired",
    [METRICS_EVIDENCE_STALE] = "stale",     [METRICS_EVIDENCE_INVALID] = "invalid",
    [METRICS_EVIDENCE_REVOKED] = "revoked", [METRICS_EVIDENCE_OTHER_AUDIENCE] = "other_audience",
};

static enum metrics_evidence_state state_of(const struct evidence *e, int max_age_days,
                                            struct moment now)
{
    struct moment expiry = {0};

    switch (e->state) {
    case EVIDENCE_REVOKED:
        return METRICS_EVIDENCE_REVOKED;
    case EVIDENCE_OTHER_AUDIENCE:
        return METRICS_EVIDENCE_OTHER_AUDIENCE;
    case EVIDENCE_VALID:
        if (evidence_expired(e, now))
            return METRICS_EVIDENCE_EXPIRED;
        if (evidence_end(e, max_age_days, &expiry) && moment_compare(expiry, now) < 0)
            return METRICS_EVIDENCE_STALE;
        return METRICS_EVIDENCE_VALID;
    case EVIDENCE_INVALID:
    default:
        return METRICS_EVIDENCE_INVALID;
    }
}

static void add_valid(struct metrics_evidence *sum, const struct evidence *e, int max_age_days)
{
    int64_t observed_sec = e->observed_at.sec - MOMENT_UNIX_EPOCH_SEC;
    struct moment expiry = {0};

    if (e->kind == EVIDENCE_REQUIREMENTS && (!sum->has_oldest || observed_sec < sum->oldest_sec)) {
        sum->has_oldest = true;
        sum->oldest_sec = observed_sec;
    }
    if (evidence_end(e, max_age_days, &expiry) &&
        (!sum->has_next || moment_compare(expiry, sum->next) < 0)) {
        sum->has_next = true;
        sum->next = expiry;
    }
}

static bool is_current(const struct metrics_evidence *evidence, const struct snapshot *snapshot,
                       struct moment now)
{
    if (evidence->snapshot != snapshot)
        return false;
    if (!evidence->has_next || moment_compare(now, evidence->next) <= 0)
        return true;
    return moment_compare(now, moment_add_seconds(evidence->counted, METRICS_EVIDENCE_PAUSE_SEC)) <
           0;
}

/* What has no record in the snapshot. Copies are not counted: one document is used. */
static void add_rests(struct metrics_evidence *sum, const struct snapshot *snapshot)
{
    size_t count = 0;
    const struct snapshot_rest *rests = snapshot_rests(snapshot, &count);

    for (size_t i = 0; i < count; i++) {
        sum->documents[EVIDENCE_UNKNOWN][METRICS_EVIDENCE_INVALID] += rests[i].invalid;
        sum->documents[EVIDENCE_BASELINE][METRICS_EVIDENCE_INVALID] += rests[i].broken;
    }
}

void metrics_evidence_look(struct metrics_evidence *evidence, const struct snapshot *snapshot,
                           struct moment now)
{
    struct metrics_evidence sum = {.counted = now};
    struct evidence_run all = snapshot_all(snapshot);
    int max_age_days = snapshot_policy(snapshot)->max_age_days;

    if (is_current(evidence, snapshot, now))
        return;
    for (size_t i = 0; i < all.count; i++) {
        const struct evidence *e = all.items[i];
        enum metrics_evidence_state state = state_of(e, max_age_days, now);

        assert(e->kind < EVIDENCE_KIND_COUNT);
        sum.documents[e->kind][state]++;
        if (state == METRICS_EVIDENCE_VALID)
            add_valid(&sum, e, max_age_days);
    }
    add_rests(&sum, snapshot);
    sum.snapshot = snapshot_ref(snapshot);
    snapshot_unref(evidence->snapshot);
    *evidence = sum;
}

void metrics_evidence_done(struct metrics_evidence *evidence)
{
    snapshot_unref(evidence->snapshot);
    evidence->snapshot = NULL;
}

void metrics_write_evidence(const struct metrics_evidence *evidence, struct buffer *b)
{
    if (evidence == NULL)
        return;
    metrics_write_head(b, "sandgate_evidence_documents", "gauge",
                       "Evidence documents in the snapshot, by kind and state.");
    for (size_t kind = 0; kind < EVIDENCE_KIND_COUNT; kind++)
        for (size_t state = 0; state < METRICS_EVIDENCE_STATE_COUNT; state++)
            buffer_add_format(
                b, "sandgate_evidence_documents{kind=\"%s\",state=\"%s\"} %" PRIu64 "\n",
                kind == EVIDENCE_UNKNOWN ? "unknown" : evidence_kind_text((enum evidence_kind)kind),
                state_names[state], evidence->documents[kind][state]);
    if (evidence->has_oldest)
        metrics_write_gauge(b, "sandgate_evidence_oldest_observed_timestamp_seconds",
                            "The oldest observed_at of valid requirements.", evidence->oldest_sec);
    if (evidence->has_next)
        metrics_write_gauge(b, "sandgate_evidence_next_lapse_timestamp_seconds",
                            "When the next valid document expires, by expires_at or "
                            "evidence.maxAgeDays.",
                            evidence->next.sec - MOMENT_UNIX_EPOCH_SEC);
}
