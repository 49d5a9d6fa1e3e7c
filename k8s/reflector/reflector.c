/* SPDX-License-Identifier: Apache-2.0 */
/* reflector - decides on the next request and on pauses, and follows the ends of calls. */
#include "k8s/reflector/reflector.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "k8s/reflector/internal.h"
#include "k8s/util/http_status.h"
#include "k8s/util/percent.h"
#include "planner/base/buffer.h"

#define MAX_REFUSED_WATCHES 3   /* with an error status, in a row: then a list */
#define MAX_SHORT_WATCHES 5     /* with events, in a row, before a pause */
#define MAX_REQUESTED_PAUSES 10 /* in a row that are as short as the server asks */
#define MAX_DOUBLINGS 16        /* more than the longest pause needs */
#define REQUESTED_JITTER_MSEC 200
#define MAX_PATH_BYTES 65536

static uint32_t next_random(struct reflector *reflector)
{
    uint32_t x = reflector->random;

    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    reflector->random = x;
    return x;
}

static size_t count_shape(const struct document_shape *shape)
{
    size_t count = 0;

    while (shape[count].key != NULL)
        count++;
    return count;
}

/* The members of the caller, and those of a Status, which an ERROR event has instead of an object.
 */
static int make_shapes(struct reflector *reflector)
{
    static const char *const more[] = {"code", "reason", "message"};
    const struct document_shape *members = reflector->options.members;
    size_t count = count_shape(members);
    struct document_shape *object = arena_alloc(&reflector->texts, count + 4, sizeof(*object));
    struct document_shape *event = arena_alloc(&reflector->texts, 3, sizeof(*event));

    if (object == NULL || event == NULL)
        return -ENOMEM;
    memcpy(object, members, count * sizeof(*object));
    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
        object[count + i].key = more[i];
    event[0].key = "type";
    event[1] = (struct document_shape){.key = "object", .members = object};
    reflector->object = object;
    reflector->event = event;
    return 0;
}

int reflector_new(const struct reflector_options *options, struct reflector **ret_reflector)
{
    struct reflector *reflector = calloc(1, sizeof(*reflector));
    const char *path = NULL;
    const char *selector = NULL;

    if (reflector == NULL)
        return -ENOMEM;
    reflector->options = *options;
    path = arena_copy(&reflector->texts, options->path);
    selector = arena_copy(&reflector->texts, options->selector);
    if (path == NULL || selector == NULL || make_shapes(reflector) < 0) {
        reflector_free(reflector);
        return -ENOMEM;
    }
    reflector->options.path.ptr = path;
    reflector->options.selector = (struct str){.ptr = selector, .len = options->selector.len};
    reflector->random = options->seed != 0 ? options->seed : 1;
    reflector->must_list = true;
    reflector->initial_events = options->initial_events;
    *ret_reflector = reflector;
    return 0;
}

void reflector_free(struct reflector *reflector)
{
    if (reflector == NULL)
        return;
    reflector_known_done(&reflector->known, &reflector->options.sink);
    reflector_text_done(&reflector->call.line);
    reflector_list_done(&reflector->call.page);
    free(reflector->listing.token);
    arena_release(&reflector->texts);
    arena_release(&reflector->task);
    free(reflector);
}

/* Discards the call in progress with its incomplete event or item. */
static void discard_call(struct reflector *reflector)
{
    struct reflector_call *call = &reflector->call;

    reflector_text_clear(&call->line);
    reflector_list_clear(&call->page);
    call->step = 0;
    call->initial_events = false;
    call->events = 0;
    call->error_code = 0;
}

/* The next list begins with its first page. */
static void restart_listing(struct reflector *reflector, bool whole)
{
    free(reflector->listing.token);
    reflector->listing = (struct reflector_listing){.whole = whole};
}

static void begin_listing(struct reflector *reflector)
{
    struct reflector_listing *listing = &reflector->listing;

    if (listing->begun)
        return;
    listing->begun = true;
    listing->change = (struct reflector_change){
        .source = REFLECTOR_BY_LIST,
        .round = ++reflector->rounds,
        .again = reflector->again,
    };
}

