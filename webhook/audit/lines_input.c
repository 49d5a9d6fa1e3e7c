/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines_input - reads the bytes of a log and decompresses gzip.
 *
 * Uses inflate() and not gzopen(): gzread() ignores garbage after the last member, where a damaged
 * log must be reported; it fails when a signal interrupts a read; and plain and compressed logs
 * share one loop here, which counts the bytes of the file for lines_follow() and for progress.
 */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "webhook/audit/lines_internal.h"

#define GZIP_MAGIC STR("\x1f\x8b")
#define GZIP_WINDOW_BITS (15 + 16) /* only the gzip format: no zlib, no raw data */

/* Formats that are recognised so that their name can be shown. */
static const struct {
    struct str magic;
    const char *name;
} other_formats[] = {
    {{"\x28\xb5\x2f\xfd", 4}, "compressed with zstd"},
    {{"\xfd"
      "7zXZ\0",
      6},
     "compressed with xz"},
    {{"BZh", 3}, "compressed with bzip2"},
    {{"PK\x03\x04", 4}, "a zip archive"},
    {{"\xff\xfe", 2}, "in UTF-16"},
    {{"\xfe\xff", 2}, "in UTF-16"},
};

#define MAX_MAGIC_BYTES 6

struct lines_inflate {
    z_stream stream;
    bool in_member; /* an end of file here is too early */
    unsigned char compressed[64 * 1024];
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
    lines->skipping = false;
    lines->begin = lines->end = 0;
    lines->walk = (struct lines_walk){0};
    lines->next_line = 1;
    lines->bytes_read = 0;
}

static ssize_t read_some(struct lines *lines, void *bytes, size_t max)
{
    for (;;) {
        ssize_t n = read(lines->fd, bytes, max);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        lines->bytes_read += (uint64_t)n;
        return n;
    }
}

/* Makes free space after `end`. Bytes that were returned already are dropped first. */
static int make_room(struct lines *lines)
{
    size_t kept = lines->end - lines->begin;
    size_t capacity = lines->capacity > 0 ? lines->capacity * 2 : LINES_BLOCK_BYTES;
    char *bytes = NULL;

    if (lines->begin > 0 && lines->begin < lines->end)
        memmove(lines->bytes, lines->bytes + lines->begin, kept);
    lines->walk.next -= lines->walk.next >= lines->begin ? lines->begin : lines->walk.next;
    lines->begin = 0;
    lines->end = kept;
    if (lines->end < lines->capacity)
        return 0;
    if (lines->capacity >= LINES_MAX_BYTES)
        return -ENOBUFS;
    bytes = realloc(lines->bytes, capacity);
    if (bytes == NULL)
        return -ENOMEM;
    lines->bytes = bytes;
    lines->capacity = capacity;
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
    /* the bytes read so far are compressed; the first read is never larger than this array */
    assert(have <= sizeof(inflate->compressed));
    memcpy(inflate->compressed, lines->bytes + lines->begin, have);
    inflate->stream.next_in = inflate->compressed;
    inflate->stream.avail_in = (uInt)have;
    inflate->in_member = true;
    lines->inflate = inflate;
    lines->begin = lines->end = 0;
    return 0;
}

static int refill(struct lines *lines, struct lines_inflate *f)
{
    ssize_t n = 0;

    if (f->stream.avail_in > 0)
        return 1;
    n = read_some(lines, f->compressed, sizeof(f->compressed));
    if (n <= 0)
        return (int)n;
    f->stream.next_in = f->compressed;
    f->stream.avail_in = (uInt)n;
    return 1;
}

/* Decompresses some bytes; 1: there are more bytes; 0: end of file. A file may hold several gzip
 * members in a row. */
static int fill_inflated(struct lines *lines)
{
    struct lines_inflate *f = lines->inflate;
    size_t free_bytes = lines->capacity - lines->end;

    assert(free_bytes > 0);
    f->stream.next_out = (unsigned char *)lines->bytes + lines->end;
    f->stream.avail_out = (uInt)free_bytes;
    while (f->stream.avail_out == free_bytes) {
        int r = refill(lines, f);

        if (r <= 0) {
            if (r == 0 && f->in_member && !lines->keep_tail) {
                f->in_member = false;
                lines_count_torn(lines);
            }
            return r;
        }
        r = inflate(&f->stream, Z_NO_FLUSH);
        f->in_member = r != Z_STREAM_END;
        if (r == Z_STREAM_END)
            r = inflateReset(&f->stream);
        if (r != Z_OK && r != Z_BUF_ERROR)
            return -EBADMSG;
    }
    lines->end += free_bytes - f->stream.avail_out;
    return 1;
}

/* Whether the file can be read; -ENOTSUP if not. */
static int check_format(struct lines *lines)
{
    struct str head = {lines->bytes, lines->end};

    for (size_t i = 0; i < sizeof(other_formats) / sizeof(other_formats[0]); i++) {
        if (str_starts_with(head, other_formats[i].magic)) {
            lines->format = other_formats[i].name;
            return -ENOTSUP;
        }
    }
    return 0;
}

int lines_fill(struct lines *lines)
{
    ssize_t n = 0;
    int r = make_room(lines);

    if (r < 0)
        return r;
    if (!lines->sniffed) {
        /* one read of a pipe may return a single byte */
        while (lines->end < MAX_MAGIC_BYTES) {
            n = read_some(lines, lines->bytes + lines->end,
                          sizeof(((struct lines_inflate *)0)->compressed) - lines->end);
            if (n < 0)
                return (int)n;
            if (n == 0)
                break;
            lines->end += (size_t)n;
        }
        if (lines->end == 0)
            return 0;
        r = check_format(lines);
        if (r < 0)
            return r;
        lines->sniffed = true;
        if (!str_starts_with((struct str){lines->bytes, lines->end}, GZIP_MAGIC))
            return 1;
        r = begin_inflate(lines);
        if (r < 0)
            return r;
    }
    if (lines->inflate != NULL)
        return fill_inflated(lines);
    n = read_some(lines, lines->bytes + lines->end, lines->capacity - lines->end);
    if (n > 0)
        lines->end += (size_t)n;
    return n > 0 ? 1 : (int)n;
}
