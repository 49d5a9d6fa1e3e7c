/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_UTIL_INPUT_H
#define WEBHOOK_UTIL_INPUT_H

/*
 * input - a whole file that a person names, or standard input, as text in an arena. Unlike
 * k8s/file it reads pipes too: `-` and the shell's <(…) are normal there.
 *
 * Errors     0; -EFBIG more than max_bytes; -ENOMEM; another negative errno of open() or read().
 *            file_error_text() says them in words.
 * Ownership  the text lies in the arena, with a NUL behind it.
 */

#include <stddef.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"

/* path "-": standard input */
int input_read_file(const char *path, size_t max_bytes, struct arena *arena, struct str *ret_text)
    __attribute__((warn_unused_result, nonnull));

#endif
