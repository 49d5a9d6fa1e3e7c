/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_RAW_HEAD_H
#define WEBHOOK_SERVER_RAW_HEAD_H

/*
 * raw_head - finds bytes of a head that libmicrohttpd does not report.
 *
 * libmicrohttpd 0.9 takes a line that begins with a colon or a NUL for the end of the head, so that
 * the rest of the head is read as body and as further requests. It cuts texts at a NUL, and joins
 * continued lines. A proxy in front of the gate reads all this in another way.
 *
 * It parses a head in place: the texts that it reports are in its buffer, in order, and it writes
 * NUL over what separates them. So the places of the texts show every byte between them. Where one
 * is not as expected, the head is malformed.
 *
 * Pure. Errors none. The texts are borrowed until raw_head_is_whole() returns.
 */

#include <stdbool.h>
#include <stddef.h>

#include "planner/base/text.h"

struct raw_head {
    const char *begin; /* of the request line */
    const char *at;    /* the end of the last text */
    bool broken;
};

/* The URI of a request line, with its query, while the library has not divided it yet. Absent where
 * it has another byte than printable ASCII. */
struct str raw_head_uri(const char *uri);
/* The parts of the request line; uri from raw_head_uri(). */
struct raw_head raw_head_begin(const char *method, struct str uri, const char *version);
/* The next field. */
void raw_head_add(struct raw_head *head, struct str name, struct str value);
/* Whether the head of so many bytes has nothing else. */
bool raw_head_is_whole(const struct raw_head *head, size_t head_bytes);

/* Whether the library with this version works as described. Later ones refuse such heads
 * themselves.
 */
bool raw_head_is_known(const char *library_version);

#endif
