/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_CLI_YAML_H
#define WEBHOOK_CLI_YAML_H

/*
 * yaml - writes a tree as a YAML document: for `--output yaml`, and the manifests of `sign`.
 *
 * Texts are double-quoted, except plain words that every YAML reader takes for text.
 *
 * Errors     0; -ENOMEM.
 */

#include <cjson/cJSON.h>
#include <stdio.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"

/* block_key: the name of a member whose text is written as a block literal, or NULL. The caller
 * ensures that a literal can hold the text unchanged. */
int yaml_write(const cJSON *tree, const char *block_key, struct arena *arena, struct str *ret_text)
    __attribute__((warn_unused_result, nonnull(1, 3, 4)));

int yaml_print(const cJSON *tree, struct arena *arena, FILE *stream)
    __attribute__((warn_unused_result, nonnull));

#endif
