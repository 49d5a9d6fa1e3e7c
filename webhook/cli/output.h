/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_CLI_OUTPUT_H
#define WEBHOOK_CLI_OUTPUT_H

/*
 * output - the output for people: messages, tables, colours, progress.
 *
 * Text from outside (names, reasons) goes through output_visible(), so that a manifest cannot move
 * the cursor of a terminal or recolour it. Colours and progress are for terminals only; there are
 * no colours if NO_COLOR is set and not empty, or if TERM is unset or `dumb`. Not thread-safe.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"

/* Prints `sandgate: …` on standard error. Control and bidirectional-control characters are shown as
 * \u{x}, so that the name of a file cannot forge a second message. */
void output_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints `sandgate: FILE:LINE:COL: what`; without LINE and COL if line is 0. */
void output_error_at(const char *file, size_t line, size_t column, struct str what);

/* s with control and bidirectional-control characters as \u{x}, and bytes that are not UTF-8 as
 * \x{x}. Absent if out of memory. */
struct str output_visible(struct arena *arena, struct str s);

enum output_colour { COLOUR_PLAIN = 0, COLOUR_GOOD, COLOUR_BAD, COLOUR_WARN, COLOUR_FAINT };

/* Prints s in a colour, or plain if the stream has no colours. */
void output_print(FILE *stream, enum output_colour colour, struct str s);

/* Prints s, made visible, and a line end on standard output. -ENOMEM, also if s is absent. */
int output_line(struct arena *arena, struct str s) __attribute__((warn_unused_result));

#define TABLE_MAX_COLUMNS 12
#define TABLE_MAX_CELLS ((size_t)10000000)

struct table_cell {
    struct str text;
    enum output_colour colour;
};

/* Rows are kept until table_print(), so that columns line up. The first row is the head. */
struct table {
    struct arena *arena; /* borrowed */
    size_t columns;
    struct table_cell *cells;
    size_t rows;
    size_t capacity; /* cells */
    int error;       /* sticky: 0, -ENOMEM or -E2BIG */
};

struct table table_make(struct arena *arena, size_t columns);
/* Copies as many cells as the table has columns; texts go through output_visible(). */
void table_add(struct table *table, const struct table_cell *cells);
/* 0; -ENOMEM; -E2BIG: more than TABLE_MAX_CELLS. */
int table_print(struct table *table, FILE *stream);

/* Prints `N of TOTAL what` on standard error, if it is a terminal, a few times a second. */
struct progress {
    const char *what;
    size_t total;
    size_t done;
    uint64_t next_msec; /* of clock_msec(): when the line is printed next */
};

void progress_step(struct progress *progress);

/* Removes the line: before anything else is printed to the terminal, and at the end. */
void progress_hide(void);

#endif
