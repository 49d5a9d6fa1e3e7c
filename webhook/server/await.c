/* SPDX-License-Identifier: Apache-2.0 */
/* await - asks the cluster for a request, and goes on with it after the answer. See await.h for why
 * it is decided again from its body. */

#include "webhook/server/await.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "k8s/util/clock.h"
#include "k8s/util/dns_name.h"
#include "webhook/answer/exchange.h"
#include "webhook/server/shared.h"

static struct confirm next_step(const struct await *await, const struct server_gate *gate,
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
    health_note_review(&shared->reviews, clock_age_msec());
    next = next_step(await, gate, exchange);
    /* no Namespace can have such a name, so the answer is known without a question */
    if (next.step == CONFIRM_ASK && next.question != CLUSTER_FRESH && !dns_is_label(name)) {
        await->history.asked[next.question] = true;
        next = next_step(await, gate, exchange);
    }
    if (next.step == CONFIRM_FINAL)
        return false;
    if (next.step == CONFIRM_LEAVE) {
        exchange_leave_undecided(arena, exchange);
        return false;
    }
    if (next.step == CONFIRM_ASK) {
        assert(!await->history.asked[next.question]); /* each is asked once */
        await->question = next.question;
        await->namespace_bytes = next.question != CLUSTER_FRESH ? name.len : 0;
        if (await->namespace_bytes > 0)
            memcpy(await->namespace_name, name.ptr, name.len);
        return true;
    }
    exchange_deny(confirm_code(&next), confirm_message(&next, name, arena), arena, exchange);
    return false;
}

static bool count(struct await *await)
{
    if (await->question == CLUSTER_FRESH)
        return true;
    await->counted = budget_take_wait(&await->shared->budget);
    return await->counted;
}

static void uncount(struct await *await)
{
    if (await->counted)
        budget_return_wait(&await->shared->budget);
    await->counted = false;
}

static void on_answer(struct cluster_waiter *waiter, int result)
{
    struct await *await = (struct await *)(void *)((char *)waiter - offsetof(struct await, waiter));

    assert(await->history.asked[await->question]);
    await->history.results[await->question] = result;
    uncount(await);
    jobs_put(&await->shared->jobs, await->job);
}

bool await_ask(struct await *await, struct server_shared *shared, struct job *job,
               uint64_t deadline_msec)
{
    const struct server_gate *gate = &shared->gate;
    struct str name = {.ptr = await->namespace_name, .len = await->namespace_bytes};
    int r = -EBUSY;

    if (await->end_msec == 0)
        await->end_msec = clock_msec() + AWAIT_MAX_MSEC;
    if (deadline_msec < await->end_msec)
        await->end_msec = deadline_msec;
    await->shared = shared;
    await->job = job;
    await->waiter = (struct cluster_waiter){.deadline_msec = await->end_msec, .done = on_answer};
    await->history.asked[await->question] = true;
    if (count(await))
        r = gate->ask(gate->runtime, await->question, name, &await->waiter);
    if (r == 0)
        return true; /* the request can be answered and freed by now */
    uncount(await);
    await->history.results[await->question] = r;
    return false;
}
