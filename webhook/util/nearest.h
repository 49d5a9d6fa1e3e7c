/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_UTIL_NEAREST_H
#define WEBHOOK_UTIL_NEAREST_H

/*
 * nearest - finds the known name that is most similar to a mistyped one, for "did you mean …?".
 *
 * Pure. No function here allocates or fails.
 */

#include <stddef.h>

#include "planner/base/text.h"

#define NEAREST_MAX_DISTANCE 2 /* edits: bytes changed, added or removed */
#define NEAREST_MAX_BYTES 63   /* longer names are not compared: the cost is quadratic */

/* The name with the smallest distance, at most NEAREST_MAX_DISTANCE; NULL: none. */
const char *nearest_name(struct str given, const char *const *names, size_t count);

/* The same, with another maximum distance. */
const char *nearest_within(struct str given, const char *const *names, size_t count,
                           size_t max_distance);

#endif
