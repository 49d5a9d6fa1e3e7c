/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_CLI_OPTIONS_H
#define WEBHOOK_CLI_OPTIONS_H

/*
 * options - the command line of one subcommand. One table describes both the options that are read
 * and their --help text.
 *
 * Errors     options_read() reports an error on standard error; the caller only returns.
 * Ownership  texts are borrowed from argv.
 */

#include <stdbool.h>
#include <stddef.h>

/* Values of an option that may be given several times, in their order. */
struct option_texts {
    const char **items; /* in the arena given to options_read() */
    size_t count;
};

enum option_kind {
    OPTION_FLAG = 0, /* target.flag */
    OPTION_TEXT,     /* target.text; an error if given twice */
    OPTION_TEXTS,    /* target.texts */
    OPTION_CHOICE,   /* target.choice: index into choices */
};

struct option_row {
    const char *name; /* long, without dashes */
    char letter;      /* short; 0: none */
    enum option_kind kind;
    const char *value;          /* name of the value in --help; NULL for flags and choices */
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
    const char *arguments; /* shown after the options, as "FILE…"; "" for none */
    const char *about;     /* what the command does */
    const char *statuses;  /* its exit statuses */
    const char *example;   /* lines that begin with two blanks and "sandgate" */
    const struct option_row *rows;
    size_t row_count;
};

#define OPTIONS_MAX_ROWS 16

/* The arguments after the options. */
struct operands {
    char **items;
    size_t count;
};

enum options_result {
    OPTIONS_WRONG = 0, /* the error is reported: exit with COMMAND_FAILED */
    OPTIONS_HELPED,    /* --help was printed: exit with COMMAND_YES */
    OPTIONS_READ,
};

struct arena;

enum options_result options_read(const struct options *options, int argc, char **argv,
                                 struct arena *arena, struct operands *ret_operands)
    __attribute__((warn_unused_result, nonnull));

/* The exit status for a result other than OPTIONS_READ. */
int options_status(enum options_result result);

/* Reports an error and refers to --help; returns COMMAND_FAILED. */
int options_refuse(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
