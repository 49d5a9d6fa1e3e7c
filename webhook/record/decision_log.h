/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_RECORD_DECISION_LOG_H
#define WEBHOOK_RECORD_DECISION_LOG_H

/*
 * decision_log - lines of record.h on their way to a file or to standard output.
 *
 * A thread of its own writes them, each with one write(2) at the end of the file; who decides only
 * puts them into a queue and never waits. What does not fit, or cannot be written (a full disk, a
 * reader that is gone), is lost and counted, and writing goes on with the next line. Where only a
 * part of a line could be written, the next one begins with a line feed: that one line is torn, and
 * no other.
 *
 * Errors     decision_log_open(): 0, or negative errno of opening the file, or -ENOMEM. Later ones
 *            are lines of the program's log, at most one a minute and kind.
 * Ownership  the path is copied. The program's log outlives the decision log.
 * Threads    decision_log_put() and _lose() any; the rest one at a time.
 * Units      in the names.
 */

#include <stdint.h>

#include "webhook/record/line.h"
#include "webhook/util/log.h"

#define DECISION_LOG_MAX_LINES 4096
#define DECISION_LOG_MAX_QUEUED_BYTES ((size_t)8 * 1024 * 1024)
#define DECISION_LOG_FILE_MODE 0600  /* of a file that is made; one that is there keeps its own */
#define DECISION_LOG_CLOSE_MSEC 2000 /* for the queue to be written when the program ends */

struct decision_log;

struct decision_log_counts {
    uint64_t written;
    uint64_t lost_full;   /* the queue was full: whoever reads is too slow */
    uint64_t lost_failed; /* write(2) failed */
    uint64_t lost_memory; /* no memory to make the line */
};

/* path "-": standard output. */
int decision_log_open(const char *path, const struct log *log, struct decision_log **ret_log)
    __attribute__((warn_unused_result, nonnull));

/* Takes a count of its own. */
void decision_log_put(struct decision_log *log, struct record_line *line) __attribute__((nonnull));

/* Counts a line that could not even be made. */
void decision_log_lose(struct decision_log *log) __attribute__((nonnull));

/* Opens the path anew before the next line (a file may have been moved away). Where that fails the
 * old file stays in use, and the program's log says so. 0, or -ENOMEM. */
int decision_log_reopen(struct decision_log *log, const char *path)
    __attribute__((warn_unused_result, nonnull));

struct decision_log_counts decision_log_counts(struct decision_log *log) __attribute__((nonnull));

/* Writes what is queued, for so long at most, and ends the thread; a thread that hangs in write(2)
 * is left behind with all that it uses. NULL is allowed. */
void decision_log_close(struct decision_log *log, uint32_t msec);

#endif