static void add_list_query(struct reflector *reflector, struct buffer *b)
{
    const struct reflector_listing *listing = &reflector->listing;

    if (!listing->whole)
        buffer_add_format(b, "&limit=%d", REFLECTOR_PAGE_ITEMS);
    if (listing->token != NULL) {
        buffer_add(b, STR("&continue="));
        percent_add(b, str_of(listing->token));
        return; /* the token includes the version */
    }
    if (reflector->latest)
        return;
    buffer_add(b, STR("&resourceVersion="));
    percent_add(b, reflector->version[0] != '\0' ? str_of(reflector->version) : STR("0"));
}

static void add_watch_query(struct reflector *reflector, struct buffer *b, uint32_t timeout_sec)
{
    buffer_add(b, STR("&watch=true&allowWatchBookmarks=true"));
    if (reflector->must_list) {
        buffer_add(b, STR("&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"));
    } else {
        buffer_add(b, STR("&resourceVersion="));
        percent_add(b, str_of(reflector->version));
    }
    buffer_add_format(b, "&timeoutSeconds=%u", timeout_sec);
}

/* Each part of the query begins with `&`; the first one is replaced by `?`. */
static struct str make_path(struct reflector *reflector, const struct reflector_task *task)
{
    struct buffer query = buffer_make(&reflector->task, MAX_PATH_BYTES);
    struct str text = {0};

    if (task->step == REFLECTOR_LIST)
        add_list_query(reflector, &query);
    else
        add_watch_query(reflector, &query, task->timeout_sec);
    if (reflector->options.selector.len > 0) {
        buffer_add_char(&query, '&');
        buffer_add(&query, reflector->options.selector);
    }
    text = buffer_text(&query);
    if (!str_present(text))
        return text;
    if (text.len == 0) /* all objects, latest version, without pages */
        return reflector->options.path;
    return arena_format(&reflector->task, "%s?%s", reflector->options.path.ptr, text.ptr + 1);
}

int reflector_next(struct reflector *reflector, uint64_t now_msec, struct reflector_task *ret_task)
{
    struct reflector_task task = {.step = REFLECTOR_WATCH};

    discard_call(reflector);
    arena_release(&reflector->task);
    reflector->reason[0] = '\0';
    if (reflector->must_list && !reflector->initial_events)
        task.step = REFLECTOR_LIST;
    if (task.step == REFLECTOR_WATCH)
        task.timeout_sec =
            REFLECTOR_WATCH_MIN_SEC +
            next_random(reflector) % (REFLECTOR_WATCH_MAX_SEC - REFLECTOR_WATCH_MIN_SEC + 1);
    if (reflector->pause_until_msec > now_msec)
        task.pause_msec = (uint32_t)(reflector->pause_until_msec - now_msec);
    task.path = make_path(reflector, &task);
    if (!str_present(task.path))
        return -ENOMEM;
    assert(task.step == REFLECTOR_LIST || task.step == REFLECTOR_WATCH);
    reflector->call.step = task.step;
    reflector->call.initial_events = reflector->must_list && task.step == REFLECTOR_WATCH;
    reflector->call.begun_msec = now_msec + task.pause_msec;
    *ret_task = task;
    return 0;
}

static int take_item(void *context, struct str item)
{
    struct reflector *reflector = context;

    return reflector_read_item(reflector, item, reflector->listing.change);
}

/* A list is complete; `version` becomes the version of the watch. */
static void finish_list(struct reflector *reflector, const char *version, uint64_t now_msec)
{
    reflector_known_sweep(&reflector->known, &reflector->options.sink, reflector->listing.change);
    (void)memcpy(reflector->version, version, sizeof(reflector->version));
    restart_listing(reflector, false);
    reflector->must_list = false;
    reflector->latest = false;
    reflector->again = false;
    reflector->lists++;
    reflector->last_event_msec = now_msec;
}

static int take_line(struct reflector *reflector, struct str text, uint64_t now_msec)
{
    struct reflector_line line = {0};
    int r = reflector_read_line(reflector, text, &line);

    if (r < 0 || !line.is_event)
        return r;
    if (line.ends_list) {
        reflector->call.initial_events = false;
        finish_list(reflector, line.version, now_msec);
    }
    reflector->call.events++;
    reflector->last_event_msec = now_msec;
    reflector->expired = 0;
    reflector->refused = 0;
    return 0;
}

