/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_UTIL_FINGERPRINT_H
#define WEBHOOK_UTIL_FINGERPRINT_H

/*
 * fingerprint - whether files may have changed, without reading them.
 *
 * Made of what stat() says of every file behind a path (device, number, size, times), links
 * followed. Two writes within one tick of the file system's clock leave the same times, so a
 * fingerprint of a file that was written a moment ago is not settled: read again.
 *
 * Nothing fails: what cannot be looked at becomes part of the fingerprint too.
 */

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define FINGERPRINT_MAX_DEPTH 8     /* folders in folders */
#define FINGERPRINT_UNSETTLED_SEC 2 /* coarsest clock of a file system in use */

struct fingerprint {
    uint64_t value;
    bool unsettled;
};

/* Adds a file, or a folder with all that is in it; path NULL adds nothing. `now` is wall time. */
void fingerprint_add(struct fingerprint *fingerprint, const char *path, time_t now);

/* False where either is unsettled. */
bool fingerprint_same(struct fingerprint a, struct fingerprint b);

#endif
