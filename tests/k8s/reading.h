/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_K8S_READING_H
#define TESTS_K8S_READING_H

/* What tests of the readers share: a text is read, and what came of it is one text to compare. */

#include "k8s/document/document.h"
#include "planner/base/arena.h"
#include "planner/base/text.h"

/* The tree as compact JSON, members in their order, numbers with 17 digits. */
struct str reading_write(struct arena *arena, const cJSON *tree);

/* "LINE:COLUMN what" */
struct str reading_error(struct arena *arena, const struct document_error *error);

/* One of the two, or "-E2BIG" and the like. The text is read from memory of exactly its size. */
struct str reading_of(struct arena *arena, struct str text, const struct document_options *options);

/* Whether this result of reading_of() is a tree. A number counts as an error: errors begin with
 * one. */
bool reading_is_tree(struct str result);

/* All documents of a stream, a line each; the last line is an error where there was one. */
struct str reading_of_stream(struct arena *arena, struct str text, enum document_syntax syntax);

/* A whole file; absent where it cannot be read. */
struct str reading_file(struct arena *arena, const char *path);

/* `count` times the text. */
struct str reading_repeat(struct arena *arena, const char *text, size_t count);

#endif
