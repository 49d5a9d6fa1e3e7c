#include "planner/buffer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#define FIRST_ROOM_BYTES 1024
#define SHORT_TEXT_BYTES 256 /* of most formatted texts; longer ones are formatted twice */
#define ESCAPED_BYTES 6      /* \u00xx */

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

void buffer_add_json(struct buffer *b, struct str s)
{
    size_t done = 0;

    buffer_add_char(b, '"');
    for (size_t i = 0; i < s.len; i++) {
        if (!json_needs_escape(s.ptr[i]))
            continue;
        buffer_add(b, (struct str){.ptr = s.ptr + done, .len = i - done});
        buffer_add_escaped(b, s.ptr[i]);
        done = i + 1;
    }
    if (done < s.len)
        buffer_add(b, (struct str){.ptr = s.ptr + done, .len = s.len - done});
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
