/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_expiry - which documents in use end soon, as an event shows it.
 *
 * A decision log says it in the member `expiring`. Audit logs, and decision logs of gates that did
 * not write that member, have the annotations `exemption` and `input`, which give the end of an
 * exemption and the end of the age of evidence. The expires_at of evidence is in neither: where a
 * record carries the warning that the client got, the warning gives it.
 */

#include <assert.h>

#include "planner/base/tree.h"
#include "planner/plan.h"
#include "webhook/answer/answer.h"
#include "webhook/answer/expiry.h"
#include "webhook/audit/event.h"

#define UNTIL STR(" until=")

/* The part up to the first blank: `payments/acme-report-1.4.0`. Absent without a blank. */
static struct str document_name(struct str text)
{
    const char *blank = text.len > 0 ? memchr(text.ptr, ' ', text.len) : NULL;

    return blank != NULL ? (struct str){text.ptr, (size_t)(blank - text.ptr)} : (struct str){0};
}

static bool is_soon(const struct event *event, struct moment at)
{
    return event->timed && moment_compare(at, event->time) >= 0 &&
           moment_compare(at, moment_add_seconds(event->time, GATE_EXPIRY_WARNING_SEC)) <= 0;
}

/* `<namespace>/<name> sha256:<hex> keys=<id>,… until=<expires_at>` */
static bool exemption_expires(const struct event *event, struct event_expiry *expiry)
{
    struct str rest = event->exemption, name = document_name(rest);

    if (!str_present(name))
        return false;
    while (rest.len > 0 && !str_starts_with(rest, UNTIL)) {
        rest.ptr++;
        rest.len--;
    }
    if (rest.len == 0)
        return false;
    expiry->kind = STR("exemption");
    expiry->name = name;
    return moment_read((struct str){rest.ptr + UNTIL.len, rest.len - UNTIL.len}, &expiry->at) &&
           is_soon(event, expiry->at);
}

/* The end of the age: observed_at and max_age_days of the planner's input. */
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

/* The gate warns of the earlier of expires_at and the end of the age, so of two ends of one
 * document the earlier one is right. */
static size_t add_earlier(struct event_expiry expiry,
                          struct event_expiry expiries[static EVENT_MAX_EXPIRIES], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct event_expiry *known = &expiries[i];

        if (!str_equal(known->kind, expiry.kind) || !str_equal(known->name, expiry.name))
            continue;
        if (moment_compare(expiry.at, known->at) < 0)
            known->at = expiry.at;
        return count;
    }
    if (count == EVENT_MAX_EXPIRIES)
        return count;
    expiries[count] = expiry;
    return count + 1;
}

static size_t copy_expiring(const struct event *event,
                            struct event_expiry ret_expiries[static EVENT_MAX_EXPIRIES])
{
    assert(event->expiring_count <= EVENT_MAX_EXPIRIES);
    memcpy(ret_expiries, event->expiring, event->expiring_count * sizeof(*ret_expiries));
    return event->expiring_count;
}

size_t event_expiries(const struct event *event,
                      struct event_expiry ret_expiries[static EVENT_MAX_EXPIRIES])
{
    struct event_expiry expiry = {0};
    struct answer_expiry warned = {0};
    size_t count = 0;

    if (event->expiring_count > 0)
        return copy_expiring(event, ret_expiries);
    if (exemption_expires(event, &expiry))
        count = add_earlier(expiry, ret_expiries, count);
    if (evidence_ages(event, &expiry))
        count = add_earlier(expiry, ret_expiries, count);
    for (size_t i = 0; i < event->warnings.count; i++) {
        if (!answer_expiry_read(event->warnings.items[i], &warned))
            continue;
        expiry = (struct event_expiry){warned.kind, warned.name, warned.at};
        count = add_earlier(expiry, ret_expiries, count);
    }
    return count;
}
