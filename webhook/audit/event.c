/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event - recognises what a line of a log is, and reads the decisions in it. event_audit.c reads
 * audit events, event_record.c lines of the decision log, event_parts.c what both have,
 * event_expiry.c the documents that end soon.
 */

#include "webhook/audit/event.h"

#include <errno.h>

#include "k8s/document/json_skip.h"
#include "planner/base/tree.h"
#include "webhook/audit/event_internal.h"

#define GLANCE_BYTES ((size_t)256) /* API servers write kind and apiVersion within them */
#define GROUP "audit.k8s.io"
#define RECORD_KEY "\"sandgate.decision.v1\""
#define MAX_NODES 20000u /* of one event, without the members that are not read */

/* Letters written as \u006f: no server writes them, but someone who hides an event could. */
static bool has_escaped_letter(struct str s)
{
    const char *p = s.ptr, *end = s.ptr + s.len;

    while (p < end && (p = memchr(p, '\\', (size_t)(end - p))) != NULL) {
        if (end - p >= 5 && memcmp(p, "\\u00", 4) == 0 && (p[4] == '6' || p[4] == '7'))
            return true;
        p += 2;
    }
    return false;
}

static bool looks_whole(struct str s)
{
    return s.len >= 2 && s.ptr[0] == '{' && s.ptr[s.len - 1] == '}';
}

/* As log_write() begins a line. `kubectl logs` mixes them with the decision log. */
static bool is_log_line(struct str s)
{
    struct str head = {s.ptr, s.len < GLANCE_BYTES ? s.len : GLANCE_BYTES};

    return str_starts_with(head, STR("{\"time\":\"")) &&
           str_contains(head, STR("\",\"level\":\"")) &&
           str_contains(head, STR("\",\"message\":\""));
}

static enum event_kind foreign_kind(struct str s)
{
    if (is_log_line(s))
        return EVENT_LOG_LINE;
    return str_contains(s, STR("\"protoPayload\"")) ? EVENT_BARE_ENTRY : EVENT_FOREIGN;
}

bool event_may_matter(struct str text, enum event_kind *ret_kind)
{
    struct str s = str_trim(text);
    struct str head = {s.ptr, s.len < GLANCE_BYTES ? s.len : GLANCE_BYTES};

    if (str_contains(s, STR("outcome")) || (s.len > 0 && has_escaped_letter(s)))
        return true;
    if (s.len == 0)
        *ret_kind = EVENT_BLANK;
    else if (!looks_whole(s))
        *ret_kind = EVENT_BROKEN;
    else if (str_contains(head, STR(GROUP)) || str_contains(s, STR(GROUP)))
        *ret_kind = EVENT_OTHER;
    else
        *ret_kind = foreign_kind(s);
    return false;
}

static const struct document_shape what_shape[] = {
    {.key = "schema"}, {.key = "kind"}, {.key = "apiVersion"}, {0}};

static int read_tree(struct str text, const struct document_shape *shape, struct arena *arena,
                     cJSON **ret_tree)
{
    const struct document_options options = {
        .syntax = DOCUMENT_JSON,
        .rules = DOCUMENT_REVIEW,
        .shape = shape,
        .max_nodes = MAX_NODES,
    };
    struct document_error error = {0};

    return document_read(text, &options, arena, ret_tree, &error);
}

static bool is_body(struct str key)
{
    return str_equal(key, STR("\"requestObject\"")) || str_equal(key, STR("\"responseObject\""));
}

/*
 * A copy of the event with null in place of the objects in it. The log holds a patch as its sender
 * wrote it: a sender of duplicate keys or invalid UTF-8 must not make the event unreadable.
 */
static char *without_bodies(struct str s, struct arena *arena, size_t *ret_len)
{
    char *out = arena_alloc(arena, s.len + 1, 1);
    size_t n = 0, i = 0;

    if (out == NULL)
        return NULL;
    i = json_skip_blanks(s, 0);
    while (i < s.len) {
        size_t key = json_skip_blanks(s, i + 1), key_end = key, value = 0, end = 0;

        if (key >= s.len || s.ptr[key] != '"')
            break;
        (void)json_skip_string(s, &key_end);
        value = json_skip_blanks(s, key_end);
        if (value >= s.len || s.ptr[value] != ':')
            break;
        value = json_skip_blanks(s, value + 1);
        end = value;
        (void)json_skip_value(s, &end);
        if (is_body((struct str){s.ptr + key, key_end - key}) && end - value >= 4) {
            memcpy(out + n, s.ptr + i, value - i);
            n += value - i;
            memcpy(out + n, "null", 4);
            n += 4;
        } else {
            memcpy(out + n, s.ptr + i, end - i);
            n += end - i;
        }
        i = json_skip_blanks(s, end);
        if (i >= s.len || s.ptr[i] != ',')
            break;
    }
    memcpy(out + n, s.ptr + i, s.len - i);
    *ret_len = n + s.len - i;
    return out;
}

