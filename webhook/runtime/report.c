/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report - collects the reasons and warnings of one start or reload.
 *
 * Apart from runtime.c, so that the sources of evidence do not depend on the file that calls them.
 */

#include "webhook/runtime/internal.h"

#include <assert.h>
#include <errno.h>

int runtime_report_add(struct runtime_report *report, struct str reason)
{
    assert(report->reason_count <= RUNTIME_MAX_REASONS);
    if (!str_present(reason))
        return -ENOMEM;
    if (report->reason_count < RUNTIME_MAX_REASONS)
        report->reasons[report->reason_count++] = reason;
    return 0;
}

int runtime_report_warn(struct runtime_report *report, const char *title, struct str reason)
{
    assert(report->warning_count <= RUNTIME_MAX_WARNINGS);
    if (!str_present(reason))
        return -ENOMEM;
    if (report->warning_count < RUNTIME_MAX_WARNINGS)
        report->warnings[report->warning_count++] =
            (struct runtime_warning){.title = title, .reason = reason};
    return 0;
}

void runtime_report_done(struct runtime_report *report)
{
    arena_wipe(&report->arena); /* the credentials of a kubeconfig are read into it */
    report->reason_count = report->warning_count = 0;
}
