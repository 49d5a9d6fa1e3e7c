/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_DOCUMENT_JSON_SKIP_H
#define K8S_DOCUMENT_JSON_SKIP_H

/*
 * json_skip - finds the end of strings, objects and lists in JSON without reading what is in them.
 *
 * Only quotes, backslashes and brackets are followed. Syntax, UTF-8, depth and keys are not
 * checked: `}` closes a `[`, too. For JSON that document.h checks afterwards, or that is not used.
 *
 * Two forms: struct json_skip takes a text byte by byte, for text that arrives in pieces; the
 * functions below it take a whole text and an offset. Neither allocates or fails.
 *
 * Units      bytes; offsets from the start of the text.
 */

#include <stdbool.h>
#include <stddef.h>

#include "planner/base/text.h"

/* The state after the bytes so far. {0} is the start of a text. */
struct json_skip {
    size_t depth; /* open brackets */
    bool in_string;
    bool escaped; /* in a string, after a backslash */
};

enum json_skip_byte {
    JSON_SKIP_OTHER = 0, /* outside of strings: a blank, comma, colon, number or word */
    JSON_SKIP_QUOTE,     /* begins a string */
    JSON_SKIP_STRING,    /* in a string, or its closing quote */
    JSON_SKIP_OPEN,      /* { or [; the depth has grown */
    JSON_SKIP_CLOSE,     /* } or ]; the depth has shrunk, unless it was 0 */
};

/* Takes the next byte of the text. While in_string is set and escaped is not, bytes that are
 * neither a quote nor a backslash can be left out (json_text_skip_plain() finds the next one). */
static inline enum json_skip_byte json_skip_byte(struct json_skip *skip, char c)
{
    if (skip->in_string) {
        if (skip->escaped)
            skip->escaped = false;
        else if (c == '\\')
            skip->escaped = true;
        else if (c == '"')
            skip->in_string = false;
        return JSON_SKIP_STRING;
    }
    switch (c) {
    case '"':
        skip->in_string = true;
        return JSON_SKIP_QUOTE;
    case '{':
    case '[':
        skip->depth++;
        return JSON_SKIP_OPEN;
    case '}':
    case ']':
        skip->depth -= skip->depth > 0 ? 1 : 0;
        return JSON_SKIP_CLOSE;
    default:
        return JSON_SKIP_OTHER;
    }
}

/* The offset after JSON's blanks (tab, LF, CR, space) from offset on. */
static inline size_t json_skip_blanks(struct str text, size_t offset)
{
    while (offset < text.len && (text.ptr[offset] == ' ' || text.ptr[offset] == '\n' ||
                                 text.ptr[offset] == '\r' || text.ptr[offset] == '\t'))
        offset++;
    return offset;
}

/*
 * *offset: in, the opening quote of a string; out, the offset after its closing quote. False, and
 * *offset is text.len, where the text ends before the string does.
 */
bool json_skip_string(struct str text, size_t *offset) __attribute__((nonnull));

/*
 * *offset: in, where a value begins; out, the offset after it. A number or a word reaches to the
 * next comma or closing bracket. False, and *offset is text.len, where the text ends before the
 * value does, or with a number or word, of which more may follow.
 */
bool json_skip_value(struct str text, size_t *offset) __attribute__((nonnull));

#endif
