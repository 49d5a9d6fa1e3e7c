/* SPDX-License-Identifier: Apache-2.0 */
/* unreadable - the exit status and the messages for text that cannot be read. */

#include "webhook/commands/unreadable.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "webhook/cli/options.h"
#include "webhook/cli/output.h"
#include "webhook/commands/commands.h"

bool unreadable_read_percent(const char *command, const char *text, unsigned *ret_percent)
{
    uint64_t percent = UNREAD_DEFAULT_PERCENT;

    if (text != NULL && !text_read_number(str_of(text), 0, UNREAD_MAX_PERCENT, &percent)) {
        (void)options_refuse(command, "--" UNREADABLE_OPTION " must be a number from 0 to 100");
        return false;
    }
    *ret_percent = (unsigned)percent;
    return true;
}

int unreadable_judge(const struct unread *file, const char *path, unsigned percent)
{
    uint64_t sum = unread_sum(file);

    if (!unread_is_too_much(file, percent))
        return COMMAND_YES;
    if (unread_is_everything(file))
        output_error("%s: nothing in it could be read as an audit event or a decision", path);
    else
        output_error("%s: %" PRIu64 " of %" PRIu64 " lines could not be read, more than %u percent",
                     path, sum, sum + file->readable, percent);
    return COMMAND_FAILED;
}

void unreadable_report(const struct lines *lines, const char *path, int error)
{
    if (error == -EBADMSG)
        output_error("%s: the compressed data is damaged; events before the damage are counted",
                     path);
    else if (error == -ENOTSUP && lines->format != NULL)
        output_error("%s: the file is %s, which is not read: convert it first", path,
                     lines->format);
    else
        output_error("%s: %s", path, error == -ENOMEM ? "out of memory" : strerror(-error));
}

void unreadable_print(const struct unread *unread)
{
    static const char bare_entries[] =
        "audit entries of Google Cloud without the labels that hold the gate's annotations: read "
        "its decision log";
    static const char *const what[UNREAD_KIND_COUNT] = {
        [UNREAD_BROKEN] = "lines cannot be read",
        [UNREAD_TORN] = "lists or compressed files that end too early",
        [UNREAD_TOO_LONG] = "lines longer than 16 MiB, skipped",
        [UNREAD_FOREIGN] = "lines that are neither audit events nor decisions",
        [UNREAD_BARE_ENTRY] = bare_entries,
    };

    for (size_t i = 0; i < UNREAD_KIND_COUNT; i++) {
        const struct unread_part *part = &unread->parts[i];

        if (part->number > 0)
            output_error("%" PRIu64 " %s, the first is %s:%" PRIu64, part->number, what[i],
                         part->path, part->line);
    }
}
