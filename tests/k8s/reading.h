/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_K8S_READING_H
#define TESTS_K8S_READING_H

/* reading - for tests of the readers: reads a text and returns the result as one text to compare.
 */

#include "k8s/document/document.h"
#include "planner/base/arena.h"
#include "planner/base/text.h"

/* The tree as compact JSON. Members keep their order; numbers have 17 digits. */
struct str reading_write(struct arena *arena, const cJSON *tree);

/* "LINE:COLUMN TEXT" */
struct str reading_error(struct arena *arena, const struct document_error *error);

/* Reads a text: reading_write(), reading_error(), or the name of another errno such as "-E2BIG".
 * The text is copied to memory of exactly its size. */
struct str reading_of(struct arena *arena, struct str text, const struct document_options *options);

/* Whether this result of reading_of() is a tree. A number counts as an error: errors begin with
 * one. */
bool reading_is_tree(struct str result);

/* All documents of a stream, one in each line. The last line is the error, if there is one. */
struct str reading_of_stream(struct arena *arena, struct str text, enum document_syntax syntax);

/* The contents of a file. Absent if it cannot be read. */
struct str reading_file(struct arena *arena, const char *path);

/* The text, repeated `count` times. */
struct str reading_repeat(struct arena *arena, const char *text, size_t count);

#endif
