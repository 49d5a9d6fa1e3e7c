/* SPDX-License-Identifier: Apache-2.0 */
#include "webhook/metrics/watch.h"

#include <inttypes.h>

#define MSEC_PER_SEC 1000

static void write_one(struct buffer *b, const char *name, const char *type, const char *help,
                      uint64_t value)
{
    buffer_add_format(b, "# HELP %s %s\n# TYPE %s %s\n%s %" PRIu64 "\n", name, help, name, type,
                      name, value);
}

void metrics_write_watch(const struct cluster_status *status, struct buffer *b)
{
    static const char age[] = "sandgate_watch_age_seconds";

    buffer_add_format(b,
                      "# HELP %s How long the API server was not heard of, by the watch that was "
                      "silent longest.\n# TYPE %s gauge\n%s %" PRIu64 ".%03" PRIu64 "\n",
                      age, age, age, status->heard_age_msec / MSEC_PER_SEC,
                      status->heard_age_msec % MSEC_PER_SEC);
    write_one(b, "sandgate_watch_relists_total", "counter", "Whole lists after the first.",
              status->relists);
    write_one(b, "sandgate_watch_failures_total", "counter", "Calls of the API server that failed.",
              status->failures);
    write_one(b, "sandgate_confirmations_total", "counter",
              "Reads of the API server that requests waited for.", status->confirmations);
    write_one(b, "sandgate_confirmations_refused_total", "counter",
              "Requests that were more than are asked at once or a second.",
              status->confirmations_refused);
    write_one(b, "sandgate_evidence_objects", "gauge", "ConfigMaps with evidence that are known.",
              status->config_maps);
    write_one(b, "sandgate_namespaces", "gauge", "Namespaces that are known.", status->namespaces);
}
