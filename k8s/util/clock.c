/* SPDX-License-Identifier: Apache-2.0 */
/* clock - see clock.h. */
#include "k8s/util/clock.h"

#include <assert.h>

#define MSEC_PER_SEC 1000
#define USEC_PER_SEC 1000000
#define NSEC_PER_USEC 1000
#define NSEC_PER_MSEC 1000000

static struct timespec read_clock(clockid_t which)
{
    struct timespec now = {0};
    int r = clock_gettime(which, &now);

    assert(r == 0);
    return now;
}

static uint64_t read_msec(clockid_t which)
{
    struct timespec now = read_clock(which);
    uint64_t msec = (uint64_t)now.tv_sec * MSEC_PER_SEC + (uint64_t)now.tv_nsec / NSEC_PER_MSEC;

    return msec != 0 ? msec : 1;
}

uint64_t clock_msec(void)
{
    return read_msec(CLOCK_MONOTONIC);
}

uint64_t clock_age_msec(void)
{
    return read_msec(CLOCK_BOOTTIME);
}

uint64_t clock_usec(void)
{
    struct timespec now = read_clock(CLOCK_MONOTONIC);

    return (uint64_t)now.tv_sec * USEC_PER_SEC + (uint64_t)now.tv_nsec / NSEC_PER_USEC;
}

struct moment clock_now(void)
{
    struct timespec now = read_clock(CLOCK_REALTIME);

    return (struct moment){.sec = (int64_t)now.tv_sec + MOMENT_UNIX_EPOCH_SEC,
                           .nsec = (int32_t)now.tv_nsec};
}

int64_t clock_unix_sec(void)
{
    return (int64_t)read_clock(CLOCK_REALTIME).tv_sec;
}

int clock_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    int r = pthread_condattr_init(&attributes);

    if (r != 0)
        return -r;
    r = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (r == 0)
        r = pthread_cond_init(condition, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    return -r;
}

struct timespec clock_timespec(uint64_t msec)
{
    return (struct timespec){.tv_sec = (time_t)(msec / MSEC_PER_SEC),
                             .tv_nsec = (long)(msec % MSEC_PER_SEC) * NSEC_PER_MSEC};
}
