#ifndef WEBHOOK_COMMANDS_YAML_OUTPUT_H
#define WEBHOOK_COMMANDS_YAML_OUTPUT_H

/*
 * yaml_output - a tree as a YAML document on a stream, for `--output yaml`.
 *
 * Every text is double-quoted, so that no reader takes one for something else.
 *
 * Errors     0; -ENOMEM; -EIO the stream cannot be written.
 */

#include <cjson/cJSON.h>
#include <stdio.h>

int yaml_print(const cJSON *tree, FILE *stream) __attribute__((warn_unused_result, nonnull));

#endif