static int read_kind(struct str text, struct arena *arena, enum event_kind *ret_kind)
{
    cJSON *tree = NULL;
    int r = read_tree(text, what_shape, arena, &tree);

    if (r < 0)
        return r;
    if (str_equal(tree_get_text(tree, "schema"), STR("sandgate.decision.v1")))
        *ret_kind = EVENT_RECORD;
    else if (str_starts_with(tree_get_text(tree, "apiVersion"), STR(GROUP "/")) &&
             str_equal(tree_get_text(tree, "kind"), STR("Event")))
        *ret_kind = EVENT_AUDIT;
    else
        *ret_kind = EVENT_FOREIGN;
    return 0;
}

/* Mostly the first bytes show the kind. Otherwise an extra pass reads it. */
static int guess_kind(struct str text, struct arena *arena, enum event_kind *ret_kind)
{
    struct str head = {text.ptr, text.len < GLANCE_BYTES ? text.len : GLANCE_BYTES};

    if (str_starts_with(head, STR("{\"kind\":\"Event\",\"apiVersion\":\"" GROUP "/")))
        *ret_kind = EVENT_AUDIT;
    else if (str_starts_with(head, STR("{\"schema\":" RECORD_KEY)))
        *ret_kind = EVENT_RECORD;
    else
        return read_kind(text, arena, ret_kind);
    return 0;
}

static int read_whole(struct str text, struct arena *arena, struct events *events,
                      enum event_kind *ret_kind)
{
    enum event_kind kind = EVENT_FOREIGN;
    cJSON *tree = NULL;
    int r = guess_kind(text, arena, &kind);

    if (r == 0 && kind != EVENT_FOREIGN)
        r = read_tree(text, kind == EVENT_RECORD ? event_record_shape : event_audit_shape, arena,
                      &tree);
    if (r == 0 && kind == EVENT_AUDIT)
        r = event_of_audit(tree, arena, events, &kind);
    else if (r == 0 && kind == EVENT_RECORD)
        r = event_of_record(tree, arena, events, &kind);
    if (r == 0)
        *ret_kind = kind;
    return r;
}

int event_read(struct str text, struct arena *arena, struct events *ret_events,
               enum event_kind *ret_kind)
{
    struct str s = str_trim(text);
    bool shortened = false;
    int r = -EBADMSG;

    ret_events->count = 0;
    if (s.len == 0) {
        *ret_kind = EVENT_BLANK;
        return 0;
    }
    if (s.ptr[0] == '{')
        r = read_whole(s, arena, ret_events, ret_kind);
    if ((r == -EBADMSG || r == -E2BIG) && looks_whole(s) && str_contains(s, STR(GROUP))) {
        size_t len = 0;
        char *copy = without_bodies(s, arena, &len);

        if (copy == NULL)
            return -ENOMEM;
        shortened = len < s.len;
        if (shortened)
            r = read_whole((struct str){copy, len}, arena, ret_events, ret_kind);
    }
    if (r == -EBADMSG || r == -E2BIG) {
        *ret_kind = EVENT_BROKEN;
        ret_events->count = 0;
        return 0;
    }
    if (r == 0 && *ret_kind == EVENT_FOREIGN)
        *ret_kind = foreign_kind(s);
    for (size_t i = 0; r == 0 && shortened && i < ret_events->count; i++)
        ret_events->items[i].without_bodies = true;
    return r;
}

const char *event_verdict_text(enum event_verdict verdict)
{
    switch (verdict) {
    case EVENT_DENIED:
        return "denied";
    case EVENT_VIOLATES:
        return "violates";
    case EVENT_ALLOWED:
        return "allowed";
    case EVENT_UNKNOWN:
        break;
    }
    return "unknown";
}
