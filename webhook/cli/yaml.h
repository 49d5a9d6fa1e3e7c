/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_CLI_YAML_H
#define WEBHOOK_CLI_YAML_H

/*
 * yaml - a tree as a YAML document: `--output yaml`, and the manifests that sign writes.
 *
 * Texts are double-quoted, but for plain words that every reader takes for text.
 *
 * Errors     0; -ENOMEM.
 */

#include <cjson/cJSON.h>
#include <stdio.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"

/* block_key: the name of a member whose text becomes a block literal, or NULL. Whether a literal
 * can carry a text is for the caller to know. */
int yaml_write(const cJSON *tree, const char *block_key, struct arena *arena, struct str *ret_text)
    __attribute__((warn_unused_result, nonnull(1, 3, 4)));

int yaml_print(const cJSON *tree, struct arena *arena, FILE *stream)
    __attribute__((warn_unused_result, nonnull));

#endif
