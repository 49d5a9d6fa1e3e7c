/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVE_WATCH_H
#define WEBHOOK_SERVE_WATCH_H

/* watch - between a watched cluster, the server that asks it, and the log. */

#include "webhook/server/server.h"
#include "webhook/runtime/runtime.h"

/* What the watch has to say, as a line of the log (a struct log). Any thread. */
void serve_watch_tell(void *log, const struct cluster_event *event);

/* Lets the gate ask the cluster, where there is one: of a folder nobody asks. Texts lie in the
 * arena, which outlives the server. 0 or -ENOMEM. */
int serve_watch_gate(struct runtime *runtime, struct arena *arena, struct server_gate *gate)
    __attribute__((warn_unused_result, nonnull));

#endif
