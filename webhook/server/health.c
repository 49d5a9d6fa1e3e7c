/* SPDX-License-Identifier: Apache-2.0 */
/* health - whether the process runs (/healthz) and whether it can decide (/readyz). Both ports and
 * the metrics use it. */

#include "webhook/server/health.h"

#include <assert.h>
#include <microhttpd.h>

#include "webhook/server/shared.h"

/* NULL: ready. */
static const char *why_not_ready(struct server_shared *shared)
{
    const struct server_gate *gate = &shared->gate;
    struct snapshot *snapshot = NULL;

    if (atomic_load(&shared->draining))
        return "not ready: the gate is stopping";
    snapshot = gate->snapshot(gate->runtime);
    snapshot_unref(snapshot);
    if (snapshot != NULL)
        return gate->why_not_ready != NULL ? gate->why_not_ready(gate->why_context) : NULL;
    return gate->why_no_snapshot != NULL
               ? gate->why_no_snapshot
               : "not ready: the first full list of evidence has not arrived yet";
}

int server_health(struct server_shared *shared, enum metrics_path path, const char **ret_why)
{
    const char *why = NULL;

    assert(path == METRICS_PATH_HEALTHZ || path == METRICS_PATH_READYZ);
    if (path == METRICS_PATH_READYZ)
        why = why_not_ready(shared);
    if (why == NULL)
        return MHD_HTTP_OK;
    *ret_why = why;
    return MHD_HTTP_SERVICE_UNAVAILABLE;
}
