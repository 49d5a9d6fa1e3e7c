/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_UTIL_LOG_H
#define WEBHOOK_UTIL_LOG_H

/*
 * log - the log of the program, one line per event, on standard error.
 *
 * JSON lines, or plain text if the stream is a terminal. Of documents and requests, only addresses
 * and results may be logged. A line is written with one write(2), so lines of several threads do
 * not mix. A line that cannot be written is lost, and the program continues.
 *
 * Errors     none.
 * Threads    any number.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "planner/base/text.h"

#define LOG_MAX_LINE_BYTES ((size_t)8 * 1024)

/* 0 is not a level. A log writes lines of its own level and of the levels before it. */
enum log_level {
    LOG_LEVEL_UNSET = 0,
    LOG_LEVEL_ERROR,
    LOG_LEVEL_WARN,
    LOG_LEVEL_INFO,
    LOG_LEVEL_DEBUG,
};

struct log {
    int fd;
    enum log_level level;
    bool text; /* plain text instead of JSON lines */
};

struct log_field {
    const char *name;
    struct str text; /* absent: the value is the number */
    int64_t number;
};

/* On standard error; plain text if it is a terminal. */
struct log log_open(enum log_level level);

/* Reads "error", "warn", "info" or "debug". On false, *ret_level is unchanged. */
bool log_read_level(struct str text, enum log_level *ret_level);

static inline bool log_wants(const struct log *log, enum log_level level)
{
    return level <= log->level;
}

void log_write(const struct log *log, enum log_level level, const char *message,
               const struct log_field *fields, size_t count) __attribute__((nonnull(1, 3)));

static inline struct log_field log_text(const char *name, struct str text)
{
    return (struct log_field){.name = name, .text = str_present(text) ? text : STR("")};
}

static inline struct log_field log_number(const char *name, int64_t number)
{
    return (struct log_field){.name = name, .number = number};
}

/* A line without and with fields. */
#define log_line(log, level, message) log_write(log, level, message, NULL, 0)
#define log_line_with(log, level, message, ...)                                                    \
    log_write(log, level, message, (const struct log_field[]){__VA_ARGS__},                        \
              sizeof((const struct log_field[]){__VA_ARGS__}) / sizeof(struct log_field))

#endif
