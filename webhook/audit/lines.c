/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines - opens a log, returns its lines, and follows a log that is still being written.
 * lines_input.c reads and decompresses bytes, lines_walk.c splits lists of events.
 */

#include "webhook/audit/lines.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "webhook/audit/lines_internal.h"

#define BYTE_ORDER_MARK STR("\xef\xbb\xbf")

static int take_file_status(struct lines *lines)
{
    struct stat st = {0};

    if (fstat(lines->fd, &st) < 0)
        return -errno;
    if (S_ISDIR(st.st_mode))
        return -EISDIR;
    lines->device = st.st_dev;
    lines->inode = st.st_ino;
    lines->regular = S_ISREG(st.st_mode);
    lines->size = lines->regular ? (uint64_t)st.st_size : 0;
    return 0;
}

int lines_open(const char *path, struct lines *ret_lines)
{
    struct lines lines = {.fd = STDIN_FILENO, .path = path, .next_line = 1};
    int r = 0;

    if (path[0] != '-' || path[1] != '\0')
        lines.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (lines.fd < 0)
        return -errno;
    r = take_file_status(&lines);
    if (r < 0) {
        lines_close(&lines);
        return r;
    }
    *ret_lines = lines;
    return 0;
}

void lines_close(struct lines *lines)
{
    lines_inflate_free(lines->inflate);
    free(lines->bytes);
    if (lines->fd > STDIN_FILENO)
        (void)close(lines->fd);
    *lines = (struct lines){.fd = -1};
}

static struct str trim_line(struct str line)
{
    if (str_starts_with(line, BYTE_ORDER_MARK)) {
        line.ptr += BYTE_ORDER_MARK.len;
        line.len -= BYTE_ORDER_MARK.len;
    }
    if (line.len > 0 && line.ptr[line.len - 1] == '\r')
        line.len--;
    return line;
}

/* Skips a byte order mark, so that a list of events after it is recognised. */
static void skip_mark(struct lines *lines)
{
    struct str rest = {lines->bytes + lines->begin, lines->end - lines->begin};

    if (str_starts_with(rest, BYTE_ORDER_MARK))
        lines->begin += BYTE_ORDER_MARK.len;
}

/* The last line of the file, which has no line feed. It may be incomplete. */
static int take_tail(struct lines *lines, struct str *ret_text)
{
    struct str rest = {lines->bytes + lines->begin, lines->end - lines->begin};

    if (lines->keep_tail)
        return 0;
    lines->begin = lines->end;
    if (lines->skipping || rest.len == 0) {
        lines->skipping = false;
        return 0;
    }
    lines->line = lines->next_line++;
    *ret_text = trim_line(rest);
    return 1;
}

/* One line. looked: number of bytes after `begin` that are known to hold no line feed. */
static int next_line(struct lines *lines, struct str *ret_text)
{
    size_t looked = 0;

    assert(lines->begin <= lines->end);
    for (;;) {
        size_t have = lines->end - lines->begin;
        const char *from = have > 0 ? lines->bytes + lines->begin : NULL;
        const char *end = have > looked ? memchr(from + looked, '\n', have - looked) : NULL;
        int r = 0;

        if (end != NULL) {
            size_t len = (size_t)(end - from);

            lines->begin += len + 1;
            lines->line = lines->next_line++;
            if (lines->skipping) {
                lines->skipping = false;
                looked = 0;
                continue;
            }
            *ret_text = trim_line((struct str){from, len});
            return 1;
        }
        looked = have;
        if (lines->skipping) {
            lines->begin = lines->end;
            looked = 0;
        }
        r = lines_fill(lines);
        if (r == 0)
            return take_tail(lines, ret_text);
        if (r == -ENOBUFS) {
            lines_count_too_long(lines);
            lines->skipping = true;
            r = 1;
        }
        if (r < 0)
            return r;
    }
}

int lines_next(struct lines *lines, struct str *ret_text)
{
    for (;;) {
        int r = 0;

        if (lines->begin == lines->end) {
            r = lines_fill(lines);
            if (r <= 0 && !lines->walk.on)
                return r;
            if (r < 0)
                return r;
        }
        if (!lines->walk.on && !lines->skipping) {
            skip_mark(lines);
            r = lines_walk_begins(lines);
            if (r < 0)
                return r;
        }
        if (!lines->walk.on)
            return next_line(lines, ret_text);
        r = lines_walk_next(lines, ret_text);
        if (r != 0 || lines->walk.on)
            return r;
    }
}

/* 1: the file has bytes that were not read yet, or was truncated and will be read again. */
static int has_grown(struct lines *lines)
{
    struct stat now = {0};

    if (fstat(lines->fd, &now) < 0)
        return -errno;
    if ((uint64_t)now.st_size < lines->bytes_read) {
        if (lseek(lines->fd, 0, SEEK_SET) < 0)
            return -errno;
        if (lines->end > lines->begin)
            lines_count_torn(lines);
        lines_input_reset(lines);
        return 1;
    }
    return (uint64_t)now.st_size > lines->bytes_read ? 1 : 0;
}

int lines_follow(struct lines *lines)
{
    struct stat named = {0};
    int fd = -1, r = has_grown(lines);

    /* while a log is rotated there may be no file of that name for a moment */
    if (r != 0 || !lines->regular || stat(lines->path, &named) < 0 ||
        (named.st_ino == lines->inode && named.st_dev == lines->device))
        return r;
    /* bytes written between the first look and the rotation */
    r = has_grown(lines);
    if (r != 0)
        return r;
    fd = open(lines->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return 0;
    (void)close(lines->fd);
    lines->fd = fd;
    if (lines->end > lines->begin)
        lines_count_torn(lines);
    lines_input_reset(lines);
    return take_file_status(lines) < 0 ? 0 : 1;
}
