/* SPDX-License-Identifier: Apache-2.0 */
/* unread - counts what of a log could not be read. */

#include "webhook/audit/unread.h"

static void add_part(struct unread_part *part, uint64_t number, const char *path, uint64_t line)
{
    if (number > 0 && part->number == 0) {
        part->path = path;
        part->line = line;
    }
    part->number += number;
}

void unread_count(struct unread *unread, enum event_kind kind, const char *path, uint64_t line)
{
    switch (kind) {
    case EVENT_BROKEN:
        add_part(&unread->parts[UNREAD_BROKEN], 1, path, line);
        break;
    case EVENT_FOREIGN:
        add_part(&unread->parts[UNREAD_FOREIGN], 1, path, line);
        break;
    case EVENT_BARE_ENTRY:
        add_part(&unread->parts[UNREAD_BARE_ENTRY], 1, path, line);
        break;
    case EVENT_LOG_LINE:
        unread->own_log++;
        break;
    case EVENT_OTHER:
    case EVENT_AUDIT:
    case EVENT_RECORD:
        unread->readable++;
        break;
    case EVENT_BLANK:
        break;
    }
}

void unread_take_lines(struct unread *unread, const struct lines *lines)
{
    add_part(&unread->parts[UNREAD_TORN], lines->torn, lines->path, lines->first_torn);
    add_part(&unread->parts[UNREAD_TOO_LONG], lines->too_long, lines->path, lines->first_too_long);
}

void unread_add(struct unread *sum, const struct unread *file)
{
    sum->readable += file->readable;
    sum->own_log += file->own_log;
    for (size_t i = 0; i < UNREAD_KIND_COUNT; i++)
        add_part(&sum->parts[i], file->parts[i].number, file->parts[i].path, file->parts[i].line);
}

uint64_t unread_sum(const struct unread *unread)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < UNREAD_KIND_COUNT; i++)
        sum += unread->parts[i].number;
    return sum;
}

bool unread_is_everything(const struct unread *file)
{
    return file->readable == 0 && (file->own_log > 0 || unread_sum(file) > 0);
}

bool unread_is_too_much(const struct unread *file, unsigned percent)
{
    uint64_t sum = unread_sum(file);

    return unread_is_everything(file) || sum * 100 > (sum + file->readable) * percent;
}
