/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_UTIL_INPUT_H
#define WEBHOOK_UTIL_INPUT_H

/*
 * input - reads a file that a user names, or standard input, into an arena.
 *
 * Unlike k8s/util/file.h it reads pipes too: `-` and `<(…)` of a shell are common on a command
 * line.
 *
 * Errors     0; -EFBIG: more than max_bytes; -ENOMEM; another negative errno of open() or read().
 *            file_error_text() describes them.
 * Ownership  the text is in the arena, followed by a NUL.
 */

#include <stddef.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"

/* path "-": standard input */
int input_read_file(const char *path, size_t max_bytes, struct arena *arena, struct str *ret_text)
    __attribute__((warn_unused_result, nonnull));

#endif
