/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_AWAIT_H
#define WEBHOOK_SERVER_AWAIT_H

/*
 * await - the wait of a request whose decision depends on something that the gate does not know
 * yet. It occupies no thread, and the request is decided again when the answer is there (gate-v1,
 * sections 2, 4 and 8).
 *
 * Between await_ask() and the answer the request belongs to the cluster: its connection is
 * suspended, its slot and its bytes stay taken. Half of the slots can wait like this. While the
 * snapshot is stale nearly every request has to wait, and all slots can.
 *
 * The arena of the first decision is released, and the second one reads the body again. A decision
 * of a usual Pod takes 0.1 to 0.3 ms of CPU and up to 60 KiB of arena (measured with the reviews of
 * tests/captured/), a large body up to ten times its size. A wait takes milliseconds at least, up
 * to AWAIT_MAX_MSEC, and it is rare: the cluster answers at most CLUSTER_MAX_CONFIRMED_PER_SEC
 * questions a second. So memory is saved where requests pile up, for CPU that is not scarce then.
 * In addition, everything but the parsing has to be done again with the new snapshot anyway.
 *
 * Threads    one at a time for each struct await; the answer comes from a thread of the cluster.
 */

#include <stdbool.h>

#include "k8s/cluster/cluster.h"
#include "k8s/util/dns_name.h"
#include "webhook/server/confirm.h"

/* All waits of one request together: the API server waits for no webhook longer; a client could ask
 * for more. */
#define AWAIT_MAX_MSEC 30000

struct arena;
struct exchange;
struct job;
struct server_shared;

/* Part of a request. {0} is a valid start. */
struct await {
    struct cluster_waiter waiter; /* the cluster's until it answers */
    struct server_shared *shared;
    struct job *job; /* put after the answer */
    struct confirm_history history;
    uint64_t end_msec;              /* of all its waits; 0: none has begun */
    bool counted;                   /* among those that wait, in the budget */
    enum cluster_question question; /* to be asked, or the last that was asked */
    char namespace_name[DNS_LABEL_MAX_BYTES];
    size_t namespace_bytes;
};

/* Whether the decision is not final yet: then call await_ask(), and decide again. Where a question
 * got no answer, the exchange becomes a denial with the reason, and is final. */
bool await_is_needed(struct await *await, struct server_shared *shared, struct exchange *exchange,
                     struct arena *arena) __attribute__((warn_unused_result));

/* True: job is put when the answer is there; that can be before this returns. False: the question
 * cannot be asked, which is noted; decide again at once. */
bool await_ask(struct await *await, struct server_shared *shared, struct job *job,
               uint64_t deadline_msec) __attribute__((warn_unused_result));

#endif
