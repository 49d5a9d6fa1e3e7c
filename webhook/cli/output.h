/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_CLI_OUTPUT_H
#define WEBHOOK_CLI_OUTPUT_H

/*
 * output - what people see: messages, tables, colours, progress.
 *
 * Text from outside (names, reasons) goes through output_visible(), so that a manifest cannot move
 * the cursor of whoever reads the table. Colours and progress appear on a terminal only, and no
 * colour where NO_COLOR is set to anything or TERM is `dumb`. Not thread-safe.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"

/* `sandgate: …` on standard error. Control and bidirectional-control characters are shown as
 * \u{x}, so a name of a file cannot forge a second message. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* `sandgate: FILE:LINE:COL: what`; without a place where line is 0. */
void complain_at(const char *file, size_t line, size_t column, struct str what);

/* s without what moves a terminal: such characters as \u{x}, bytes that are no UTF-8 as \x{x}. An
 * absent text on failure. */
struct str output_visible(struct arena *arena, struct str s);

enum output_colour { COLOUR_PLAIN = 0, COLOUR_GOOD, COLOUR_BAD, COLOUR_WARN, COLOUR_FAINT };

/* Whether that stream gets colours. */
bool output_has_colours(FILE *stream);

/* s in a colour where the stream gets colours, else as it is. */
void output_print(FILE *stream, enum output_colour colour, struct str s);

#define TABLE_MAX_COLUMNS 12

struct table_cell {
    struct str text;
    enum output_colour colour;
};

/* Rows are kept until they are printed, so that columns line up. The first row is the head. */
struct table {
    struct arena *arena; /* borrowed */
    size_t columns;
    struct table_cell *cells;
    size_t rows;
    size_t room; /* rows */
    int error;   /* sticky: 0 or -ENOMEM */
};

struct table table_make(struct arena *arena, size_t columns);
/* Copies as many cells as the table has columns; texts are made visible. */
void table_add(struct table *table, const struct table_cell *cells);
/* 0 or -ENOMEM */
int table_print(struct table *table, FILE *stream);

/* `N of TOTAL what` on standard error, on a terminal, a few times a second. */
struct progress {
    const char *what;
    size_t total;
    size_t done;
    uint64_t next_msec; /* when the line is written next */
};

void progress_step(struct progress *progress);

/* Takes the line away, before anything else is written to the terminal and at the end. */
void progress_hide(void);

#endif
