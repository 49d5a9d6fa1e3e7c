/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_RECORD_DECISION_FILE_H
#define WEBHOOK_RECORD_DECISION_FILE_H

/*
 * decision_file - the output of the decision log: a file, a named pipe or standard output.
 *
 * Errors     0 or negative errno.
 * Threads    one at a time. A write can block. SIGPIPE and SIGXFSZ must be blocked or ignored in
 *            the calling thread.
 */

#include <stdbool.h>

#include "webhook/record/line.h"

struct decision_file {
    int fd;    /* owned */
    bool torn; /* the output may end with an incomplete line */
};

/* path "-": standard output. A new file is readable by its owner only. A file that ends without a
 * line feed, for example after a crash, counts as torn. -ENXIO: a named pipe without a reader. */
int decision_file_open(const char *path, struct decision_file *ret_file)
    __attribute__((warn_unused_result, nonnull));
void decision_file_close(struct decision_file *file);

/* One write(2) for the line; more only if the system accepted only a part of it. */
int decision_file_write(struct decision_file *file, const struct record_line *line)
    __attribute__((warn_unused_result, nonnull));

#endif
