/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_UTIL_CLOCK_H
#define K8S_UTIL_CLOCK_H

/*
 * clock - the only place that reads a clock. Pure code takes the moment as an argument instead.
 *
 * Three clocks, never compared with each other. The monotonic one is for deadlines, waits and
 * durations: it does not jump when the time of the machine is set, and it stops while the machine
 * is suspended, as the timed waits of the system do. The clock of ages goes on then: it is for how
 * old something is that was learned from elsewhere. The wall clock is for moments that people and
 * certificates use. One resolution for all callers: a coarse clock can lag a fine one by some
 * milliseconds, and a deadline that is set by one and checked by the other would be wrong.
 *
 * Errors     none: all clocks exist on every Linux; that is asserted.
 * Threads    any.
 * Units      in the names.
 */

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include "planner/base/moment.h"

/* Of the monotonic clock. Never 0, so that 0 can mean "never". */
uint64_t clock_msec(void);
uint64_t clock_usec(void);

/* Of the clock of ages (CLOCK_BOOTTIME). Never 0, so that 0 can mean "never". */
uint64_t clock_age_msec(void);

/* Of the wall clock. */
struct moment clock_now(void);
int64_t clock_unix_sec(void);

/* A condition variable whose timed waits end by the monotonic clock. 0 or negative errno. */
int clock_condition_init(pthread_cond_t *condition) __attribute__((warn_unused_result));
/* clock_msec() as pthread_cond_timedwait() takes it. */
struct timespec clock_timespec(uint64_t msec);

#endif
