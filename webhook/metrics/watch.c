/* SPDX-License-Identifier: Apache-2.0 */
/* watch - writes the state of a watched cluster. See watch.h. */

#include "webhook/metrics/watch.h"

#include <inttypes.h>

#include "webhook/metrics/format.h"

#define MSEC_PER_SEC 1000

void metrics_write_watch(const struct cluster_status *status, struct buffer *b)
{
    static const char age[] = "sandgate_watch_age_seconds";

    metrics_write_head(
        b, age, "gauge",
        "Time since the API server last sent something, of the watch where that is longest.");
    buffer_add_format(b, "%s %" PRIu64 ".%03" PRIu64 "\n", age,
                      status->last_event_age_msec / MSEC_PER_SEC,
                      status->last_event_age_msec % MSEC_PER_SEC);
    metrics_write_gauge(b, "sandgate_watch_stale",
                        "1 if that is longer than evidence.maxStaleSeconds, otherwise 0.",
                        status->stale);
    metrics_write_gauge(b, "sandgate_watch_failed_reads",
                        "Reads of the API server, other than watches, that failed in a row.",
                        (int64_t)status->failed_reads);
    metrics_write_counter(b, "sandgate_watch_relists_total", "Full lists after the first.",
                          status->relists);
    metrics_write_counter(b, "sandgate_watch_failures_total", "Failed calls to the API server.",
                          status->failures);
    metrics_write_counter(b, "sandgate_confirmations_total",
                          "Reads of the API server that reviews waited for.",
                          status->confirmations);
    metrics_write_counter(
        b, "sandgate_confirmations_refused_total",
        "Reviews that could not wait because too many did, at once or in a second.",
        status->confirmations_refused);
    metrics_write_gauge(b, "sandgate_evidence_objects", "ConfigMaps with evidence.",
                        (int64_t)status->config_maps);
    metrics_write_gauge(b, "sandgate_namespaces", "Namespaces.", (int64_t)status->namespaces);
    metrics_write_gauge(b, "sandgate_network_policies",
                        "NetworkPolicies; 0 where they are not read.",
                        (int64_t)status->network_policies);
}
