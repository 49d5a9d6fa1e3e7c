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

/* path is METRICS_PATH_HEALTHZ or METRICS_PATH_READYZ. Returns 200 or 503; *ret_why, a static text,
 * is set only for 503. */
int server_health(struct server_shared *shared, enum metrics_path path, const char **ret_why)
    __attribute__((nonnull));

#endif
