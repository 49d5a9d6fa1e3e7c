#ifndef K8S_JSON_TEXT_H
#define K8S_JSON_TEXT_H

/*
 * json_text - the inside of JSON strings that were checked already (json.c), and decoding them.
 *
 * Such a text lies between two quotes, is UTF-8 without control characters, and its escapes are
 * whole: no lone surrogates. The escape of NUL decodes to U+FFFD; who refuses NUL did so before.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "planner/arena.h"
#include "planner/text.h"

#define JSON_MAX_ESCAPE_BYTES 4 /* that one escape stands for, in UTF-8 */

/* The value of four hex digits; false where one is none. */
bool json_text_hex4(const char *digits, uint32_t *ret_value);

/* Writes the bytes that the escape at `escape` (its backslash) stands for. Returns its length in
 * the text. */
size_t json_text_unescape(const char *escape, char ret_bytes[static JSON_MAX_ESCAPE_BYTES],
                          size_t *ret_count);

/* The text that the raw text stands for, with a NUL behind it; NULL when out of memory. */
char *json_text_decode(struct arena *arena, struct str raw, bool escaped);

/* Writes a character as UTF-8; returns the bytes it takes. */
size_t json_text_put(uint32_t character, char ret_bytes[static JSON_MAX_ESCAPE_BYTES]);

#endif
