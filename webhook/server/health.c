/* SPDX-License-Identifier: Apache-2.0 */
/* health - whether the process runs (/healthz) and whether it can decide (/readyz). Both ports and
 * the metrics use it. */

#include "webhook/server/health.h"

#include <assert.h>
#include <microhttpd.h>
#include <stdio.h>

#include "k8s/util/clock.h"
#include "planner/base/buffer.h"
#include "webhook/server/shared.h"

void health_note_review(struct health_reviews *reviews, uint64_t now_msec)
{
    uint64_t before_msec = atomic_exchange(&reviews->last_msec, now_msec);

    if (before_msec == 0 || now_msec > before_msec + HEALTH_REVIEWS_MSEC)
        atomic_store(&reviews->first_msec, now_msec);
}

/* The API server is up, and the gate is cut off. A read that failed before the first of the reviews
 * says nothing: the API server can have been away then. */
static bool is_cut_off(struct server_shared *shared, const struct cluster_status *status)
{
    uint64_t now_msec = clock_age_msec();
    uint64_t first_msec = atomic_load(&shared->reviews.first_msec);
    uint64_t last_msec = atomic_load(&shared->reviews.last_msec);

    return status->stale && status->failed_reads >= CLUSTER_MAX_FAILED_READS && last_msec != 0 &&
           now_msec <= last_msec + HEALTH_REVIEWS_MSEC &&
           now_msec >= first_msec + status->failed_read_age_msec;
}

static struct cluster_status look(const struct server_gate *gate)
{
    struct cluster_status status = {0};

    if (gate->look != NULL)
        gate->look(gate->runtime, &status);
    return status;
}

bool health_is_cut_off(struct server_shared *shared)
{
    const struct cluster_status status = look(&shared->gate);

    return is_cut_off(shared, &status);
}

/* NULL: ready. */
static const char *why_not_ready(struct server_shared *shared, const struct cluster_status *status)
{
    const struct server_gate *gate = &shared->gate;
    struct snapshot *snapshot = NULL;
    const char *why = NULL;

    if (atomic_load(&shared->draining))
        return "not ready: the gate is stopping";
    snapshot = gate->snapshot(gate->runtime);
    snapshot_unref(snapshot);
    if (snapshot == NULL)
        return gate->why_no_snapshot != NULL
                   ? gate->why_no_snapshot
                   : "not ready: the first full list of evidence has not arrived yet";
    if (gate->why_not_ready != NULL)
        why = gate->why_not_ready(gate->why_context);
    if (why == NULL && is_cut_off(shared, status))
        why = "not ready: the API server sends reviews, but this gate cannot read from it (the log "
              "has the reason); other replicas decide until it can";
    return why;
}

static void write_attention(const struct server_gate *gate, const struct cluster_status *status,
                            struct buffer *b)
{
    if (status->stale && status->ready)
        buffer_add(b, STR("\nthe API server has sent nothing for longer than "
                          "evidence.maxStaleSeconds: requests that can be denied wait for it, or "
                          "are denied with code 503"));
    if (gate->attend != NULL)
        gate->attend(gate->attend_context, b);
}

int server_health(struct server_shared *shared, enum metrics_path path,
                  char ret_text[static HEALTH_TEXT_BYTES])
{
    struct arena cleanup_arena arena = {0};
    struct buffer b = buffer_make(&arena, HEALTH_TEXT_BYTES - sizeof("ok"));
    const struct cluster_status status = look(&shared->gate);
    const char *why = NULL;
    struct str text = {0};

    assert(path == METRICS_PATH_HEALTHZ || path == METRICS_PATH_READYZ);
    if (path == METRICS_PATH_READYZ)
        why = why_not_ready(shared, &status);
    if (why != NULL) {
        (void)snprintf(ret_text, HEALTH_TEXT_BYTES, "%s", why);
        return MHD_HTTP_SERVICE_UNAVAILABLE;
    }
    write_attention(&shared->gate, &status, &b);
    text = buffer_text(&b); /* absent without memory: the gate serves nevertheless */
    (void)snprintf(ret_text, HEALTH_TEXT_BYTES, "ok%.*s", (int)text.len,
                   str_present(text) ? text.ptr : "");
    return MHD_HTTP_OK;
}
