/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_COMMANDS_UNREADABLE_H
#define WEBHOOK_COMMANDS_UNREADABLE_H

/*
 * unreadable - what `review` and `replay` do about text that cannot be read: the option
 * --max-unreadable, the exit status, and the messages on standard error.
 */

#include "webhook/audit/unread.h"

#define UNREADABLE_OPTION "max-unreadable"
#define UNREADABLE_HELP "exit with 2 if more of a file's lines cannot be read (default: 5)"
#define UNREADABLE_STATUS                                                                          \
    "  2  a file cannot be read (the others are shown), nothing in it can be understood, more\n"   \
    "     of its lines cannot be read than --max-unreadable"

/* The option's row for options_read(). */
#define UNREADABLE_ROW(destination)                                                                \
    {                                                                                              \
        .name = UNREADABLE_OPTION, .kind = OPTION_TEXT, .value = "PERCENT",                        \
        .target.text = (destination), .help = UNREADABLE_HELP                                      \
    }

/* text: the value of the option; NULL is the default. False: the error is reported. */
bool unreadable_read_percent(const char *command, const char *text, unsigned *ret_percent)
    __attribute__((warn_unused_result, nonnull(1, 3)));

/* COMMAND_FAILED if too little of the file could be read; it is reported. */
int unreadable_judge(const struct unread *file, const char *path, unsigned percent)
    __attribute__((warn_unused_result, nonnull));

/* Reports the error of lines_open() or lines_next(). */
void unreadable_report(const struct lines *lines, const char *path, int error)
    __attribute__((nonnull));

/* Reports each kind with its number and the place of the first one. */
void unreadable_print(const struct unread *unread) __attribute__((nonnull));

#endif
