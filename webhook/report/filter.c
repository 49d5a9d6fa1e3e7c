/* SPDX-License-Identifier: Apache-2.0 */
/* filter - decides which events become rows. */

#include "webhook/report/internal.h"

/* Compares the whole text, or, if the pattern ends with `*`, its beginning. */
static bool fits(struct str pattern, struct str text)
{
    if (pattern.len > 0 && pattern.ptr[pattern.len - 1] == '*')
        return str_starts_with(text, (struct str){pattern.ptr, pattern.len - 1});
    return str_equal(pattern, text);
}

static bool fits_any(struct str_list patterns, struct str text)
{
    for (size_t i = 0; i < patterns.count; i++) {
        if (fits(patterns.items[i], text))
            return true;
    }
    return false;
}

static bool has_finding(struct str_list patterns, const struct event *event)
{
    for (size_t i = 0; i < event->finding_count; i++) {
        if (fits_any(patterns, event->findings[i].code))
            return true;
    }
    return false;
}

static bool has_image(struct str_list parts, const struct event *event)
{
    for (size_t i = 0; i < event->images.count; i++) {
        for (size_t k = 0; k < parts.count; k++) {
            if (str_contains(event->images.items[i], parts.items[k]))
                return true;
        }
    }
    return false;
}

static bool in_time(const struct report_filter *filter, const struct event *event)
{
    if (!filter->has_since && !filter->has_until)
        return true;
    if (!event->timed)
        return false;
    return (!filter->has_since || moment_compare(event->time, filter->since) >= 0) &&
           (!filter->has_until || moment_compare(event->time, filter->until) < 0);
}

bool report_passes_around(const struct report_filter *f, const struct event *event)
{
    if (f->namespaces.count > 0 && !str_list_has(f->namespaces, event->namespace_name))
        return false;
    if (f->users.count > 0 && !fits_any(f->users, event->user))
        return false;
    if (f->workloads.count > 0 && !fits_any(f->workloads, event->workload) &&
        !fits_any(f->workloads, event->name))
        return false;
    return (f->images.count == 0 || has_image(f->images, event)) && in_time(f, event);
}

bool report_passes(const struct report_filter *f, const struct event *event)
{
    if (event->verdict == EVENT_ALLOWED && !f->allowed && f->outcomes.count == 0)
        return false;
    if (f->outcomes.count > 0 && !str_list_has(f->outcomes, event->outcome))
        return false;
    if (f->findings.count > 0 && !has_finding(f->findings, event))
        return false;
    return report_passes_around(f, event);
}
