/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_CLI_OPTIONS_H
#define WEBHOOK_CLI_OPTIONS_H

/*
 * options - the command line of one subcommand: a table gives both what is read and --help.
 *
 * Errors     options_read() says on standard error what is wrong, so its caller only returns.
 * Ownership  texts are borrowed from argv.
 */

#include <stdbool.h>
#include <stddef.h>

/* Values of an option that may be given several times, in their order. */
struct option_texts {
    const char **items; /* in the line's arena */
    size_t count;
};

enum option_kind {
    OPTION_FLAG = 0, /* target.flag */
    OPTION_TEXT,     /* target.text; given twice is refused */
    OPTION_TEXTS,    /* target.texts */
    OPTION_CHOICE,   /* target.choice: index into choices */
};

struct option_row {
    const char *name; /* long, without dashes */
    char letter;      /* short; 0: none */
    enum option_kind kind;
    const char *value;          /* what --help calls the value; NULL for flags and choices */
    const char *const *choices; /* ends with NULL */
    const char *help;
    union {
        bool *flag;
        const char **text;
        struct option_texts *texts;
        unsigned *choice;
    } target;
};

struct options {
    const char *arguments; /* "FILE…" behind the options; "" for none */
    const char *about;     /* what the command does */
    const char *statuses;  /* what its exit statuses mean */
    const char *example;
    const struct option_row *rows;
    size_t row_count;
};

#define OPTIONS_MAX_ROWS 16

/* What stands behind the options. */
struct operands {
    char **items;
    size_t count;
};

enum options_result {
    OPTIONS_WRONG = 0, /* said what is wrong: end with COMMAND_FAILED */
    OPTIONS_HELPED,    /* showed --help: end with COMMAND_YES */
    OPTIONS_READ,
};

struct arena;

enum options_result options_read(const struct options *options, int argc, char **argv,
                                 struct arena *arena, struct operands *ret_operands)
    __attribute__((warn_unused_result, nonnull));

/* With which status a command ends where its options were not simply read. */
int options_status(enum options_result result);

/* Complains with a pointer to --help; the value of COMMAND_FAILED. */
int options_refuse(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
