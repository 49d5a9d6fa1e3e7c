/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_HEALTH_H
#define WEBHOOK_SERVER_HEALTH_H

/*
 * health - the answers of /healthz and /readyz, which are the same on both ports.
 *
 * Threads    any.
 */

#include "webhook/metrics/metrics.h"

struct server_shared;

/* The HTTP status for METRICS_PATH_HEALTHZ or METRICS_PATH_READYZ. *ret_why, a static text, is set
 * only where the status is not 200. */
int server_health(struct server_shared *shared, enum metrics_path path, const char **ret_why)
    __attribute__((nonnull));

#endif
