/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer - text that grows in an arena, up to a limit.
 *
 * Packets, responses and reports are written through it. JSON strings are escaped here, eight bytes
 * at a time: most bytes of a packet are inside strings.
 */
#include "planner/base/buffer.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#define FIRST_BYTES 1024
#define SHORT_TEXT_BYTES 256 /* of most formatted texts; a longer one is formatted twice */
#define ESCAPED_BYTES 6      /* \u00xx */
#define PIECE_BYTES 256      /* for which memory is reserved at once */

struct buffer buffer_make(struct arena *arena, size_t max_bytes)
{
    return (struct buffer){.arena = arena, .max_bytes = max_bytes};
}

/* Ensures capacity for `more` bytes and a NUL after them. */
static bool reserve(struct buffer *b, size_t more)
{
    size_t capacity = b->capacity > 0 ? b->capacity : FIRST_BYTES;
    char *ptr = NULL;

    if (b->error != 0)
        return false;
    assert(b->ptr == NULL || b->len < b->capacity);
    if (b->len > b->max_bytes || more > b->max_bytes - b->len) {
        b->error = -E2BIG;
        return false;
    }
    if (b->ptr != NULL && more < b->capacity - b->len)
        return true;
    while (capacity - b->len <= more && capacity <= SIZE_MAX / 2)
        capacity *= 2;
    ptr = capacity - b->len > more ? arena_alloc(b->arena, capacity, 1) : NULL;
    if (ptr == NULL) {
        b->error = -ENOMEM;
        return false;
    }
    if (b->ptr != NULL)
        memcpy(ptr, b->ptr, b->len);
    b->ptr = ptr;
    b->capacity = capacity;
    return true;
}

void buffer_add(struct buffer *b, struct str s)
{
    if (s.len == 0 || !reserve(b, s.len))
        return;
    memcpy(b->ptr + b->len, s.ptr, s.len);
    b->len += s.len;
}

void buffer_add_char(struct buffer *b, char c)
{
    if (!reserve(b, 1))
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
    if (!reserve(b, (size_t)n))
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

/* The letter of the short escape (`n` of \n), or 0 for a byte that has only \u00xx. */
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

/* Writes the escape of a byte, at most ESCAPED_BYTES; returns the end. */
static char *write_escape(char *out, char c)
{
    static const char digits[] = "0123456789abcdef";
    char letter = json_short_escape(c);

    *out++ = '\\';
    if (letter != 0) {
        *out++ = letter;
        return out;
    }
    *out++ = 'u';
    *out++ = '0';
    *out++ = '0';
    *out++ = digits[(unsigned char)c >> 4];
    *out++ = digits[(unsigned char)c & 15];
    return out;
}

static void add_escaped(struct buffer *b, char c)
{
    char escape[ESCAPED_BYTES];

    buffer_add(b, (struct str){.ptr = escape, .len = (size_t)(write_escape(escape, c) - escape)});
}

/* Sets the highest bit of each byte of the word that must be escaped. Only the lowest bit set is
 * reliable: a borrow can set further ones above it. */
static uint64_t json_escape_bits(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
    uint64_t quotes = word ^ (ones * '"'), backslashes = word ^ (ones * '\\');

    return (((word - ones * 0x20) & ~word) | ((quotes - ones) & ~quotes) |
            ((backslashes - ones) & ~backslashes)) &
           high;
}

/* Byte by byte: for the rest of a piece, and for text near the limit. */
static void add_json_bytes(struct buffer *b, struct str s)
{
    size_t added = 0;

    for (size_t i = 0; i < s.len; i++) {
        if (!json_needs_escape(s.ptr[i]))
            continue;
        buffer_add(b, (struct str){.ptr = s.ptr + added, .len = i - added});
        add_escaped(b, s.ptr[i]);
        added = i + 1;
    }
    if (added < s.len)
        buffer_add(b, (struct str){.ptr = s.ptr + added, .len = s.len - added});
}

/* Adds the whole words of the piece; returns how many of its bytes were added. Each word is stored
 * before it is examined, so memory is reserved for the piece with every byte escaped and one word
 * more. Positions are kept in local variables: the bytes that are stored could be the buffer's own
 * members, for all that the compiler knows. */
static size_t add_json_words(struct buffer *b, struct str piece)
{
    const char *in = piece.ptr, *end = piece.ptr + piece.len;
    char *out = b->ptr + b->len;

    while ((size_t)(end - in) >= sizeof(uint64_t)) {
        uint64_t word = 0, bits = 0;
        size_t plain = sizeof(word);

        memcpy(&word, in, sizeof(word));
        memcpy(out, &word, sizeof(word));
        bits = json_escape_bits(le64toh(word));
        if (bits != 0)
            plain = (size_t)__builtin_ctzll(bits) / CHAR_BIT;
        in += plain;
        out += plain;
        if (bits != 0)
            out = write_escape(out, *in++);
    }
    b->len = (size_t)(out - b->ptr);
    return (size_t)(in - piece.ptr);
}

void buffer_add_json(struct buffer *b, struct str s)
{
    buffer_add_char(b, '"');
    while (s.len > 0 && b->error == 0) {
        struct str piece = {.ptr = s.ptr, .len = s.len < PIECE_BYTES ? s.len : PIECE_BYTES};
        size_t most = piece.len * ESCAPED_BYTES + sizeof(uint64_t), added = 0;

        if (b->len <= b->max_bytes && most <= b->max_bytes - b->len && reserve(b, most))
            added = add_json_words(b, piece);
        piece.ptr += added;
        piece.len -= added;
        add_json_bytes(b, piece);
        s.ptr += added + piece.len;
        s.len -= added + piece.len;
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

/* U+2028 or U+2029: the JSON writer of the API server escapes both. */
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
