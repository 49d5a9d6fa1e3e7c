/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_BASE_MOMENT_H
#define PLANNER_BASE_MOMENT_H

/*
 * moment - an instant, to the nanosecond (hardening-v1, section Time). No clock is read here, and
 * neither time zone nor locale of the machine is looked at.
 */

#include <stdbool.h>
#include <stdint.h>

#include "planner/base/text.h"

#define MOMENT_SECONDS_PER_DAY INT64_C(86400)
#define MOMENT_UNIX_EPOCH_SEC INT64_C(62135596800) /* 1970-01-01T00:00:00Z */
#define MOMENT_TEXT_BYTES 21                       /* "2026-03-01T12:00:00Z" and NUL */

/* Since 0001-01-01T00:00:00Z; an offset can make it negative. nsec: 0 to 999999999. */
struct moment {
    int64_t sec;
    int32_t nsec;
};

/* RFC 3339 as the contract narrows it. False leaves *ret_moment alone. */
bool moment_read(struct str s, struct moment *ret_moment);

/* -1, 0, 1 */
int moment_compare(struct moment a, struct moment b);

/* a plus so many seconds; the caller keeps within years 1 to 9999 and a few days around. */
struct moment moment_add_seconds(struct moment a, int64_t seconds);

/* Whole seconds, UTC, with `Z`; the fraction is cut. Years outside of 1 to 9999 are clamped. */
void moment_write(struct moment m, char ret_text[static MOMENT_TEXT_BYTES]);

#endif
