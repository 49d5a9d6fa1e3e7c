/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_DOCUMENT_JSON_TEXT_H
#define K8S_DOCUMENT_JSON_TEXT_H

/*
 * json_text - the content of JSON strings that json.c has checked: scanning and decoding.
 *
 * Such a text is between two quotes. It is UTF-8 without control characters, and its escapes are
 * complete: no lone surrogates. The escape of NUL is decoded to U+FFFD; where NUL is not allowed,
 * json.c has refused it.
 */

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"

#define JSON_TEXT_BLOCK 16      /* bytes compared at once */
#define JSON_MAX_ESCAPE_BYTES 4 /* of the UTF-8 character that an escape encodes */

typedef signed char json_text_block __attribute__((vector_size(JSON_TEXT_BLOCK)));

/* The index of the first byte of a block for which a comparison was true; JSON_TEXT_BLOCK: none. */
static inline size_t json_text_first(json_text_block hits)
{
    typedef uint64_t halves __attribute__((vector_size(JSON_TEXT_BLOCK)));
    uint64_t low = le64toh(((halves)hits)[0]), high = le64toh(((halves)hits)[1]);

    if (low != 0)
        return (size_t)__builtin_ctzll(low) / 8;
    return high != 0 ? 8 + (size_t)__builtin_ctzll(high) / 8 : JSON_TEXT_BLOCK;
}

/* The first byte from p on that is not a plain ASCII character of a string: a quote, a backslash, a
 * control character, or the first byte of a longer character. `end` where there is none. Reviews
 * are mostly strings: they are scanned 16 bytes at a time. */
static inline const char *json_text_skip_plain(const char *p, const char *end)
{
    while (end - p >= JSON_TEXT_BLOCK) {
        json_text_block b;
        size_t first = 0;

        memcpy(&b, p, sizeof(b));
        /* signed: the bytes of longer characters are negative, so less than a blank */
        first = json_text_first((b < ' ') | (b == '"') | (b == '\\'));
        p += first;
        if (first < JSON_TEXT_BLOCK)
            return p;
    }
    while (p < end && (signed char)*p >= ' ' && *p != '"' && *p != '\\')
        p++;
    return p;
}

/* The first quote or backslash from p on. The text must have one. */
static inline const char *json_text_skip_raw(const char *p, const char *end)
{
    while (end - p >= JSON_TEXT_BLOCK) {
        json_text_block b;
        size_t first = 0;

        memcpy(&b, p, sizeof(b));
        first = json_text_first((b == '"') | (b == '\\'));
        p += first;
        if (first < JSON_TEXT_BLOCK)
            return p;
    }
    while (*p != '"' && *p != '\\')
        p++;
    return p;
}

/* The value of four hex digits; false where one of the bytes is not a hex digit. */
bool json_text_hex4(const char *digits, uint32_t *ret_value);

/* Decodes the escape whose backslash is at `escape` into UTF-8. Returns its length in the text. */
size_t json_text_unescape(const char *escape, char ret_bytes[static JSON_MAX_ESCAPE_BYTES],
                          size_t *ret_count);

/* Whether the raw text decodes to `text`. */
bool json_text_equals(struct str raw, bool escaped, const char *text);

/* The decoded text in the arena, NUL-terminated; NULL when out of memory. */
char *json_text_decode(struct arena *arena, struct str raw, bool escaped);

#endif