static int take_lines(struct reflector *reflector, struct str bytes, uint64_t now_msec)
{
    struct reflector_text *line = &reflector->call.line;

    while (bytes.len > 0) {
        const char *end = memchr(bytes.ptr, '\n', bytes.len);
        struct str piece = {.ptr = bytes.ptr,
                            .len = end != NULL ? (size_t)(end - bytes.ptr) : bytes.len};
        int r = 0;

        if (end == NULL)
            return reflector_text_add(line, piece);
        if (line->len > 0) {
            r = reflector_text_add(line, piece);
            piece = reflector_text_str(line);
        }
        if (r == 0)
            r = take_line(reflector, piece, now_msec);
        reflector_text_clear(line);
        if (r < 0)
            return r;
        bytes = (struct str){.ptr = end + 1, .len = (size_t)(bytes.ptr + bytes.len - (end + 1))};
    }
    return 0;
}

void reflector_sent(struct reflector *reflector)
{
    if (reflector->call.step == REFLECTOR_LIST || reflector->call.initial_events)
        begin_listing(reflector);
}

int reflector_bytes(struct reflector *reflector, struct str bytes, uint64_t now_msec)
{
    reflector_sent(reflector);
    if (reflector->call.step == REFLECTOR_LIST)
        return reflector_list_bytes(&reflector->call.page, bytes, take_item, reflector);
    if (reflector->call.step == REFLECTOR_WATCH && reflector->call.error_code == 0)
        return take_lines(reflector, bytes, now_msec);
    return -EREMOTEIO;
}

static void pause_for(struct reflector *reflector, uint64_t msec, uint64_t now_msec)
{
    reflector->pause_until_msec = now_msec + msec;
}

/* Counts a failure and sets the pause after it. */
static void back_off(struct reflector *reflector, uint32_t retry_after_sec, uint64_t now_msec)
{
    uint64_t pause = REFLECTOR_PAUSE_MIN_MSEC;
    uint64_t requested = (uint64_t)retry_after_sec * 1000;

    if (reflector->failed_msec != 0 && now_msec - reflector->failed_msec > REFLECTOR_CALM_MSEC)
        reflector->failures = 0;
    reflector->failed_msec = now_msec;
    pause <<= reflector->failures < MAX_DOUBLINGS ? reflector->failures : MAX_DOUBLINGS;
    if (pause > REFLECTOR_PAUSE_MAX_MSEC)
        pause = REFLECTOR_PAUSE_MAX_MSEC;
    if (requested > REFLECTOR_PAUSE_MAX_MSEC)
        requested = REFLECTOR_PAUSE_MAX_MSEC;
    if (requested > 0 && (reflector->failures < MAX_REQUESTED_PAUSES || requested > pause))
        pause = requested + next_random(reflector) % REQUESTED_JITTER_MSEC;
    else
        pause += next_random(reflector) % pause;
    reflector->failures++;
    assert(pause <= 2 * (uint64_t)REFLECTOR_PAUSE_MAX_MSEC);
    pause_for(reflector, pause, now_msec);
}

static int keep_token(struct reflector *reflector, struct str token)
{
    char *copy = malloc(token.len + 1);

    if (copy == NULL)
        return -ENOMEM;
    memcpy(copy, token.ptr, token.len);
    copy[token.len] = '\0';
    free(reflector->listing.token);
    reflector->listing.token = copy;
    return 0;
}

static int finish_page(struct reflector *reflector, uint64_t now_msec)
{
    cleanup_arena struct arena arena = {0};
    struct reflector_listing *listing = &reflector->listing;
    struct reflector_head head = {0};
    int r = reflector_read_head(reflector, reflector_text_str(&reflector->call.page.head), &arena,
                                &head);

    if (r < 0)
        return r;
    if (!head.has_items) { /* even an empty list has `items`; anything else must not drop objects */
        reflector_set_reason(reflector, STR("the response is not a list"));
        return -EBADMSG;
    }
    if (listing->version[0] == '\0') /* all pages have the version of the first */
        memcpy(listing->version, head.version, sizeof(head.version));
    if (head.token.len > 0)
        return keep_token(reflector, head.token);
    finish_list(reflector, listing->version, now_msec);
    return 0;
}

