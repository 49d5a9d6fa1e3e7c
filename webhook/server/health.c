/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health - says whether the process lives (/healthz) and whether it can decide (/readyz).
 *
 * A file of its own because both ports and the metrics use it.
 */

#include "webhook/server/health.h"

#include <microhttpd.h>

#include "webhook/server/shared.h"

int server_health(struct server_shared *shared, enum metrics_path path, const char **ret_why)
{
    struct snapshot *snapshot = NULL;

    if (path == METRICS_PATH_HEALTHZ)
        return MHD_HTTP_OK;
    if (atomic_load(&shared->draining)) {
        *ret_why = "not ready: the gate is stopping";
        return MHD_HTTP_SERVICE_UNAVAILABLE;
    }
    snapshot = shared->gate.snapshot(shared->gate.context);
    snapshot_unref(snapshot);
    if (snapshot != NULL) {
        const struct server_gate *gate = &shared->gate;
        const char *why = gate->why_not_yet != NULL ? gate->why_not_yet(gate->context) : NULL;

        if (why == NULL)
            return MHD_HTTP_OK;
        *ret_why = why;
        return MHD_HTTP_SERVICE_UNAVAILABLE;
    }
    *ret_why = shared->gate.why_unready != NULL
                   ? shared->gate.why_unready
                   : "not ready: the first full list of evidence is not there yet";
    return MHD_HTTP_SERVICE_UNAVAILABLE;
}
