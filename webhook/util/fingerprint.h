/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_UTIL_FINGERPRINT_H
#define WEBHOOK_UTIL_FINGERPRINT_H

/*
 * fingerprint - detects that files may have changed, without reading them.
 *
 * Computed from the stat() of every file under a path (device, inode number, size, times), symbolic
 * links followed. Two writes within one tick of the file system's clock leave the same times, so
 * the fingerprint of a file that was written just now is unsettled: the caller must read it again.
 *
 * Errors     none: the errno of a file that cannot be read becomes part of the fingerprint.
 */

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define FINGERPRINT_MAX_DEPTH 8     /* of nested directories */
#define FINGERPRINT_UNSETTLED_SEC 2 /* coarsest clock of a file system in use */

struct fingerprint {
    uint64_t value;
    bool unsettled;
};

/* Adds a file, or a directory with everything in it. path NULL: adds nothing. now_sec is Unix time.
 */
void fingerprint_add(struct fingerprint *fingerprint, const char *path, time_t now_sec);

/* False if either is unsettled. */
bool fingerprint_same(struct fingerprint a, struct fingerprint b);

#endif
