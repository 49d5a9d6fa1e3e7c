/* SPDX-License-Identifier: Apache-2.0 */
/* times - counts decisions over time. The bars get wider as the time span grows, so that a log of
 * minutes and one of years need the same memory. */

#include <assert.h>

#include "webhook/report/internal.h"

/* Each is a multiple of the one before, so that whole bars can be joined. */
static const int64_t widths_sec[] = {
    60, 300, 900, 3600, 10800, 21600, 86400, 604800, 2419200, 29030400, 2903040000,
};

#define WIDTHS (sizeof(widths_sec) / sizeof(widths_sec[0]))

static int64_t floor_to(int64_t sec, int64_t width_sec)
{
    return sec - ((sec % width_sec) + width_sec) % width_sec;
}

/* Whether the bars of that width reach from the first event to the last one. */
static bool fits(const struct report_times *times, size_t width)
{
    int64_t width_sec = widths_sec[width];

    return (floor_to(times->last_sec, width_sec) - floor_to(times->first_sec, width_sec)) /
               width_sec <
           REPORT_MAX_BARS;
}

/* Joins the counts into bars of that width, beginning at the first event. */
static void join(struct report_times *times, size_t width)
{
    struct report_times joined = {
        .begun = true,
        .width_sec = widths_sec[width],
        .from_sec = floor_to(times->first_sec, widths_sec[width]),
        .first_sec = times->first_sec,
        .last_sec = times->last_sec,
    };

    for (size_t i = 0; i < REPORT_MAX_BARS; i++) {
        int64_t at_sec = times->from_sec + (int64_t)i * times->width_sec;
        size_t bar = 0;

        if (times->denied[i] + times->violates[i] == 0)
            continue;
        bar = (size_t)((at_sec - joined.from_sec) / joined.width_sec);
        joined.denied[bar] += times->denied[i];
        joined.violates[bar] += times->violates[i];
    }
    *times = joined;
}

void report_times_add(struct report_times *times, struct moment at, enum event_verdict verdict)
{
    int64_t sec = at.sec;
    size_t width = 0, bar = 0;

    if (verdict != EVENT_DENIED && verdict != EVENT_VIOLATES)
        return;
    if (!times->begun)
        *times = (struct report_times){
            .begun = true, .first_sec = sec, .last_sec = sec, .width_sec = widths_sec[0]};
    if (sec < times->first_sec)
        times->first_sec = sec;
    if (sec > times->last_sec)
        times->last_sec = sec;
    while (widths_sec[width] < times->width_sec || (width + 1 < WIDTHS && !fits(times, width)))
        width++;
    if (widths_sec[width] != times->width_sec || sec < times->from_sec ||
        (sec - times->from_sec) / times->width_sec >= REPORT_MAX_BARS)
        join(times, width);
    bar = (size_t)((sec - times->from_sec) / times->width_sec);
    assert(bar < REPORT_MAX_BARS); /* the widest bars reach over all years of a moment */
    if (verdict == EVENT_DENIED)
        times->denied[bar]++;
    else
        times->violates[bar]++;
}
