/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text - comparing, trimming and classifying texts; UTF-8 and whole numbers.
 */
#define _GNU_SOURCE /* memmem */

#include "planner/base/text.h"

#define SHA256_HEX_DIGITS 64
#define UTF8_MAX_CHARACTER 0x10FFFFu

int str_compare(struct str a, struct str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int r = n > 0 ? memcmp(a.ptr, b.ptr, n) : 0;

    if (r != 0)
        return r;
    return (a.len > b.len) - (a.len < b.len);
}

struct str str_trim(struct str s)
{
    while (s.len > 0 && text_is_blank(s.ptr[0])) {
        s.ptr++;
        s.len--;
    }
    while (s.len > 0 && text_is_blank(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

bool str_contains(struct str s, struct str part)
{
    if (part.len == 0)
        return true;
    return s.len >= part.len && memmem(s.ptr, s.len, part.ptr, part.len) != NULL;
}

bool str_starts_with_ascii_nocase(struct str s, struct str prefix)
{
    if (s.len < prefix.len)
        return false;
    for (size_t i = 0; i < prefix.len; i++) {
        if (text_lower(s.ptr[i]) != text_lower(prefix.ptr[i]))
            return false;
    }
    return true;
}

bool str_equal_ascii_nocase(struct str a, struct str b)
{
    return a.len == b.len && str_starts_with_ascii_nocase(a, b);
}

bool str_is_sha256(struct str s)
{
    const struct str prefix = STR("sha256:");

    if (s.len != prefix.len + SHA256_HEX_DIGITS || !str_starts_with(s, prefix))
        return false;
    for (size_t i = prefix.len; i < s.len; i++) {
        if (text_hex_value(s.ptr[i]) < 0 || text_is_upper(s.ptr[i]))
            return false;
    }
    return true;
}

/* The length in bytes of a character whose first byte this is; 0 where no character begins with it.
 * ret_bits: the bits of the character in this byte. ret_least: the smallest character of that
 * length, to refuse overlong forms. */
static size_t utf8_lead(unsigned char lead, uint32_t *ret_bits, uint32_t *ret_least)
{
    size_t n = lead < 0x80   ? 1
               : lead < 0xC0 ? 0
               : lead < 0xE0 ? 2
               : lead < 0xF0 ? 3
               : lead < 0xF8 ? 4
                             : 0;
    static const uint32_t masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};

    *ret_bits = lead & masks[n];
    *ret_least = least[n];
    return n;
}

size_t str_utf8_next(struct str s, uint32_t *ret_character)
{
    uint32_t character = 0, least = 0;
    size_t n = s.len > 0 ? utf8_lead((unsigned char)s.ptr[0], &character, &least) : 0;

    if (n == 0 || n > s.len)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if (!text_is_continuation(s.ptr[i]))
            return 0;
        character = (character << 6) | ((unsigned char)s.ptr[i] & 0x3F);
    }
    if (character < least || character > UTF8_MAX_CHARACTER ||
        (character >= 0xD800 && character <= 0xDFFF))
        return 0;
    *ret_character = character;
    return n;
}

struct str str_cut(struct str s, size_t max_bytes)
{
    if (s.len <= max_bytes)
        return s;
    s.len = max_bytes;
    /* the byte after the cut must begin a character */
    while (s.len > 0 && text_is_continuation(s.ptr[s.len]))
        s.len--;
    return s;
}

bool text_is_control(uint32_t character)
{
    return character <= 0x1F || (character >= 0x7F && character <= 0x9F);
}

bool text_is_bidi_control(uint32_t character)
{
    return (character >= 0x202A && character <= 0x202E) ||
           (character >= 0x2066 && character <= 0x2069);
}

bool text_read_number(struct str s, uint64_t min, uint64_t max, uint64_t *ret_number)
{
    uint64_t number = 0;

    if (s.len == 0 || (s.len > 1 && s.ptr[0] == '0'))
        return false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];

        if (!text_is_digit(c))
            return false;
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(c - '0'), &number))
            return false;
    }
    if (number < min || number > max)
        return false;
    *ret_number = number;
    return true;
}
