/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_UTIL_PERCENT_H
#define K8S_UTIL_PERCENT_H

/*
 * percent - percent-encoding of a path segment or a query value (RFC 3986): all bytes but
 * unreserved characters are encoded.
 */

#include "planner/base/arena.h"
#include "planner/base/buffer.h"
#include "planner/base/text.h"

#define PERCENT_MAX_BYTES ((size_t)1024 * 1024) /* of an encoded text */

void percent_add(struct buffer *out, struct str text);

/* Absent if memory is short or the limit is exceeded. Ends with NUL. */
struct str percent_encode(struct arena *arena, struct str text);

#endif
