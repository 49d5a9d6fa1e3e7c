/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_text - decodes and compares the content of JSON strings that were checked.
 */
#include "k8s/document/json_text.h"

#include <assert.h>
#include <string.h>

#define REPLACEMENT_CHARACTER 0xFFFDu
#define UNICODE_ESCAPE_BYTES 6 /* \uXXXX */

bool json_text_hex4(const char *digits, uint32_t *ret_value)
{
    uint32_t value = 0;

    for (size_t i = 0; i < 4; i++) {
        int digit = text_hex_value(digits[i]);

        if (digit < 0)
            return false;
        value = value << 4 | (uint32_t)digit;
    }
    *ret_value = value;
    return true;
}

/* Writes a character as UTF-8; returns its length in bytes. */
static size_t put_character(uint32_t character, char ret_bytes[static JSON_MAX_ESCAPE_BYTES])
{
    assert(character <= 0x10FFFF);
    if (character < 0x80) {
        ret_bytes[0] = (char)character;
        return 1;
    }
    if (character < 0x800) {
        ret_bytes[0] = (char)(0xC0 | character >> 6);
        ret_bytes[1] = (char)(0x80 | (character & 0x3F));
        return 2;
    }
    if (character < 0x10000) {
        ret_bytes[0] = (char)(0xE0 | character >> 12);
        ret_bytes[1] = (char)(0x80 | (character >> 6 & 0x3F));
        ret_bytes[2] = (char)(0x80 | (character & 0x3F));
        return 3;
    }
    ret_bytes[0] = (char)(0xF0 | character >> 18);
    ret_bytes[1] = (char)(0x80 | (character >> 12 & 0x3F));
    ret_bytes[2] = (char)(0x80 | (character >> 6 & 0x3F));
    ret_bytes[3] = (char)(0x80 | (character & 0x3F));
    return 4;
}

static char simple_escape(char letter)
{
    switch (letter) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default: /* `"`, `\` and `/` */
        return letter;
    }
}

size_t json_text_unescape(const char *escape, char ret_bytes[static JSON_MAX_ESCAPE_BYTES],
                          size_t *ret_count)
{
    uint32_t character = 0, low = 0;
    size_t taken = UNICODE_ESCAPE_BYTES;

    if (escape[1] != 'u') {
        ret_bytes[0] = simple_escape(escape[1]);
        *ret_count = 1;
        return 2;
    }
    (void)json_text_hex4(escape + 2, &character);
    if (character >= 0xD800 && character <= 0xDBFF) {
        (void)json_text_hex4(escape + UNICODE_ESCAPE_BYTES + 2, &low);
        character = 0x10000 + ((character - 0xD800) << 10) + (low - 0xDC00);
        taken = 2 * (size_t)UNICODE_ESCAPE_BYTES;
    } else if (character == 0) {
        character = REPLACEMENT_CHARACTER;
    }
    *ret_count = put_character(character, ret_bytes);
    return taken;
}

bool json_text_equals(struct str raw, bool escaped, const char *text)
{
    const char *p = raw.ptr, *end = raw.ptr + raw.len;

    if (!escaped)
        return str_equal(raw, str_of(text));
    while (p < end) {
        char bytes[JSON_MAX_ESCAPE_BYTES];
        size_t count = 1;

        bytes[0] = *p;
        p += *p == '\\' ? json_text_unescape(p, bytes, &count) : 1;
        if (strncmp(text, bytes, count) != 0)
            return false;
        text += count;
    }
    return *text == '\0';
}

char *json_text_decode(struct arena *arena, struct str raw, bool escaped)
{
    const char *p = raw.ptr, *end = raw.ptr + raw.len;
    char *text = NULL, *out = NULL;

    if (!escaped)
        return arena_copy(arena, raw);
    /* no escape is shorter than the bytes that it encodes */
    text = out = arena_alloc(arena, raw.len + 1, 1);
    if (text == NULL)
        return NULL;
    while (p < end) {
        const char *escape = memchr(p, '\\', (size_t)(end - p));
        size_t plain = (size_t)((escape != NULL ? escape : end) - p);
        char bytes[JSON_MAX_ESCAPE_BYTES];
        size_t count = 0;

        memcpy(out, p, plain);
        out += plain;
        p += plain;
        if (escape != NULL) {
            p += json_text_unescape(p, bytes, &count);
            memcpy(out, bytes, count);
            out += count;
        }
    }
    return text;
}
