/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_AWAIT_H
#define WEBHOOK_SERVER_AWAIT_H

/*
 * await - a request whose answer depends on something the gate has not heard of yet: it waits on
 * no thread, and is decided again once the answer is there (gate-v1, sections 2, 4 and 8).
 *
 * Between await_ask() and the answer the request belongs to whoever answers; its connection is
 * suspended, its slot and its bytes stay taken. Half of the slots may wait like this; but where the
 * snapshot is stale nearly every request has to, and all may.
 *
 * Threads    one at a time for a request; the answer comes from a thread of the cluster's.
 */

#include <stdbool.h>

#include "k8s/cluster/cluster.h"
#include "webhook/server/confirm.h"

#define AWAIT_MAX_NAMESPACE_BYTES 63 /* a longer name is no name of a Namespace */
#define AWAIT_MAX_MSEC 30000 /* an API server waits for no webhook longer, whoever asks may */

struct arena;
struct exchange;
struct job;
struct server_shared;

/* Part of a request. */
struct await {
    struct cluster_waiter waiter; /* the cluster's until it answers */
    struct server_shared *shared;
    struct job *job; /* goes on with the request */
    struct confirm_history history;
    bool counted;                   /* among those that wait, in the budget */
    enum cluster_question question; /* what is to be asked, or was asked last */
    char namespace_name[AWAIT_MAX_NAMESPACE_BYTES];
    size_t namespace_bytes;
};

/* Whether the exchange is not final yet: then ask, and decide anew. Where no answer came to what
 * was asked before, the exchange becomes a denial that says so, and is final. */
bool await_is_needed(struct await *await, struct server_shared *shared, struct exchange *exchange,
                     struct arena *arena) __attribute__((warn_unused_result));

/* True: the request goes on through its server's jobs, perhaps already. False: nothing can be
 * asked, which is noted; decide anew at once. */
bool await_ask(struct await *await, struct server_shared *shared, struct job *job,
               uint64_t deadline_msec) __attribute__((warn_unused_result));

#endif
