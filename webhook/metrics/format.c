/* SPDX-License-Identifier: Apache-2.0 */
/* format - writes the lines that metrics.c, reviews.c, evidence.c and watch.c share. See format.h.
 */

#include "webhook/metrics/format.h"

#include <inttypes.h>

void metrics_write_head(struct buffer *b, const char *name, const char *type, const char *help)
{
    buffer_add_format(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void metrics_write_gauge(struct buffer *b, const char *name, const char *help, int64_t value)
{
    metrics_write_head(b, name, "gauge", help);
    buffer_add_format(b, "%s %" PRId64 "\n", name, value);
}

void metrics_write_counter(struct buffer *b, const char *name, const char *help, uint64_t value)
{
    metrics_write_head(b, name, "counter", help);
    buffer_add_format(b, "%s %" PRIu64 "\n", name, value);
}
