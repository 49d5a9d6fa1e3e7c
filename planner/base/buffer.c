/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/base/buffer.h"

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#define FIRST_ROOM_BYTES 1024
#define SHORT_TEXT_BYTES 256 /* of most formatted texts; longer ones are formatted twice */
#define ESCAPED_BYTES 6      /* \u00xx */
#define PIECE_BYTES 256      /* for which room is made at once */

struct buffer buffer_make(struct arena *arena, size_t max_bytes)
{
    return (struct buffer){.arena = arena, .max_bytes = max_bytes};
}

/* Room for more bytes and a NUL behind them. */
static bool buffer_reserve(struct buffer *b, size_t more)
{
    size_t room = b->room > 0 ? b->room : FIRST_ROOM_BYTES;
    char *ptr = NULL;

    if (b->error != 0)
        return false;
    if (b->len > b->max_bytes || more > b->max_bytes - b->len) {
        b->error = -E2BIG;
        return false;
    }
    if (b->ptr != NULL && more < b->room - b->len)
        return true;
    while (room - b->len <= more && room <= SIZE_MAX / 2)
        room *= 2;
    ptr = room - b->len > more ? arena_alloc(b->arena, room, 1) : NULL;
    if (ptr == NULL) {
        b->error = -ENOMEM;
        return false;
    }
    if (b->ptr != NULL)
        memcpy(ptr, b->ptr, b->len);
    b->ptr = ptr;
    b->room = room;
    return true;
}

void buffer_add(struct buffer *b, struct str s)
{
    if (s.len == 0 || !buffer_reserve(b, s.len))
        return;
    memcpy(b->ptr + b->len, s.ptr, s.len);
    b->len += s.len;
}

void buffer_add_char(struct buffer *b, char c)
{
    if (!buffer_reserve(b, 1))
        return;
    b->ptr[b->len++] = c;
}

void buffer_add_format(struct buffer *b, const char *format, ...)
{
    char first[SHORT_TEXT_BYTES];
    va_list args;
    int n = 0;

    va_start(args, format);
    n = vsnprintf(first, sizeof(first), format, args);
    va_end(args);
    if (n < 0) {
        b->error = b->error != 0 ? b->error : -ENOMEM;
        return;
    }
    if (!buffer_reserve(b, (size_t)n))
        return;
    if ((size_t)n < sizeof(first)) {
        memcpy(b->ptr + b->len, first, (size_t)n);
    } else {
        va_start(args, format);
        (void)vsnprintf(b->ptr + b->len, (size_t)n + 1, format, args);
        va_end(args);
    }
    b->len += (size_t)n;
}

static bool json_needs_escape(char c)
{
    return (unsigned char)c < 0x20 || c == '"' || c == '\\';
}

/* The letter of the short escape (\n), or 0 where there is only \u00xx. */
static char json_short_escape(char c)
{
    switch (c) {
    case '"':
    case '\\':
        return c;
    case '\b':
        return 'b';
    case '\f':
        return 'f';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return 0;
    }
}

static void buffer_add_escaped(struct buffer *b, char c)
{
    char letter = json_short_escape(c);

    if (letter != 0) {
        const char pair[] = {'\\', letter};

        buffer_add(b, (struct str){.ptr = pair, .len = sizeof(pair)});
    } else {
        buffer_add_format(b, "\\u%04x", (unsigned)(unsigned char)c);
    }
}

/* In each byte of the word that has to be escaped the highest bit is set. Bits above the lowest one
 * that is set may be wrong: a borrow runs upwards. */
static uint64_t json_escape_bits(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
    uint64_t quotes = word ^ (ones * '"'), backslashes = word ^ (ones * '\\');

    return (((word - ones * 0x20) & ~word) | ((quotes - ones) & ~quotes) |
            ((backslashes - ones) & ~backslashes)) &
           high;
}

/* Text by text, for where room is short. */
static void buffer_add_json_slowly(struct buffer *b, struct str s)
{
    size_t done = 0;

    for (size_t i = 0; i < s.len; i++) {
        if (!json_needs_escape(s.ptr[i]))
            continue;
        buffer_add(b, (struct str){.ptr = s.ptr + done, .len = i - done});
        buffer_add_escaped(b, s.ptr[i]);
        done = i + 1;
    }
    if (done < s.len)
        buffer_add(b, (struct str){.ptr = s.ptr + done, .len = s.len - done});
}

/* As many whole words as the piece has, each stored before it is looked at. There is room for the
 * whole piece with every byte escaped, and a word behind it. How many bytes were taken. */
static size_t buffer_add_json_words(struct buffer *b, struct str piece)
{
    size_t i = 0;

    while (piece.len - i >= sizeof(uint64_t)) {
        uint64_t word = 0, bits = 0;
        size_t plain = sizeof(word);

        memcpy(&word, piece.ptr + i, sizeof(word));
        memcpy(b->ptr + b->len, &word, sizeof(word));
        bits = json_escape_bits(le64toh(word));
        if (bits != 0)
            plain = (size_t)__builtin_ctzll(bits) / CHAR_BIT;
        b->len += plain;
        i += plain;
        if (bits == 0)
            continue;
        if (json_short_escape(piece.ptr[i]) != 0) {
            b->ptr[b->len++] = '\\';
            b->ptr[b->len++] = json_short_escape(piece.ptr[i]);
        } else {
            buffer_add_escaped(b, piece.ptr[i]);
        }
        i++;
    }
    return i;
}

void buffer_add_json(struct buffer *b, struct str s)
{
    buffer_add_char(b, '"');
    while (s.len > 0 && b->error == 0) {
        struct str piece = {.ptr = s.ptr, .len = s.len < PIECE_BYTES ? s.len : PIECE_BYTES};
        size_t most = piece.len * ESCAPED_BYTES + sizeof(uint64_t), taken = 0;

        if (b->len <= b->max_bytes && most <= b->max_bytes - b->len && buffer_reserve(b, most))
            taken = buffer_add_json_words(b, piece);
        piece.ptr += taken;
        piece.len -= taken;
        buffer_add_json_slowly(b, piece);
        s.ptr += taken + piece.len;
        s.len -= taken + piece.len;
    }
    buffer_add_char(b, '"');
}

struct str buffer_text(struct buffer *b)
{
    if (b->error != 0)
        return (struct str){0};
    if (b->ptr == NULL)
        return STR("");
    b->ptr[b->len] = '\0';
    return (struct str){.ptr = b->ptr, .len = b->len};
}

/* U+2028 and U+2029, which the API server's JSON writer escapes. */
static bool is_line_separator(struct str s)
{
    return str_starts_with(s, STR("\xE2\x80\xA8")) || str_starts_with(s, STR("\xE2\x80\xA9"));
}

size_t buffer_audit_size(struct str s)
{
    size_t size = 0;

    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];

        if (json_needs_escape(c)) {
            size += json_short_escape(c) != 0 ? 2 : ESCAPED_BYTES;
        } else if (c == '<' || c == '>' || c == '&') {
            size += ESCAPED_BYTES;
        } else if (c == '\xE2' &&
                   is_line_separator((struct str){.ptr = s.ptr + i, .len = s.len - i})) {
            size += ESCAPED_BYTES;
            i += 2; /* the rest of the character */
        } else {
            size++;
        }
    }
    return size;
}

bool buffer_audit_fits(struct str s, size_t max_bytes)
{
    return s.len <= max_bytes / ESCAPED_BYTES || buffer_audit_size(s) <= max_bytes;
}