/* Whether the watch ended so early that the next one needs a pause, to avoid a busy loop. */
static bool ended_early(struct reflector *reflector, uint64_t now_msec)
{
    const struct reflector_call *call = &reflector->call;
    bool is_short = now_msec < call->begun_msec + REFLECTOR_SHORT_WATCH_MSEC;

    if (is_short && call->events == 0)
        return true;
    reflector->short_watches = is_short ? reflector->short_watches + 1 : 0;
    return reflector->short_watches > MAX_SHORT_WATCHES;
}

static void finish_watch(struct reflector *reflector, uint64_t now_msec)
{
    if (ended_early(reflector, now_msec)) {
        reflector->failure_count++;
        reflector_set_reason(reflector, STR("the watch ended immediately after it began"));
        back_off(reflector, 0, now_msec);
    }
    if (reflector->call.initial_events)
        restart_listing(reflector, false);
}

int reflector_ended(struct reflector *reflector, uint64_t now_msec)
{
    int r = 0;

    if (reflector->call.step == REFLECTOR_LIST) {
        r = finish_page(reflector, now_msec);
        if (r < 0)
            return r;
    } else if (reflector->call.error_code != 0) {
        return -EREMOTEIO;
    } else {
        finish_watch(reflector, now_msec);
    }
    discard_call(reflector);
    return 0;
}

static void clear_version(struct reflector *reflector, uint64_t now_msec)
{
    reflector->version[0] = '\0';
    reflector->must_list = true;
    reflector->latest = true;
    restart_listing(reflector, false);
    /* a single 410 is normal; only repeated ones need a pause */
    if (reflector->expired++ > 0)
        back_off(reflector, 0, now_msec);
}

static void fail_list(struct reflector *reflector, int status, bool too_large,
                      uint32_t retry_after_sec, uint64_t now_msec)
{
    if (status == HTTP_GONE && reflector->listing.token != NULL) {
        restart_listing(reflector, true);
        return;
    }
    if (status == HTTP_GONE) {
        clear_version(reflector, now_msec);
        return;
    }
    reflector->latest |= too_large;
    restart_listing(reflector, reflector->listing.whole);
    back_off(reflector, retry_after_sec, now_msec);
}

static void fail_watch(struct reflector *reflector, int status, uint32_t retry_after_sec,
                       uint64_t now_msec)
{
    if (reflector->call.initial_events) {
        /* servers that do not support it respond with 400 or 422 */
        if (status >= 400 && status < 500 && status != HTTP_TOO_MANY_REQUESTS)
            reflector->initial_events = false;
        restart_listing(reflector, false);
    }
    if (status == HTTP_GONE) {
        clear_version(reflector, now_msec);
        return;
    }
    if (status == 0 && reflector->call.error_code == 0 && reflector->call.events > 0 &&
        !ended_early(reflector, now_msec))
        return; /* the connection was lost: continue from the last event */
    if (status >= 300 && status != HTTP_TOO_MANY_REQUESTS &&
        ++reflector->refused >= MAX_REFUSED_WATCHES) {
        reflector->refused = 0;
        reflector->must_list = true;
    }
    back_off(reflector, retry_after_sec, now_msec);
}

void reflector_failed(struct reflector *reflector, int status, struct str body,
                      uint32_t retry_after_sec, uint64_t now_msec)
{
    bool too_large = status >= 300 && reflector_read_status(reflector, body);

    if (reflector->call.error_code != 0)
        status = reflector->call.error_code;
    reflector->failure_count++;
    if (reflector->call.step == REFLECTOR_LIST)
        fail_list(reflector, status, too_large, retry_after_sec, now_msec);
    else
        fail_watch(reflector, status, retry_after_sec, now_msec);
    discard_call(reflector);
}

void reflector_relist(struct reflector *reflector, enum reflector_relist how)
{
    discard_call(reflector);
    restart_listing(reflector, reflector->listing.whole);
    reflector->must_list = true;
    reflector->latest = true;
    reflector->again |= how == REFLECTOR_AGAIN;
    reflector->pause_until_msec = 0;
}
