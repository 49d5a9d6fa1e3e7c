/* report_html - a report as one page that stands alone. Its place; the page is not made yet. */

#include <errno.h>

#include "webhook/report.h"

bool report_has_html(void)
{
    return false;
}

int report_html(const struct report *report, FILE *stream)
{
    (void)report;
    (void)stream;
    return -ENOSYS;
}
