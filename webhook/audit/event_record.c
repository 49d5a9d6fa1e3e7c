/* SPDX-License-Identifier: Apache-2.0 */
/* event_record - reads a line of the decision log (webhook/record/record.h). */

#include <errno.h>

#include "planner/base/tree.h"
#include "webhook/audit/event_internal.h"

static const struct document_shape texts_shape[] = {{.key = "*"}, {0}};
static const struct document_shape owner_shape[] = {{.key = "kind"}, {.key = "name"}, {0}};
static const struct document_shape levels_shape[] = {
    {.key = "enforce"}, {.key = "warn"}, {.key = "audit"}, {0}};
static const struct document_shape finding_shape[] = {
    {.key = "code"}, {.key = "message"}, {.key = "place"}, {0}};
static const struct document_shape findings_shape[] = {{.key = "*", .members = finding_shape}, {0}};
static const struct document_shape expiry_shape[] = {
    {.key = "kind"}, {.key = "name"}, {.key = "endsAt"}, {0}};
static const struct document_shape expiring_shape[] = {{.key = "*", .members = expiry_shape}, {0}};

const struct document_shape event_record_shape[] = {{.key = "time"},
                                                    {.key = "uid"},
                                                    {.key = "dryRun"},
                                                    {.key = "operation"},
                                                    {.key = "kind"},
                                                    {.key = "namespace"},
                                                    {.key = "name"},
                                                    {.key = "generateName"},
                                                    {.key = "user"},
                                                    {.key = "owner", .members = owner_shape},
                                                    {.key = "images", .members = texts_shape},
                                                    {.key = "levels", .members = levels_shape},
                                                    {.key = "allowed"},
                                                    {.key = "outcome"},
                                                    {.key = "message"},
                                                    {.key = "warnings", .members = texts_shape},
                                                    {.key = "findings", .members = findings_shape},
                                                    {.key = "packet", .whole = true},
                                                    {.key = "packetSha256"},
                                                    {.key = "packetTruncated"},
                                                    {.key = "input", .whole = true},
                                                    {.key = "boundary", .whole = true},
                                                    {.key = "evidence"},
                                                    {.key = "exemption"},
                                                    {.key = "violations"},
                                                    {.key = "error"},
                                                    {.key = "subject"},
                                                    {.key = "expiring", .members = expiring_shape},
                                                    {0}};

static int take_names(const cJSON *tree, struct arena *arena, struct event *event)
{
    struct str owner = tree_get_text(tree_get(tree, "owner"), "name");
    struct str generated = tree_get_text(tree, "generateName");

    event->namespace_name = tree_get_text(tree, "namespace");
    event->object_kind = tree_get_text(tree, "kind");
    event->name = tree_get_text(tree, "name");
    event->workload = event->name;
    if (event->name.len == 0 && generated.len > 0) {
        event->name = arena_format(arena, "%.*s*", (int)generated.len, generated.ptr);
        if (!str_present(event->name))
            return -ENOMEM;
    }
    event_take_subject(tree_get_text(tree, "subject"), event);
    if (generated.len > 0)
        event_take_generated(event);
    if (owner.len > 0)
        event->workload = owner;
    return 0;
}

static int take_levels(const cJSON *levels, struct arena *arena, struct event *event)
{
    static const char *const names[] = {"enforce", "warn", "audit"};
    struct str text = STR("");

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct str level = tree_get_text(levels, names[i]);

        if (level.len == 0)
            continue;
        text = arena_format(arena, "%.*s%s%s=%.*s", (int)text.len, text.ptr,
                            text.len > 0 ? " " : "", names[i], (int)level.len, level.ptr);
        if (!str_present(text))
            return -ENOMEM;
    }
    event->level = text;
    return 0;
}

