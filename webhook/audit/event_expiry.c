/* SPDX-License-Identifier: Apache-2.0 */
/* event_expiry - evidence and exemptions that end soon, as a log shows it. */

#include "planner/plan.h"
#include "planner/base/tree.h"
#include "webhook/answer/answer.h"
#include "webhook/audit/event.h"

#define WARNING_HEAD STR("sandgate: ends at ")
#define WARNING_MIDDLE STR(", sign it anew before: ")
#define UNTIL STR(" until=")

static struct str behind(struct str s, size_t n)
{
    return (struct str){s.ptr + n, s.len - n};
}

/* Up to the first blank: `payments/acme-report-1.4.0`. */
static struct str document_name(struct str text)
{
    const char *blank = text.len > 0 ? memchr(text.ptr, ' ', text.len) : NULL;

    return blank != NULL ? (struct str){text.ptr, (size_t)(blank - text.ptr)} : (struct str){0};
}

/* The warning that a user got (answer_message.c). */
static bool read_warning(struct str warning, struct event_expiry *expiry)
{
    size_t time_bytes = MOMENT_TEXT_BYTES - 1;
    struct str rest = warning;

    if (!str_starts_with(rest, WARNING_HEAD))
        return false;
    rest = behind(rest, WARNING_HEAD.len);
    if (rest.len < time_bytes || !moment_read((struct str){rest.ptr, time_bytes}, &expiry->at))
        return false;
    rest = behind(rest, time_bytes);
    if (!str_starts_with(rest, WARNING_MIDDLE))
        return false;
    rest = behind(rest, WARNING_MIDDLE.len);
    expiry->kind = document_name(rest);
    if (!str_present(expiry->kind))
        return false;
    expiry->name = behind(rest, expiry->kind.len + 1);
    return true;
}

static bool is_soon(const struct event *event, struct moment at)
{
    return event->timed && moment_compare(at, event->time) >= 0 &&
           moment_compare(at, moment_add_seconds(event->time, GATE_EXPIRY_WARNING_SEC)) <= 0;
}

static bool exemption_ends(const struct event *event, struct event_expiry *expiry)
{
    struct str text = event->exemption, name = document_name(text);

    for (size_t i = 0; str_present(name) && i + UNTIL.len < text.len; i++) {
        if (!str_starts_with(behind(text, i), UNTIL))
            continue;
        expiry->kind = STR("exemption");
        expiry->name = name;
        return moment_read(behind(text, i + UNTIL.len), &expiry->at) && is_soon(event, expiry->at);
    }
    return false;
}

static bool evidence_ages(const struct event *event, struct event_expiry *expiry)
{
    const cJSON *input = event->input_tree;
    struct str observed =
        tree_get_text(tree_get(tree_get(input, "workload"), "requirements"), "observed_at");
    const cJSON *given = tree_get(input, "max_age_days");
    int days = PLAN_DEFAULT_AGE_DAYS;
    struct moment at = {0};

    expiry->kind = STR("evidence");
    expiry->name = document_name(event->evidence);
    if (!str_present(expiry->name) || !moment_read(str_trim(observed), &at) ||
        (given != NULL && !plan_read_max_age(given, &days)))
        return false;
    expiry->at = moment_add_seconds(at, days * MOMENT_SECONDS_PER_DAY);
    return is_soon(event, expiry->at);
}

size_t event_expiries(const struct event *event,
                      struct event_expiry ret_expiries[static EVENT_MAX_EXPIRIES])
{
    size_t count = 0;

    for (size_t i = 0; i < event->warnings.count && count < EVENT_MAX_EXPIRIES; i++)
        count += read_warning(event->warnings.items[i], &ret_expiries[count]);
    /* a record has said it all; an audit event has no warnings */
    if (event->kind == EVENT_RECORD)
        return count;
    count += exemption_ends(event, &ret_expiries[count]);
    count += evidence_ages(event, &ret_expiries[count]);
    return count;
}
