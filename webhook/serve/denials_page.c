/* SPDX-License-Identifier: Apache-2.0 */
/* denials_page - makes a report of the denials that are in memory. See denials_page.h. */

#include "webhook/serve/denials_page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "webhook/report/report.h"

/* A record is read as `review` reads it, so there is one way to show a denial. */
static int add_line(struct report *report, struct str line)
{
    struct arena cleanup_arena arena = {0};
    const struct report_row *row = NULL;
    struct events events = {0};
    enum event_kind kind = EVENT_BLANK;
    bool passed = false;
    int r = event_read(line, &arena, &events, &kind);

    for (size_t i = 0; r == 0 && i < events.count; i++)
        r = report_add(report, &events.items[i], &arena, &row, &passed);
    return r;
}

static int write_html(const struct report *report, struct arena *arena, struct str *ret_html)
{
    char *text = NULL, *copy = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&text, &len);
    int r = stream != NULL ? report_html(report, stream) : -ENOMEM;

    if (stream != NULL && fclose(stream) != 0 && r == 0)
        r = -ENOMEM;
    if (r == 0) {
        copy = arena_copy(arena, (struct str){.ptr = text, .len = len});
        r = copy != NULL ? 0 : -ENOMEM;
    }
    free(text);
    if (r == 0)
        *ret_html = (struct str){.ptr = copy, .len = len};
    return r;
}

int denials_page_write(const struct denials_view *view, struct moment now, struct arena *arena,
                       struct str *ret_html)
{
    struct report *report = calloc(1, sizeof(*report));
    int r = report != NULL ? report_init(report) : -ENOMEM;

    if (r == 0) {
        report->replay = true;
        report->made_at = now;
        for (size_t i = 0; r == 0 && i < view->count; i++)
            r = add_line(report, record_line_text(view->lines[i]));
        if (r == 0) {
            report_finish(report);
            r = write_html(report, arena, ret_html);
        }
    }
    if (report != NULL)
        report_done(report);
    free(report);
    return r;
}