static int take_plan(const cJSON *tree, struct arena *arena, struct event *event)
{
    const cJSON *packet = tree_get(tree, "packet"), *input = tree_get(tree, "input");
    int r = event_take_findings(tree_get(tree, "findings"), packet, arena, event);

    if (tree_is(packet, cJSON_Object))
        event->packet_tree = packet;
    if (r == 0 && event->packet_tree != NULL)
        r = event_write_tree(packet, arena, &event->packet);
    if (r == 0 && tree_is(input, cJSON_Object)) {
        event->input_tree = input;
        r = event_write_tree(input, arena, &event->input);
    }
    event->packet_sha256 = tree_get_text(tree, "packetSha256");
    event->packet_truncated = tree_is(tree_get(tree, "packetTruncated"), cJSON_True);
    return r;
}

static int take_boundary(const cJSON *boundary, struct arena *arena, struct event *event)
{
    if (boundary == NULL)
        return 0;
    event_take_boundary(boundary, event);
    return event->boundary.state == EVENT_BOUNDARY_READ
               ? event_write_tree(boundary, arena, &event->boundary_json)
               : 0;
}

/* Entries that cannot be read, and those beyond the limit, are ignored: the gate writes at most
 * two. */
static void take_expiring(const cJSON *list, struct event *event)
{
    if (!tree_is(list, cJSON_Array))
        return;
    for (const cJSON *item = list->child;
         item != NULL && event->expiring_count < EVENT_MAX_EXPIRIES; item = item->next) {
        struct event_expiry expiry = {
            .kind = tree_get_text(item, "kind"),
            .name = tree_get_text(item, "name"),
        };

        if (expiry.kind.len > 0 && expiry.name.len > 0 &&
            moment_read(tree_get_text(item, "endsAt"), &expiry.at))
            event->expiring[event->expiring_count++] = expiry;
    }
}

static enum event_verdict verdict(bool allowed, struct str outcome)
{
    if (!allowed)
        return EVENT_DENIED;
    return event_outcome_blocks(outcome) ? EVENT_VIOLATES : EVENT_ALLOWED;
}

/* Denials without a decision: only the request is known (record.h). */
static bool is_unanswered(struct str outcome)
{
    return str_equal(outcome, STR(EVENT_UNAVAILABLE)) || str_equal(outcome, STR(EVENT_TIMEOUT));
}

int event_of_record(const cJSON *tree, struct arena *arena, struct events *events,
                    enum event_kind *ret_kind)
{
    struct event *event = &events->items[0];
    const cJSON *allowed = tree_get(tree, "allowed");
    int r = 0;

    *event = (struct event){
        .kind = EVENT_RECORD,
        .id = tree_get_text(tree, "uid"),
        .time_text = tree_get_text(tree, "time"),
        .dry_run = tree_is(tree_get(tree, "dryRun"), cJSON_True),
        .operation = tree_get_text(tree, "operation"),
        .user = tree_get_text(tree, "user"),
        .outcome = tree_get_text(tree, "outcome"),
        .evidence = tree_get_text(tree, "evidence"),
        .exemption = tree_get_text(tree, "exemption"),
        .violations = tree_get_text(tree, "violations"),
        .error = tree_get_text(tree, "error"),
        .message = tree_get_text(tree, "message"),
    };
    if (!(event_outcome_known(event->outcome) || is_unanswered(event->outcome)) ||
        (!tree_is(allowed, cJSON_True) && !tree_is(allowed, cJSON_False)))
        return -EBADMSG;
    event->verdict = verdict(tree_is(allowed, cJSON_True), event->outcome);
    event->timed = moment_read(event->time_text, &event->time);
    take_expiring(tree_get(tree, "expiring"), event);
    r = take_names(tree, arena, event);
    if (r == 0)
        r = take_levels(tree_get(tree, "levels"), arena, event);
    if (r == 0)
        r = take_plan(tree, arena, event);
    if (r == 0)
        r = take_boundary(tree_get(tree, "boundary"), arena, event);
    if (r == 0)
        r = event_take_texts(tree_get(tree, "images"), EVENT_MAX_IMAGES, arena, &event->images);
    if (r == 0)
        r = event_take_texts(tree_get(tree, "warnings"), EVENT_MAX_WARNINGS, arena,
                             &event->warnings);
    if (r == 0) {
        events->count = 1;
        *ret_kind = EVENT_RECORD;
    }
    return r;
}
