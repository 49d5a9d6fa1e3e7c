/* SPDX-License-Identifier: Apache-2.0 */
/* review_follow - a log that is still written. */

#include <signal.h>
#include <time.h>

#include "webhook/commands/review.h"

#define INTERVAL_NSEC 200000000L

static volatile sig_atomic_t stopped;

static void stop(int signal_number)
{
    (void)signal_number;
    stopped = 1;
}

void review_follow_prepare(void)
{
    struct sigaction action = {.sa_handler = stop};

    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

bool review_follow_stopped(void)
{
    return stopped != 0;
}

int review_follow(struct log_review *review, struct lines *lines)
{
    const struct timespec interval = {.tv_nsec = INTERVAL_NSEC};
    int r = 0;

    while (stopped == 0) {
        r = lines_follow(lines);
        if (r < 0)
            return r;
        if (r == 1)
            r = log_review_read(review, lines);
        if (r < 0)
            return r;
        (void)nanosleep(&interval, NULL);
    }
    return 0;
}
