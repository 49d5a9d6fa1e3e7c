/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_DOCUMENT_READER_H
#define K8S_DOCUMENT_READER_H

/*
 * reader - the readers of both syntaxes, for document.c and stream.c, and what they share. Private
 * to k8s/document.
 *
 * Errors     0; -EBADMSG with a fault; -E2BIG, -ENOMEM, -EIO as in document.h.
 */

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "k8s/document/document.h"

/* Why a text cannot be read: a static text, and the offset of the offending byte. */
struct reader_fault {
    size_t offset;
    const char *what;
};

#define READER_WHAT_TWICE "a key is given twice in one object"
#define READER_WHAT_DEPTH "nested deeper than 64 levels"
#define READER_WHAT_UTF8 "not valid UTF-8"
#define READER_WHAT_NUL "a NUL character"
#define READER_MAX_NUMBER_BYTES 64 /* a longer number is copied into the arena to be converted */

/* Turns a fault into an error with line and column. Returns -EBADMSG. */
int reader_refuse(struct str text, struct reader_fault fault, struct document_error *reterr);

/* Whether the text is UTF-16: a byte order mark, or a NUL where ASCII in UTF-16 has one. */
bool reader_is_utf16(struct str text, struct reader_fault *reterr);

/* The offset after a byte order mark at offset; offset itself where there is none. */
static inline size_t reader_skip_mark(struct str text, size_t offset)
{
    const struct str mark = STR("\xEF\xBB\xBF");
    struct str rest = {text.ptr + offset, text.len - offset};

    return str_starts_with(rest, mark) ? offset + mark.len : offset;
}

/* A null node, for a document without content; NULL when out of memory. */
cJSON *reader_null(struct arena *arena);

/* One value from `offset` on. *ret_end: the offset after it. The caller skips a byte order mark. */
int json_read(struct str text, size_t offset, const struct document_options *options,
              struct arena *arena, cJSON **ret_tree, size_t *ret_end, struct reader_fault *reterr)
    __attribute__((warn_unused_result, nonnull));

/* The only document between begin and end. *ret_tree is NULL where there is no document. */
int yaml_read(struct str text, size_t begin, size_t end, const struct document_options *options,
              struct arena *arena, cJSON **ret_tree, struct reader_fault *reterr)
    __attribute__((warn_unused_result, nonnull));

/* Converts s, which must match JSON's grammar of numbers. 0 or -ENOMEM. */
int json_number(struct str s, struct arena *arena, double *ret_number)
    __attribute__((warn_unused_result, nonnull));

/* The length of the JSON number at the start of s; 0: there is no number. */
size_t json_number_length(struct str s);

#endif
