/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_CLI_FILES_H
#define WEBHOOK_CLI_FILES_H

/*
 * files - the files that the arguments of a command name: files, `-`, and the *.yaml, *.yml and
 * *.json files of directories, sorted by name, as `kubectl apply -f` takes them.
 *
 * Errors     files_add(): 0; -ENOMEM; -E2BIG: more than FILES_MAX_COUNT files; another negative
 *            errno: a directory cannot be read. The error is reported on standard error.
 * Ownership  names are in the arena.
 */

#include <stdbool.h>
#include <stddef.h>

#include "planner/base/arena.h"

#define FILES_MAX_COUNT 100000
#define FILES_MAX_DEPTH 32 /* nested directories, with -R */

struct files {
    struct arena *arena; /* borrowed */
    const char **items;
    size_t count;
    size_t capacity;
};

/* recursive: subdirectories too. A path that is not a directory is added without being opened. */
int files_add(struct files *files, const char *path, bool recursive)
    __attribute__((warn_unused_result, nonnull));

#endif
