/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_AUDIT_LINES_H
#define WEBHOOK_AUDIT_LINES_H

/*
 * lines - a log as a row of texts, one an event: out of files, gzip streams and pipes, in constant
 * memory. What a text means is not looked at.
 *
 * A text is a line; or, where an object or list is spread over several lines or holds events in a
 * list (`{"kind":"EventList","items":[…]}`, `[…]`), each event in it. How a log is written is told
 * from its bytes, never from its name. A byte order mark and a CR at a line's end are no part.
 *
 * Errors     lines_open(): negative errno of the system. lines_next(): negative errno of read();
 *            -EBADMSG where compressed data is damaged; -ENOMEM. After one nothing more comes.
 * Ownership  a text is borrowed until the next call.
 * Units      bytes; lines from 1.
 * Threads    one.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "planner/base/text.h"

#define LINES_MAX_BYTES                                                                            \
    ((size_t)16 << 20) /* of one text; a longer one is passed over, and counted */
#define LINES_BLOCK_BYTES ((size_t)1 << 20)
#define LINES_SNIFF_BYTES ((size_t)4096) /* in which a list of events shows itself */

struct lines_inflate; /* the state of zlib */

/* Where the walk through a list, or through an object over several lines, stands. */
struct lines_walk {
    bool on;
    bool compact; /* began with more than a bracket on its line, so no line ends in it */
    bool in_string;
    bool escaped;
    bool in_items; /* in a list that stands where the events are */
    unsigned depth;
    unsigned at_depth; /* how deep in brackets the events stand */
    bool in_text;      /* an event has begun, at lines.begin */
    bool passing_over; /* an event over the limit */
    size_t next;       /* offset of the byte that is looked at next */
};

struct lines {
    int fd;         /* owned, but for standard input */
    bool keep_tail; /* a last line without an end is kept for the next call, as more may come */
    const char *path;
    struct lines_inflate *inflate; /* NULL: plain */
    bool sniffed;
    bool passing_over; /* in a line over the limit */
    bool ended;
    char *bytes; /* owned */
    size_t begin, end, room;
    struct lines_walk walk;
    dev_t device;
    ino_t inode;

    uint64_t line; /* number of the line that the last text began in */
    uint64_t next_line;
    uint64_t bytes_read; /* of the file */
    bool regular;        /* a file, and no pipe: it may grow */
    uint64_t size;       /* of the file when it was opened, for progress; 0: unknown */
    uint64_t too_long;   /* texts over LINES_MAX_BYTES */
    uint64_t torn;       /* lists and compressed streams that end too early, tails left behind */
};

/* path `-` is standard input. path is borrowed. */
int lines_open(const char *path, struct lines *ret_lines)
    __attribute__((warn_unused_result, nonnull));
void lines_close(struct lines *lines);

#define cleanup_lines __attribute__((cleanup(lines_close)))

/* 1: a text; 0: no more, for now. An empty line is a text too. */
int lines_next(struct lines *lines, struct str *ret_text)
    __attribute__((warn_unused_result, nonnull));

/*
 * For a file that is still written, after lines_next() gave 0 and with keep_tail: takes up the file
 * from its beginning where it was cut, and the new file where it was exchanged. 1: more may have
 * come. 0: nothing yet. What was in the tail of a file that is gone is left behind.
 */
int lines_follow(struct lines *lines) __attribute__((warn_unused_result, nonnull));

#endif
