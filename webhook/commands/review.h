/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_COMMANDS_REVIEW_H
#define WEBHOOK_COMMANDS_REVIEW_H

/*
 * review - what the files review*.c share: one run of `sandgate review`.
 *
 * Errors     functions with an int give 0 or a negative errno, and have said nothing yet, unless
 *            they say so.
 */

#include <stdbool.h>

#include "webhook/audit/lines.h"
#include "webhook/report/report.h"

/* Memory for the reading of one event. */
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
    bool show_at_once; /* rows are printed as they come (--follow) */
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

/* review_print.c */
int review_print(const struct log_review *review) __attribute__((warn_unused_result));
/* One decision at once, as a line. row: NULL where there was no room, and then JSON and CSV have
 * none. */
int review_print_event(const struct log_review *review, const struct event *event,
                       const struct report_row *row) __attribute__((warn_unused_result));
/* What was not read or not kept, on standard error. */
void review_print_losses(const struct report *report);

#endif
