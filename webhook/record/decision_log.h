/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_RECORD_DECISION_LOG_H
#define WEBHOOK_RECORD_DECISION_LOG_H

/*
 * decision_log - writes lines of record.h to a file or to standard output.
 *
 * One thread writes them, each with one write(2) at the end of the file. Threads that decide only
 * put lines into a queue and never wait. A line that does not fit into the queue, or that cannot be
 * written (full disk, reader gone), is lost and counted, and writing continues with the next line.
 * If only a part of a line could be written, the next line begins with a line feed, so that only
 * one line is damaged.
 *
 * Errors     decision_log_open(): 0, or negative errno of opening the file, or -ENOMEM. Later
 *            errors go to the program's log, at most one line per minute for each kind.
 * Ownership  the path is copied. The program's log must outlive the decision log.
 * Threads    decision_log_put(), _lose() and _counts() any; the others one at a time.
 * Units      in the names.
 */

#include <stdint.h>

#include "webhook/record/line.h"
#include "webhook/util/log.h"

#define DECISION_LOG_MAX_LINES 4096
#define DECISION_LOG_MAX_QUEUED_BYTES ((size_t)8 * 1024 * 1024)
#define DECISION_LOG_FILE_MODE 0600  /* of a new file; an existing file keeps its mode */
#define DECISION_LOG_CLOSE_MSEC 2000 /* limit for writing the queue when the program ends */

struct decision_log;

struct decision_log_counts {
    uint64_t written;
    uint64_t lost_full;   /* the queue was full: the reader is too slow */
    uint64_t lost_failed; /* write(2) failed */
    uint64_t lost_memory; /* no memory to make the line */
};

/* path "-": standard output. */
int decision_log_open(const char *path, const struct log *log, struct decision_log **ret_log)
    __attribute__((warn_unused_result, nonnull));

/* Takes a reference of its own. */
void decision_log_put(struct decision_log *log, struct record_line *line) __attribute__((nonnull));

/* Counts a line that could not be made. */
void decision_log_lose(struct decision_log *log) __attribute__((nonnull));

/* Opens the path again before the next line, after a log rotation. If that fails, the old file
 * stays in use, and the program's log gets an error. 0, or -ENOMEM. */
int decision_log_reopen(struct decision_log *log, const char *path)
    __attribute__((warn_unused_result, nonnull));

struct decision_log_counts decision_log_counts(struct decision_log *log) __attribute__((nonnull));

/* Writes the queue, for at most msec, and ends the thread. A thread that still hangs in write(2) is
 * detached and keeps the memory of the log; it releases it when write(2) returns. NULL is allowed.
 */
void decision_log_close(struct decision_log *log, uint32_t msec);

#endif
