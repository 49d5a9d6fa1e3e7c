/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_RECORD_DECISION_FILE_H
#define WEBHOOK_RECORD_DECISION_FILE_H

/*
 * decision_file - where the decision log's lines end: a file, a pipe, standard output.
 *
 * Errors     0 or negative errno.
 * Threads    one. Its writes may wait; SIGPIPE and SIGXFSZ must be blocked or ignored there.
 */

#include <stdbool.h>

#include "webhook/record/line.h"

struct decision_file {
    int fd;    /* owned */
    bool torn; /* what was written last may be a part of a line */
};

/* path "-": standard output. A file that is made is for its owner alone. One that ends without a
 * line feed, as after a crash, counts as torn. A named pipe without a reader is -ENXIO. */
int decision_file_open(const char *path, struct decision_file *ret_file)
    __attribute__((warn_unused_result, nonnull));
void decision_file_close(struct decision_file *file);

/* One write(2) for the line, more only where the system took a part of it. */
int decision_file_write(struct decision_file *file, const struct record_line *line)
    __attribute__((warn_unused_result, nonnull));

#endif
