/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop - many calls at once, by the multi interface of libcurl.
 *
 * libcurl must not be called from its own callbacks: calls that are begun or dropped there are only
 * noted, and handled by the next turn.
 */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "k8s/api/internal.h"
#include "k8s/util/clock.h"

struct api_loop {
    struct api *api; /* borrowed */
    CURLM *multi;
    struct api_call *first;
    size_t ended; /* calls that ended in this turn */
    bool inside;  /* libcurl is running: calls cannot be added or removed */
};

int api_loop_new(struct api *api, struct api_loop **ret_loop)
{
    struct api_loop *loop = calloc(1, sizeof(*loop));

    if (loop == NULL)
        return -ENOMEM;
    loop->api = api;
    loop->multi = curl_multi_init();
    if (loop->multi == NULL) {
        free(loop);
        return -ENOMEM;
    }
    *ret_loop = loop;
    return 0;
}

static void link_call(struct api_loop *loop, struct api_call *call)
{
    call->loop = loop;
    call->next = loop->first;
    if (loop->first != NULL)
        loop->first->previous = call;
    loop->first = call;
}

static void unlink_call(struct api_loop *loop, struct api_call *call)
{
    assert(call->loop == loop && (call->previous != NULL || loop->first == call));
    if (call->next != NULL)
        call->next->previous = call->previous;
    if (call->previous != NULL)
        call->previous->next = call->next;
    else
        loop->first = call->next;
}

static void remove_from_curl(struct api_loop *loop, struct api_call *call)
{
    if (call->added)
        (void)curl_multi_remove_handle(loop->multi, call->easy);
    call->added = false;
}

static void free_call(struct api_loop *loop, struct api_call *call)
{
    remove_from_curl(loop, call);
    unlink_call(loop, call);
    api_call_free(loop->api, call);
}

void api_loop_free(struct api_loop *loop)
{
    if (loop == NULL)
        return;
    while (loop->first != NULL)
        free_call(loop, loop->first);
    (void)curl_multi_cleanup(loop->multi);
    free(loop);
}

int api_loop_begin(struct api_loop *loop, const struct api_request *request, struct arena *arena,
                   void (*on_done)(void *context, int result, const struct api_reply *reply),
                   struct api_call **ret_call)
{
    struct api_call *call = NULL;
    int r = api_call_new(loop->api, request, arena, &call);

    if (r < 0)
        return r;
    call->on_done = on_done;
    link_call(loop, call);
    if (ret_call != NULL)
        *ret_call = call;
    return 0;
}

int api_loop_start(struct api_loop *loop, const struct api_request *request,
                   void (*on_done)(void *context, int result, const struct api_reply *reply),
                   struct api_call **ret_call)
{
    return api_loop_begin(loop, request, NULL, on_done, ret_call);
}

void api_loop_drop(struct api_loop *loop, struct api_call *call)
{
    if (loop->inside)
        call->dropped = true; /* the turn frees it */
    else
        free_call(loop, call);
}

void api_loop_wake(struct api_loop *loop)
{
    (void)curl_multi_wakeup(loop->multi);
}

/* Ends a call by on_done, which can begin and drop other calls. */
static void end_call(struct api_loop *loop, struct api_call *call, int result)
{
    struct api_reply reply = {0};
    int r = 0;

    assert(!loop->inside);
    r = api_call_reply(loop->api, call, result, &reply);

    remove_from_curl(loop, call);
    unlink_call(loop, call);
    call->next = NULL;
    call->previous = NULL;
    loop->ended++;
    call->on_done(call->request.context, r, &reply);
    api_call_free(loop->api, call);
}

static uint64_t left_msec(uint64_t end_msec, uint64_t now_msec)
{
    return end_msec > now_msec ? end_msec - now_msec : 0;
}

