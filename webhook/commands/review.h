/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_COMMANDS_REVIEW_H
#define WEBHOOK_COMMANDS_REVIEW_H

/*
 * review - what the files review*.c share: one run of `sandgate review`. review.c has the options
 * and the order, review_read.c reads a log, review_follow.c follows one, review_print.c prints,
 * review_boundary.c what pods' own specs ask for.
 *
 * Errors     0 or negative errno; the error is not yet reported to the user.
 */

#include <stdbool.h>

#include "webhook/audit/lines.h"
#include "webhook/audit/unwrap.h"
#include "webhook/report/report.h"

/* Memory limit for one line of a log. */
#define REVIEW_MAX_EVENT_BYTES ((size_t)16 << 20)

enum review_output {
    REVIEW_OUTPUT_TABLE = 0,
    REVIEW_OUTPUT_JSON,
    REVIEW_OUTPUT_CSV,
    REVIEW_OUTPUT_HTML,
};

struct log_review {
    struct report report;
    enum review_output output;
    bool streaming;       /* each decision is printed when it is read (--follow) */
    unsigned percent;     /* --max-unreadable */
    struct unread unread; /* of the file that is read now */
    struct unwrap unwrap;
};

/* review_read.c: adds all decisions that the log holds now; the first call after
 * review_catch_signals() that sees SIGINT or SIGTERM returns early. `lines` may be read again
 * later. */
int log_review_read(struct log_review *review, struct lines *lines)
    __attribute__((warn_unused_result));
void review_catch_signals(void);
bool review_stop_requested(void);

/* review_follow.c: reads until SIGINT or SIGTERM. Call review_catch_signals() first. */
int review_follow(struct log_review *review, struct lines *lines)
    __attribute__((warn_unused_result));

/* review_boundary.c: nothing if no pod's own spec was read. */
int review_print_boundary(const struct report_boundary *boundary, struct arena *arena)
    __attribute__((warn_unused_result, nonnull));

/* review_print.c */
int review_print(const struct log_review *review) __attribute__((warn_unused_result));
/* Prints one decision as a line. row: NULL if the report is full; then JSON and CSV print nothing.
 */
int review_print_event(const struct log_review *review, const struct event *event,
                       const struct report_row *row) __attribute__((warn_unused_result));
/* Reports on standard error what was not read or not kept. */
void review_print_losses(const struct report *report);

#endif
