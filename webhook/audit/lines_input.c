/* SPDX-License-Identifier: Apache-2.0 */
/* lines_input - the bytes of a log, unpacked where it is gzip. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "webhook/audit/lines_internal.h"

#define GZIP_MAGIC STR("\x1f\x8b")
#define GZIP_WINDOW_BITS (15 + 16) /* gzip's head and trailer, and nothing else */

struct lines_inflate {
    z_stream stream;
    bool within; /* in the middle of a member: an end now comes too early */
    bool file_end;
    unsigned char packed[64 * 1024];
};

void lines_inflate_free(struct lines_inflate *inflate)
{
    if (inflate == NULL)
        return;
    (void)inflateEnd(&inflate->stream);
    free(inflate);
}

void lines_input_reset(struct lines *lines)
{
    lines_inflate_free(lines->inflate);
    lines->inflate = NULL;
    lines->sniffed = false;
    lines->passing_over = false;
    lines->ended = false;
    lines->begin = lines->end = 0;
    lines->walk = (struct lines_walk){0};
    lines->next_line = 1;
    lines->bytes_read = 0;
}

static ssize_t read_some(struct lines *lines, void *to, size_t room)
{
    for (;;) {
        ssize_t n = read(lines->fd, to, room);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        lines->bytes_read += (uint64_t)n;
        return n;
    }
}

/* Room behind `end` for a block; what was given out already makes way. */
static int make_room(struct lines *lines)
{
    size_t kept = lines->end - lines->begin;
    size_t room = lines->room > 0 ? lines->room * 2 : LINES_BLOCK_BYTES;
    char *bytes = NULL;

    if (lines->begin > 0 && lines->begin < lines->end)
        memmove(lines->bytes, lines->bytes + lines->begin, kept);
    lines->walk.next -= lines->walk.next >= lines->begin ? lines->begin : lines->walk.next;
    lines->begin = 0;
    lines->end = kept;
    if (lines->end < lines->room)
        return 0;
    if (lines->room >= LINES_MAX_BYTES)
        return -ENOBUFS;
    bytes = realloc(lines->bytes, room);
    if (bytes == NULL)
        return -ENOMEM;
    lines->bytes = bytes;
    lines->room = room;
    return 0;
}

static int begin_inflate(struct lines *lines)
{
    struct lines_inflate *inflate = calloc(1, sizeof(*inflate));
    size_t have = lines->end - lines->begin;

    if (inflate == NULL)
        return -ENOMEM;
    if (inflateInit2(&inflate->stream, GZIP_WINDOW_BITS) != Z_OK) {
        free(inflate);
        return -ENOMEM;
    }
    /* what was read to look at it is packed; a first read is never more than this */
    memcpy(inflate->packed, lines->bytes + lines->begin, have);
    inflate->stream.next_in = inflate->packed;
    inflate->stream.avail_in = (uInt)have;
    inflate->within = true;
    lines->inflate = inflate;
    lines->begin = lines->end = 0;
    return 0;
}

static int refill_packed(struct lines *lines, struct lines_inflate *f)
{
    ssize_t n = 0;

    if (f->stream.avail_in > 0)
        return 1;
    n = read_some(lines, f->packed, sizeof(f->packed));
    if (n <= 0)
        return (int)n;
    f->stream.next_in = f->packed;
    f->stream.avail_in = (uInt)n;
    return 1;
}

/* Unpacks some; 1: bytes came, 0: the end. A file may be several gzip members in a row. */
static int fill_inflated(struct lines *lines)
{
    struct lines_inflate *f = lines->inflate;
    size_t room = lines->room - lines->end;

    f->stream.next_out = (unsigned char *)lines->bytes + lines->end;
    f->stream.avail_out = (uInt)room;
    while (f->stream.avail_out == room) {
        int r = refill_packed(lines, f);

        if (r <= 0) {
            if (r == 0 && f->within && !lines->keep_tail) {
                f->within = false;
                lines->torn++;
            }
            return r;
        }
        r = inflate(&f->stream, Z_NO_FLUSH);
        f->within = r != Z_STREAM_END;
        if (r == Z_STREAM_END)
            r = inflateReset(&f->stream);
        if (r != Z_OK && r != Z_BUF_ERROR)
            return -EBADMSG;
    }
    lines->end += room - f->stream.avail_out;
    return 1;
}

int lines_fill(struct lines *lines)
{
    ssize_t n = 0;
    int r = make_room(lines);

    if (r < 0)
        return r;
    if (!lines->sniffed) {
        /* a pipe may give a single byte */
        while (lines->end < GZIP_MAGIC.len) {
            n = read_some(lines, lines->bytes + lines->end, 64 * 1024 - lines->end);
            if (n < 0)
                return (int)n;
            if (n == 0)
                break;
            lines->end += (size_t)n;
        }
        if (lines->end == 0)
            return 0;
        lines->sniffed = true;
        if (!str_starts_with((struct str){lines->bytes, lines->end}, GZIP_MAGIC))
            return 1;
        r = begin_inflate(lines);
        if (r < 0)
            return r;
    }
    if (lines->inflate != NULL)
        return fill_inflated(lines);
    n = read_some(lines, lines->bytes + lines->end, lines->room - lines->end);
    if (n > 0)
        lines->end += (size_t)n;
    return n > 0 ? 1 : (int)n;
}
