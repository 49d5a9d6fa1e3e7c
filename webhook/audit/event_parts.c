/* SPDX-License-Identifier: Apache-2.0 */
/* event_parts - reads what audit events and records have in common: names, findings, images. */

#include <assert.h>
#include <errno.h>
#include <stdio.h>

#include "planner/base/buffer.h"
#include "planner/base/tree.h"
#include "webhook/audit/event_internal.h"
#include "webhook/gate/gate.h"

#define GENERATED_BYTES 5 /* random suffix that the API server appends to a generateName */

#define MAX_INNER_NODES 20000u
#define MAX_TREE_BYTES ((size_t)1 << 20)

/* All outcomes of gate-v1, section 7. */
static const struct {
    enum gate_outcome outcome;
    bool of_plan; /* a decision of the packet */
    bool blocks;  /* the request is denied at the level enforce */
} outcomes[] = {
    {OUTCOME_READY, .of_plan = true},
    {OUTCOME_NEEDS_MORE_EVIDENCE, .of_plan = true, .blocks = true},
    {OUTCOME_REFUSED, .of_plan = true, .blocks = true},
    {OUTCOME_UNSUPPORTED_RUNTIME_SHAPE, .of_plan = true, .blocks = true},
    {OUTCOME_BLOCKED, .blocks = true},
    {OUTCOME_UNUSABLE, .blocks = true},
    {.outcome = OUTCOME_EXEMPT},
    {.outcome = OUTCOME_UNMANAGED},
    {.outcome = OUTCOME_UNCHANGED},
    {.outcome = OUTCOME_NOT_EVALUATED},
    {.outcome = OUTCOME_LEFT_UNDECIDED},
};

#define OUTCOME_COUNT (sizeof(outcomes) / sizeof(outcomes[0]))
_Static_assert(OUTCOME_COUNT + 2 == EVENT_OUTCOME_COUNT, "the names of event.h are not complete");

/* Index into `outcomes`; OUTCOME_COUNT for any other text. */
static size_t find_outcome(struct str outcome)
{
    size_t i = 0;

    while (i < OUTCOME_COUNT && !str_equal(outcome, str_of(gate_outcome_text(outcomes[i].outcome))))
        i++;
    return i;
}

bool event_outcome_known(struct str outcome)
{
    return find_outcome(outcome) < OUTCOME_COUNT;
}

bool event_outcome_blocks(struct str outcome)
{
    size_t i = find_outcome(outcome);

    return i < OUTCOME_COUNT && outcomes[i].blocks;
}

bool event_outcome_of_plan(struct str outcome)
{
    size_t i = find_outcome(outcome);

    return i < OUTCOME_COUNT && outcomes[i].of_plan;
}

void event_outcome_names(const char *ret_names[static EVENT_OUTCOME_COUNT])
{
    for (size_t i = 0; i < OUTCOME_COUNT; i++)
        ret_names[i] = gate_outcome_text(outcomes[i].outcome);
    ret_names[OUTCOME_COUNT] = EVENT_UNAVAILABLE;
    ret_names[OUTCOME_COUNT + 1] = EVENT_TIMEOUT;
}

/* The part before the slash; *rest begins after it. */
static struct str take_part(struct str *rest)
{
    const char *slash = rest->len > 0 ? memchr(rest->ptr, '/', rest->len) : NULL;
    struct str part = *rest;

    if (slash == NULL)
        return (struct str){0};
    part.len = (size_t)(slash - rest->ptr);
    rest->len -= part.len + 1;
    rest->ptr = slash + 1;
    return part;
}

/* `report-6d4cf56db6-*` are the pods of report-6d4cf56db6. */
static struct str without_star(struct str name)
{
    if (name.len > 0 && name.ptr[name.len - 1] == '*') {
        name.len--;
        if (name.len > 1 && name.ptr[name.len - 1] == '-')
            name.len--;
    }
    return name;
}

void event_take_subject(struct str subject, struct event *event)
{
    struct str rest = subject;
    struct str namespace_name = take_part(&rest);
    struct str kind = str_present(namespace_name) ? take_part(&rest) : (struct str){0};

    if (!str_present(kind))
        return;
    event->namespace_name = namespace_name;
    event->object_kind = kind;
    event->name = rest;
    event->workload = without_star(rest);
}

void event_take_generated(struct event *event)
{
    static const struct str letters =
        STR_INIT("bcdfghjklmnpqrstvwxz2456789"); /* as Kubernetes uses */
    struct str name = event->name;

    if (name.len <= GENERATED_BYTES || !str_equal(event->workload, name))
        return;
    for (size_t i = name.len - GENERATED_BYTES; i < name.len; i++) {
        if (memchr(letters.ptr, name.ptr[i], letters.len) == NULL)
            return;
    }
    name.len -= GENERATED_BYTES;
    if (name.len > 1 && name.ptr[name.len - 1] == '-')
        name.len--;
    event->workload = name;
}

static void add_finding(const cJSON *item, bool of_planner, struct event_finding *findings,
                        struct event *event)
{
    struct event_finding finding = {
        .code = tree_get_text(item, "code"),
        .place = tree_get_text(item, "place"),
        .message = tree_get_text(item, "message"),
        .of_planner = of_planner,
    };

    if (!str_present(finding.code))
        return;
    assert(event->finding_count <= EVENT_MAX_FINDINGS);
    if (event->finding_count == EVENT_MAX_FINDINGS) {
        event->findings_left_out++;
        return;
    }
    findings[event->finding_count++] = finding;
}

static size_t count_items(const cJSON *list)
{
    size_t count = 0;

    if (!tree_is(list, cJSON_Array))
        return 0;
    for (const cJSON *item = list->child; item != NULL; item = item->next)
        count++;
    return count;
}

