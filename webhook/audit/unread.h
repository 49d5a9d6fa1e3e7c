/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_AUDIT_UNREAD_H
#define WEBHOOK_AUDIT_UNREAD_H

/*
 * unread - what of a log could not be read, by kind, each with its first place. A log that cannot
 * be read is never an all-clear: unread_is_too_much() says when a command has to fail.
 *
 * Ownership  paths are borrowed.
 */

#include <stdbool.h>
#include <stdint.h>

#include "webhook/audit/event.h"
#include "webhook/audit/lines.h"

/* Percent of the lines of a file that may be unreadable beside readable ones. */
#define UNREAD_DEFAULT_PERCENT 5u
#define UNREAD_MAX_PERCENT 100u

enum unread_kind {
    UNREAD_BROKEN = 0, /* EVENT_BROKEN */
    UNREAD_TORN,       /* lines.torn */
    UNREAD_TOO_LONG,   /* lines.too_long */
    UNREAD_FOREIGN,    /* EVENT_FOREIGN */
    UNREAD_BARE_ENTRY, /* EVENT_BARE_ENTRY */
    UNREAD_KIND_COUNT,
};

struct unread_part {
    uint64_t number;
    const char *path; /* of the first one; NULL if there is none */
    uint64_t line;
};

struct unread {
    uint64_t readable; /* audit events and decisions */
    uint64_t own_log;  /* EVENT_LOG_LINE: neither readable nor unreadable */
    struct unread_part parts[UNREAD_KIND_COUNT];
};

/* Counts a text by its kind. */
void unread_count(struct unread *unread, enum event_kind kind, const char *path, uint64_t line)
    __attribute__((nonnull));
/* Adds what lines_next() skipped. To be called once, at the end of the file. */
void unread_take_lines(struct unread *unread, const struct lines *lines) __attribute__((nonnull));
/* Adds the counts of a later file. */
void unread_add(struct unread *sum, const struct unread *file) __attribute__((nonnull));

uint64_t unread_sum(const struct unread *unread) __attribute__((nonnull));
/* Whether the file has text, and none of it could be read. */
bool unread_is_everything(const struct unread *file) __attribute__((nonnull));
/* Whether that is so, or more than that percentage of its lines could not be read. */
bool unread_is_too_much(const struct unread *file, unsigned percent) __attribute__((nonnull));

#endif
