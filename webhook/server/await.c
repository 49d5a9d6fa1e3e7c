/* SPDX-License-Identifier: Apache-2.0 */
#include "webhook/server/await.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "k8s/util/clock.h"
#include "webhook/answer/exchange.h"
#include "webhook/server/shared.h"

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

static struct confirm await_next(const struct await *await, const struct server_gate *gate,
                                 const struct exchange *exchange)
{
    bool stale = gate->is_stale(gate->runtime);

    return confirm_next(&exchange->decision, stale, &await->history);
}

bool await_is_needed(struct await *await, struct server_shared *shared, struct exchange *exchange,
                     struct arena *arena)
{
    const struct server_gate *gate = &shared->gate;
    struct str name = exchange->review.namespace_name;
    struct confirm next = {0};

    if (gate->ask == NULL || !exchange->decided)
        return false;
    next = await_next(await, gate, exchange);
    if (next.step == CONFIRM_ASK && next.question != CLUSTER_FRESH && !await_can_exist(name)) {
        await->history.asked[next.question] = true;
        next = await_next(await, gate, exchange);
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

static bool await_count(struct await *await)
{
    if (await->question == CLUSTER_FRESH)
        return true;
    await->counted = budget_take_wait(&await->shared->budget);
    return await->counted;
}

static void await_uncount(struct await *await)
{
    if (await->counted)
        budget_return_wait(&await->shared->budget);
    await->counted = false;
}

static void await_done(struct cluster_waiter *waiter, int result)
{
    struct await *await = (struct await *)(void *)((char *)waiter - offsetof(struct await, waiter));

    await->history.results[await->question] = result;
    await_uncount(await);
    jobs_put(&await->shared->jobs, await->job);
}

bool await_ask(struct await *await, struct server_shared *shared, struct job *job,
               uint64_t deadline_msec)
{
    const struct server_gate *gate = &shared->gate;
    struct str name = {.ptr = await->namespace_name, .len = await->namespace_bytes};
    uint64_t last_msec = clock_msec() + AWAIT_MAX_MSEC;
    int r = -EBUSY;

    if (deadline_msec < last_msec)
        last_msec = deadline_msec;
    await->shared = shared;
    await->job = job;
    await->waiter = (struct cluster_waiter){.deadline_msec = last_msec, .done = await_done};
    await->history.asked[await->question] = true;
    if (await_count(await))
        r = gate->ask(gate->runtime, await->question, name, &await->waiter);
    if (r == 0)
        return true; /* from here on it may be answered, sent and gone */
    await_uncount(await);
    await->history.results[await->question] = r;
    return false;
}
