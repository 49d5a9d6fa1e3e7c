/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_BASE_MOMENT_H
#define PLANNER_BASE_MOMENT_H

/*
 * moment - an instant, to the nanosecond (hardening-v1, section Time).
 *
 * No clock is read here. The results do not depend on the machine's time zone or locale.
 */

#include <stdbool.h>
#include <stdint.h>

#include "planner/base/text.h"

#define MOMENT_SECONDS_PER_DAY INT64_C(86400)
#define MOMENT_UNIX_EPOCH_SEC INT64_C(62135596800) /* 1970-01-01T00:00:00Z */
#define MOMENT_TEXT_BYTES 21                       /* "2026-03-01T12:00:00Z" and NUL */

/* Since 0001-01-01T00:00:00Z. sec is negative where the offset of that day reaches before it. nsec:
 * 0 to 999999999. */
struct moment {
    int64_t sec;
    int32_t nsec;
};

/* RFC 3339 as the contract restricts it. False leaves *ret_moment unchanged. */
bool moment_read(struct str s, struct moment *ret_moment);

/* -1, 0, 1 */
int moment_compare(struct moment a, struct moment b);

/* a plus that many seconds. The caller keeps the result near the years 1 to 9999. */
struct moment moment_add_seconds(struct moment a, int64_t seconds);

/* Whole seconds in UTC, with `Z`; the fraction is dropped. Instants outside of the years 1 to 9999
 * are clamped. */
void moment_write(struct moment m, char ret_text[static MOMENT_TEXT_BYTES]);

#endif
