/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVE_WATCH_H
#define WEBHOOK_SERVE_WATCH_H

/* watch - connects a watched cluster with the log, and with the server that asks it. */

#include "webhook/runtime/runtime.h"
#include "webhook/server/server.h"

/* Logs an event of the watch; `log` is a struct log. Any thread. */
void serve_watch_log(void *log, const struct cluster_event *event);

/* Lets the server ask the cluster, where the evidence comes from one. Texts are in the arena, which
 * must outlive the server. 0, -ENOMEM. */
int serve_watch_gate(struct runtime *runtime, struct arena *arena, struct server_gate *gate)
    __attribute__((warn_unused_result, nonnull));

#endif