int event_take_findings(const cJSON *findings, const cJSON *packet, struct arena *arena,
                        struct event *event)
{
    const cJSON *profile = tree_get(packet, "hardening_profile");
    const cJSON *planned = tree_get(tree_get(profile, "validation"), "findings");
    size_t count = count_items(findings) + count_items(planned);
    struct event_finding *items = NULL;

    if (count == 0)
        return 0;
    items =
        arena_alloc(arena, count < EVENT_MAX_FINDINGS ? count : EVENT_MAX_FINDINGS, sizeof(*items));
    if (items == NULL)
        return -ENOMEM;
    if (count_items(findings) > 0) {
        for (const cJSON *item = findings->child; item != NULL; item = item->next)
            add_finding(item, false, items, event);
    }
    if (count_items(planned) > 0) {
        for (const cJSON *item = planned->child; item != NULL; item = item->next)
            add_finding(item, true, items, event);
    }
    event->findings = items;
    return 0;
}

static void add_images(const cJSON *list, struct str *images, size_t *count)
{
    if (!tree_is(list, cJSON_Array))
        return;
    for (const cJSON *item = list->child; item != NULL && *count < EVENT_MAX_IMAGES;
         item = item->next) {
        struct str image = tree_get_text(item, "image");

        if (image.len > 0)
            images[(*count)++] = image;
    }
}

/* The spec of the pod; of a controller, of its innermost pod template. */
static const cJSON *pod_spec(const cJSON *object)
{
    const cJSON *template = tree_get(object, "template"); /* of a PodTemplate */
    const cJSON *spec = tree_get(template != NULL ? template : object, "spec");
    const cJSON *job = tree_get(tree_get(spec, "jobTemplate"), "spec");
    const cJSON *inner = tree_get(job != NULL ? job : spec, "template");

    return inner != NULL ? tree_get(inner, "spec") : spec;
}

int event_take_images(const cJSON *object, struct arena *arena, struct event *event)
{
    const cJSON *spec = pod_spec(object);
    struct str *images = NULL;
    size_t count = 0;

    if (spec == NULL)
        return 0;
    images = arena_alloc(arena, EVENT_MAX_IMAGES, sizeof(*images));
    if (images == NULL)
        return -ENOMEM;
    add_images(tree_get(spec, "containers"), images, &count);
    add_images(tree_get(spec, "initContainers"), images, &count);
    add_images(tree_get(spec, "ephemeralContainers"), images, &count);
    event->images = (struct str_list){images, count};
    return 0;
}

int event_take_texts(const cJSON *list, size_t max, struct arena *arena, struct str_list *ret_list)
{
    struct str *items = NULL;
    size_t count = 0;

    if (count_items(list) == 0)
        return 0;
    items = arena_alloc(arena, max, sizeof(*items));
    if (items == NULL)
        return -ENOMEM;
    for (const cJSON *item = list->child; item != NULL && count < max; item = item->next) {
        struct str text = tree_text(item);

        if (str_present(text))
            items[count++] = text;
    }
    *ret_list = (struct str_list){items, count};
    return 0;
}

int event_read_inner(struct str text, struct arena *arena, const cJSON **ret_tree)
{
    const struct document_options options = {
        .syntax = DOCUMENT_JSON, .rules = DOCUMENT_REVIEW, .max_nodes = MAX_INNER_NODES};
    struct document_error error = {0};
    cJSON *tree = NULL;
    int r = 0;

    *ret_tree = NULL;
    /* the text is copied into other JSON, where a byte order mark is not allowed */
    if (!str_present(text) || str_starts_with(text, STR("\xef\xbb\xbf")))
        return 0;
    r = document_read(text, &options, arena, &tree, &error);
    if (r == -EBADMSG || r == -E2BIG)
        return 0;
    *ret_tree = tree;
    return r;
}

static void write_node(const cJSON *node, struct buffer *b);

static void write_children(const cJSON *node, struct buffer *b)
{
    bool is_object = tree_is(node, cJSON_Object);

    buffer_add_char(b, is_object ? '{' : '[');
    for (const cJSON *item = node->child; item != NULL; item = item->next) {
        if (item != node->child)
            buffer_add_char(b, ',');
        if (is_object) {
            buffer_add_json(b, tree_key(item));
            buffer_add_char(b, ':');
        }
        write_node(item, b);
    }
    buffer_add_char(b, is_object ? '}' : ']');
}

/* Recursion is bounded: a tree that was read is at most DOCUMENT_MAX_DEPTH deep. */
static void write_node(const cJSON *node, struct buffer *b)
{
    double number = node->valuedouble;

    if (tree_is(node, cJSON_Object) || tree_is(node, cJSON_Array))
        write_children(node, b);
    else if (tree_is(node, cJSON_String))
        buffer_add_json(b, tree_text(node));
    else if (tree_is(node, cJSON_True))
        buffer_add(b, STR("true"));
    else if (tree_is(node, cJSON_False))
        buffer_add(b, STR("false"));
    else if (!tree_is(node, cJSON_Number))
        buffer_add(b, STR("null"));
    else if (number >= -9007199254740992.0 && number <= 9007199254740992.0 &&
             number == (double)(long long)number)
        buffer_add_format(b, "%lld", (long long)number);
    else
        buffer_add_format(b, "%.17g", number);
}

int event_write_tree(const cJSON *tree, struct arena *arena, struct str *ret_text)
{
    struct buffer b = buffer_make(arena, MAX_TREE_BYTES);
    struct str text = {0};

    write_node(tree, &b);
    text = buffer_text(&b);
    if (!str_present(text))
        return -ENOMEM;
    *ret_text = text;
    return 0;
}
