/* SPDX-License-Identifier: Apache-2.0 */
/*
 * review_follow - `review --follow`: reads a log that is still being written, until SIGINT or
 * SIGTERM. The file is polled: inotify does not report changes on network file systems.
 */

#include <time.h>

#include "webhook/commands/review.h"

#define POLL_INTERVAL_NSEC 200000000L

int review_follow(struct log_review *review, struct lines *lines)
{
    const struct timespec interval = {.tv_nsec = POLL_INTERVAL_NSEC};

    while (!review_stop_requested()) {
        int r = lines_follow(lines);

        if (r == 1)
            r = log_review_read(review, lines);
        if (r < 0)
            return r;
        (void)nanosleep(&interval, NULL);
    }
    return 0;
}
