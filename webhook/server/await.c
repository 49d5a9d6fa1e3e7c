/* SPDX-License-Identifier: Apache-2.0 */
#include "webhook/server/await.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "k8s/util/clock.h"
#include "webhook/server/request.h"
#include "webhook/server/internal.h"

static const struct server_gate *await_gate(const struct request *request)
{
    return &request->connection->server->options.gate;
}

/* What cannot be a name is asked for by nobody: the answer is known. */
static bool await_can_exist(struct str name)
{
    if (name.len == 0 || name.len > AWAIT_MAX_NAMESPACE_BYTES)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'))
            return false;
    }
    return true;
}

static struct confirm await_next(struct request *request, const struct exchange *exchange)
{
    const struct server_gate *gate = await_gate(request);
    bool stale = gate->is_stale(gate->source);

    return confirm_next(&exchange->decision, stale, &request->await.history);
}

bool await_is_needed(struct request *request, struct exchange *exchange, struct arena *arena)
{
    struct await *await = &request->await;
    struct str name = exchange->review.namespace_name;
    struct confirm next = {0};

    if (await_gate(request)->ask == NULL || !exchange->decided)
        return false;
    next = await_next(request, exchange);
    if (next.step == CONFIRM_ASK && next.question != CLUSTER_FRESH && !await_can_exist(name)) {
        await->history.asked[next.question] = true;
        next = await_next(request, exchange);
    }
    if (next.step == CONFIRM_FINAL)
        return false;
    if (next.step == CONFIRM_ASK) {
        await->question = next.question;
        await->namespace_bytes = next.question != CLUSTER_FRESH ? name.len : 0;
        if (await->namespace_bytes > 0)
            memcpy(await->namespace_name, name.ptr, name.len);
        return true;
    }
    exchange_deny(confirm_code(&next), confirm_message(&next, name, arena), arena, exchange);
    return false;
}

static bool await_count(struct request *request)
{
    struct await *await = &request->await;

    if (await->question == CLUSTER_FRESH)
        return true;
    await->counted = budget_take_wait(&request->connection->server->budget);
    return await->counted;
}

static void await_uncount(struct request *request)
{
    if (request->await.counted)
        budget_return_wait(&request->connection->server->budget);
    request->await.counted = false;
}

static void await_done(struct cluster_waiter *waiter, int result)
{
    struct await *await = (struct await *)(void *)((char *)waiter - offsetof(struct await, waiter));
    struct request *request =
        (struct request *)(void *)((char *)await - offsetof(struct request, await));

    await->history.results[await->question] = result;
    await_uncount(request);
    jobs_put(&request->connection->server->jobs, request);
}

bool await_ask(struct request *request)
{
    const struct server_gate *gate = await_gate(request);
    struct await *await = &request->await;
    struct str name = {.ptr = await->namespace_name, .len = await->namespace_bytes};
    uint64_t last_msec = clock_msec() + AWAIT_MAX_MSEC;
    int r = -EBUSY;

    if (request->deadline_msec < last_msec)
        last_msec = request->deadline_msec;
    await->waiter = (struct cluster_waiter){.deadline_msec = last_msec, .done = await_done};
    await->history.asked[await->question] = true;
    if (await_count(request))
        r = gate->ask(gate->source, await->question, name, &await->waiter);
    if (r == 0)
        return true; /* from here on it may be answered, sent and gone */
    await_uncount(request);
    await->history.results[await->question] = r;
    return false;
}
