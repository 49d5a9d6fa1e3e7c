/* SPDX-License-Identifier: Apache-2.0 */
/*
 * review_read - reads the events of one log into the report, until its end or until a signal asks
 * to stop. review.c calls it once for each file, review_follow.c again each time a file has grown.
 */

#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "webhook/cli/output.h"
#include "webhook/commands/review.h"

static volatile sig_atomic_t stop_requested;

static void request_stop(int signal_number)
{
    (void)signal_number;
    stop_requested = 1;
}

void review_catch_signals(void)
{
    struct sigaction action = {.sa_handler = request_stop};

    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

bool review_stop_requested(void)
{
    return stop_requested != 0;
}

static int add_events(struct log_review *review, const struct events *events, struct arena *arena)
{
    for (size_t i = 0; i < events->count; i++) {
        const struct report_row *row = NULL;
        bool passed = false;
        int r = report_add(&review->report, &events->items[i], arena, &row, &passed);

        if (r == 0 && passed && review->streaming)
            r = review_print_event(review, &events->items[i], row);
        if (r == 0 && passed && review->streaming && fflush(stdout) != 0)
            r = -errno;
        if (r < 0)
            return r;
    }
    return 0;
}

/* Someone who follows a log learns at once that its lines cannot be read. */
static void show_first(const struct log_review *review, enum event_kind kind,
                       const struct lines *lines)
{
    bool broken = kind == EVENT_BROKEN;
    const struct unread_part *part = &review->unread.parts[broken ? UNREAD_BROKEN : UNREAD_FOREIGN];

    if (review->streaming && (broken || kind == EVENT_FOREIGN) && part->number == 1)
        output_error("%s:%llu: %s", lines->path, (unsigned long long)lines->line,
                     broken ? "cannot be read" : "neither an audit event nor a decision");
}

struct reading {
    struct log_review *review;
    const struct lines *lines;
};

static int add_text(void *context, struct str text)
{
    const struct reading *reading = context;
    struct log_review *review = reading->review;
    const struct lines *lines = reading->lines;
    struct arena cleanup_arena arena = {.limit_bytes = REVIEW_MAX_EVENT_BYTES};
    enum event_kind kind = EVENT_BLANK;
    struct events events = {.count = 0};
    int r = 0;

    if (event_may_matter(text, &kind)) {
        r = event_read(text, &arena, &events, &kind);
        if (r == -ENOMEM) {
            kind = EVENT_BROKEN; /* it needs more memory than the limit allows */
            events.count = 0;
            r = 0;
        }
    }
    if (r == 0)
        r = add_events(review, &events, &arena);
    report_count_text(&review->report, kind);
    unread_count(&review->unread, kind, lines->path, lines->line);
    show_first(review, kind, lines);
    return r;
}

int log_review_read(struct log_review *review, struct lines *lines)
{
    struct progress progress = {.what = "MiB read", .total = (size_t)(lines->size >> 20)};
    struct reading reading = {review, lines};
    uint64_t bytes = lines->bytes_read;
    struct str text = {0};
    int r = 0;

    while ((r = lines_next(lines, &text)) == 1) {
        r = unwrap_text(&review->unwrap, text, add_text, &reading);
        if (r < 0 || review_stop_requested())
            break;
        while (progress.total > 0 && !review->streaming &&
               (lines->bytes_read >> 20) > progress.done)
            progress_step(&progress);
    }
    progress_hide();
    if (r == 0 && !lines->keep_tail)
        r = unwrap_end(&review->unwrap, add_text, &reading);
    review->report.totals.bytes += lines->bytes_read >= bytes ? lines->bytes_read - bytes : 0;
    return r;
}
