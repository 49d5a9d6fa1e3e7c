/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_BASE_TEXT_H
#define PLANNER_BASE_TEXT_H

/*
 * text - borrowed bytes with a length.
 *
 * A struct str is passed by value and is not NUL-terminated. ptr == NULL means "absent", which is
 * not the same as empty. No function here allocates, fails or depends on the locale.
 *
 * Ownership  the bytes belong to the caller and must outlive the struct str.
 * Units      bytes.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
    const char *ptr;
    size_t len; /* bytes */
};

/* A string literal as a struct str. STR_INIT is for initialisers of static objects. */
#define STR_INIT(lit)                                                                              \
    {                                                                                              \
        .ptr = ("" lit), .len = sizeof(lit) - 1                                                    \
    }
#define STR(lit) ((struct str)STR_INIT(lit))

static inline bool str_present(struct str s)
{
    return s.ptr != NULL;
}

/* Of a NUL-terminated text, never of bytes from outside; NULL gives an absent text. */
static inline struct str str_of(const char *c)
{
    return c == NULL ? (struct str){0} : (struct str){.ptr = c, .len = strlen(c)};
}

static inline bool str_equal(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool str_starts_with(struct str s, struct str prefix)
{
    return s.len >= prefix.len && (prefix.len == 0 || memcmp(s.ptr, prefix.ptr, prefix.len) == 0);
}

/* Bytewise order: negative, 0 or positive. A prefix sorts before the longer text. */
int str_compare(struct str a, struct str b);

/* s without ASCII blanks (U+0009 to U+000D, U+0020) at both ends. An absent text stays absent. */
struct str str_trim(struct str s);

bool str_contains(struct str s, struct str part);

/* Prefix and equality, ignoring the case of ASCII letters; other bytes must be the same. */
bool str_starts_with_ascii_nocase(struct str s, struct str prefix);
bool str_equal_ascii_nocase(struct str a, struct str b);

/* `sha256:` and 64 lower-case hex digits, with nothing after them. */
bool str_is_sha256(struct str s);

/*
 * The first character of s: returns its length in bytes, 1 to 4. Returns 0 where s is empty or does
 * not begin with well-formed UTF-8. Overlong forms, surrogates and values above U+10FFFF are not
 * well-formed.
 */
size_t str_utf8_next(struct str s, uint32_t *ret_character);

/* At most the first max_bytes of s, cut at the end of a character. */
struct str str_cut(struct str s, size_t max_bytes);

/* ASCII classes of one byte. Bytes of longer UTF-8 characters are in none of them. */
static inline bool text_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool text_is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool text_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool text_is_letter(char c)
{
    return text_is_lower(c) || text_is_upper(c);
}

static inline bool text_is_alnum(char c)
{
    return text_is_letter(c) || text_is_digit(c);
}

/* U+0009 to U+000D, U+0020. */
static inline bool text_is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* LF or CR. */
static inline bool text_is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

/* c itself where it is not a letter of the other case. */
static inline char text_lower(char c)
{
    return text_is_upper(c) ? (char)(c - 'A' + 'a') : c;
}

static inline char text_upper(char c)
{
    return text_is_lower(c) ? (char)(c - 'a' + 'A') : c;
}

/* The value of a hex digit of either case, 0 to 15; -1 for any other byte. */
static inline int text_hex_value(char c)
{
    if (text_is_digit(c))
        return c - '0';
    c = text_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A byte of a UTF-8 character other than its first. */
static inline bool text_is_continuation(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* U+0000 to U+001F, U+007F to U+009F. */
bool text_is_control(uint32_t character);

/* U+202A to U+202E, U+2066 to U+2069. */
bool text_is_bidi_control(uint32_t character);

/*
 * Reads a whole number. All of s must be ASCII digits: no sign, no blank, no leading zero except in
 * "0" itself. False where it is not such a number or not from min to max; *ret_number is unchanged.
 */
bool text_read_number(struct str s, uint64_t min, uint64_t max, uint64_t *ret_number);

#endif
