/* SPDX-License-Identifier: Apache-2.0 */
#include "webhook/metrics/watch.h"

#include <inttypes.h>

#include "webhook/metrics/format.h"

#define MSEC_PER_SEC 1000

void metrics_write_watch(const struct cluster_status *status, struct buffer *b)
{
    static const char age[] = "sandgate_watch_age_seconds";

    buffer_add_format(b,
                      "# HELP %s How long the API server was not heard of, by the watch that was "
                      "silent longest.\n# TYPE %s gauge\n%s %" PRIu64 ".%03" PRIu64 "\n",
                      age, age, age, status->heard_age_msec / MSEC_PER_SEC,
                      status->heard_age_msec % MSEC_PER_SEC);
    metrics_write_counter(b, "sandgate_watch_relists_total", "Whole lists after the first.",
                          status->relists);
    metrics_write_counter(b, "sandgate_watch_failures_total",
                          "Calls of the API server that failed.", status->failures);
    metrics_write_counter(b, "sandgate_confirmations_total",
                          "Reads of the API server that requests waited for.",
                          status->confirmations);
    metrics_write_counter(b, "sandgate_confirmations_refused_total",
                          "Requests that were more than are asked at once or a second.",
                          status->confirmations_refused);
    metrics_write_gauge(b, "sandgate_evidence_objects", "ConfigMaps with evidence that are known.",
                        (int64_t)status->config_maps);
    metrics_write_gauge(b, "sandgate_namespaces", "Namespaces that are known.",
                        (int64_t)status->namespaces);
}
