/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_AUDIT_LINES_H
#define WEBHOOK_AUDIT_LINES_H

/*
 * lines - splits a log into texts, one per event: from files, gzip streams and pipes, in constant
 * memory. The meaning of a text is not looked at (event.h does that).
 *
 * A text is a line. Where an object or a list is spread over several lines, or holds events in a
 * list (`{"kind":"EventList","items":[…]}`, `[…]`), each event in it is a text. The format is
 * recognised by the bytes, never by the name of the file. A byte order mark, and a CR at the end of
 * a line, are not part of a text.
 *
 * Errors     lines_open(): negative errno of the system. lines_next(): negative errno of read();
 *            -EBADMSG: the compressed data is damaged; -ENOTSUP: the format is not read, `format`
 *            names it; -ENOMEM. After an error no text follows.
 * Ownership  a text is borrowed until the next call.
 * Units      bytes; lines are counted from 1.
 * Threads    one.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "k8s/document/json_skip.h"
#include "planner/base/text.h"

#define LINES_MAX_BYTES ((size_t)16 << 20) /* of one text; a longer one is skipped and counted */
#define LINES_BLOCK_BYTES ((size_t)1 << 20)
#define LINES_SNIFF_BYTES ((size_t)4096) /* enough to recognise a list of events */

struct lines_inflate; /* the state of zlib */

/* Position in a list of events, or in an object that is spread over several lines. */
struct lines_walk {
    bool on;
    bool compact; /* its first line has more than a bracket: then it has no line feed in it */
    struct json_skip skip;
    bool in_items;   /* inside the list that holds the events */
    size_t at_depth; /* number of brackets that are open around each event */
    bool in_text;    /* an event has begun, at lines.begin */
    bool skipping;   /* the event is over the limit */
    size_t next;     /* offset of the next byte */
};

struct lines {
    int fd;         /* owned, except standard input */
    bool keep_tail; /* a last line without a line feed is kept for the next call (--follow) */
    const char *path;
    struct lines_inflate *inflate; /* NULL: plain */
    bool sniffed;
    const char *format;          /* after -ENOTSUP: "compressed with zstd" */
    bool skipping;               /* inside a line over the limit */
    char *bytes;                 /* owned */
    size_t begin, end, capacity; /* bytes[begin..end) is read, but not yet returned */
    struct lines_walk walk;
    dev_t device;
    ino_t inode;

    uint64_t line; /* number of the line in which the last text began */
    uint64_t next_line;
    uint64_t bytes_read; /* of the file */
    bool regular;        /* a regular file, not a pipe: it may grow */
    uint64_t size;       /* of the file when it was opened, for progress; 0: unknown */
    uint64_t too_long;   /* texts over LINES_MAX_BYTES */
    uint64_t torn;       /* lists and compressed streams that end too early; tails that were lost */
    uint64_t first_too_long, first_torn; /* the line of the first one */
};

/* path "-" is standard input. path is borrowed. */
int lines_open(const char *path, struct lines *ret_lines)
    __attribute__((warn_unused_result, nonnull));
void lines_close(struct lines *lines);

#define cleanup_lines __attribute__((cleanup(lines_close)))

/* 1: a text; 0: no more texts for now. An empty line is a text too. */
int lines_next(struct lines *lines, struct str *ret_text)
    __attribute__((warn_unused_result, nonnull));

/*
 * For a file that is still being written, with keep_tail, after lines_next() returned 0: starts
 * again at the beginning of a file that was truncated, and switches to the new file where the name
 * was given to another one. 1: there may be more texts; 0: nothing new. The unfinished last line of
 * a file that was replaced or truncated is lost, and counted in `torn`.
 */
int lines_follow(struct lines *lines) __attribute__((warn_unused_result, nonnull));

#endif
