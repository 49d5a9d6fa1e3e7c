/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_UTIL_NEAREST_H
#define WEBHOOK_UTIL_NEAREST_H

/* nearest - what somebody probably meant: "did you mean …?". Pure, no allocation. */

#include <stddef.h>

#include "planner/base/text.h"

#define NEAREST_MAX_DISTANCE 2 /* letters that a mistyped name may be off */
#define NEAREST_MAX_BYTES 63   /* longer names have no neighbours */

/* The name with the fewest letters to change, add or take away; NULL where none is near. */
const char *nearest_name(struct str given, const char *const *names, size_t count);

/* The same, where a name may be so many letters off. */
const char *nearest_within(struct str given, const char *const *names, size_t count,
                           size_t max_distance);

#endif