/* How long until a call is ended by its deadline or its idle limit; UINT64_MAX: it is not. */
static uint64_t left_of(const struct api_call *call)
{
    const struct api_request *request = &call->request;
    uint64_t left = UINT64_MAX;
    uint64_t idle = UINT64_MAX;

    if (request->deadline_msec != 0)
        left = left_msec(request->deadline_msec, clock_msec());
    if (request->idle_sec != 0)
        idle =
            left_msec(call->last_byte_msec + (uint64_t)request->idle_sec * 1000, clock_age_msec());
    return idle < left ? idle : left;
}

static struct api_call *find_new(struct api_loop *loop)
{
    struct api_call *call = loop->first;

    while (call != NULL && (call->added || call->dropped))
        call = call->next;
    return call;
}

static size_t count_new(const struct api_loop *loop)
{
    size_t count = 0;

    for (const struct api_call *call = loop->first; call != NULL; call = call->next)
        count += !call->added && !call->dropped;
    return count;
}

static struct api_call *find_late(struct api_loop *loop)
{
    struct api_call *call = loop->first;

    while (call != NULL && left_of(call) > 0)
        call = call->next;
    return call;
}

/* Only the calls that are new now: on_done of one that fails at once can begin another. */
static void begin_new(struct api_loop *loop)
{
    size_t count = count_new(loop);
    struct api_call *call = NULL;

    while (count-- > 0 && (call = find_new(loop)) != NULL) {
        int r = api_call_prepare(loop->api, call);

        if (r == 0 && curl_multi_add_handle(loop->multi, call->easy) != CURLM_OK)
            r = -ENOMEM;
        if (r == 0)
            call->added = true;
        else
            end_call(loop, call, r);
    }
}

static void free_dropped(struct api_loop *loop)
{
    struct api_call *next = NULL;

    for (struct api_call *call = loop->first; call != NULL; call = next) {
        next = call->next;
        if (call->dropped)
            free_call(loop, call);
    }
}

static void end_finished(struct api_loop *loop)
{
    int left = 0;
    const CURLMsg *message = NULL;

    while ((message = curl_multi_info_read(loop->multi, &left)) != NULL) {
        struct api_call *call = NULL;
        char *private = NULL;
        CURLcode code = message->data.result;

        if (message->msg != CURLMSG_DONE ||
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private) != CURLE_OK)
            continue;
        call = (struct api_call *)(void *)private;
        if (api_call_retry(loop->api, call, code))
            remove_from_curl(loop, call);
        else
            end_call(loop, call, api_call_result(call, code));
    }
}

static int drive(struct api_loop *loop)
{
    struct api_call *late = NULL;
    CURLMcode code = CURLM_OK;
    int running = 0;

    begin_new(loop);
    loop->inside = true;
    code = curl_multi_perform(loop->multi, &running);
    loop->inside = false;
    if (code != CURLM_OK)
        return code == CURLM_OUT_OF_MEMORY ? -ENOMEM : -EIO;
    free_dropped(loop);
    end_finished(loop);
    while ((late = find_late(loop)) != NULL)
        end_call(loop, late, -ETIMEDOUT);
    return 0;
}

static int wait_msec(struct api_loop *loop, uint32_t timeout_msec)
{
    uint64_t wait = timeout_msec < INT_MAX ? timeout_msec : INT_MAX;

    for (const struct api_call *call = loop->first; call != NULL; call = call->next) {
        uint64_t left = call->added ? left_of(call) : 0;

        if (left < wait)
            wait = left;
    }
    return (int)wait;
}

int api_loop_turn(struct api_loop *loop, uint32_t timeout_msec)
{
    CURLMcode code = CURLM_OK;
    int r = 0;

    loop->ended = 0;
    r = drive(loop);
    if (r < 0 || loop->ended > 0)
        return r;
    code = curl_multi_poll(loop->multi, NULL, 0, wait_msec(loop, timeout_msec), NULL);
    if (code != CURLM_OK)
        return code == CURLM_OUT_OF_MEMORY ? -ENOMEM : -EIO;
    return drive(loop);
}
