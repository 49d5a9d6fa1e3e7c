/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_CLI_FILES_H
#define WEBHOOK_CLI_FILES_H

/*
 * files - the files that a command line means: files, `-`, and folders with their *.yaml, *.yml
 * and *.json, sorted by name, as `kubectl apply -f` takes them.
 *
 * Errors     files_add(): 0; -ENOMEM; -E2BIG more than FILES_MAX_COUNT; another negative errno
 *            where a folder cannot be read. It says on standard error what is wrong.
 * Ownership  names lie in the arena.
 */

#include <stdbool.h>
#include <stddef.h>

#include "planner/base/arena.h"

#define FILES_MAX_COUNT 100000
#define FILES_MAX_DEPTH 32 /* folders in folders, with -R */

struct files {
    struct arena *arena; /* borrowed */
    const char **items;
    size_t count;
    size_t room;
};

/* deep: folders in folders too. What is no folder is added as it stands. */
int files_add(struct files *files, const char *path, bool deep)
    __attribute__((warn_unused_result, nonnull));

#endif
