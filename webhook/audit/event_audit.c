/* SPDX-License-Identifier: Apache-2.0 */
/* event_audit - reads the decisions of gates in an event of the API server's audit log. */

#include <assert.h>
#include <errno.h>

#include "planner/base/tree.h"
#include "webhook/audit/event_internal.h"

#define KEY_MAX_BYTES 512 /* of an annotation's key */
#define KEY_OUTCOME STR("/outcome")

static const struct document_shape image_shape[] = {{.key = "image"}, {0}};
static const struct document_shape containers_shape[] = {{.key = "*", .members = image_shape}, {0}};
static const struct document_shape pod_spec_shape[] = {
    {.key = "containers", .members = containers_shape},
    {.key = "initContainers", .members = containers_shape},
    {.key = "ephemeralContainers", .members = containers_shape},
    {0}};
static const struct document_shape template_shape[] = {{.key = "spec", .members = pod_spec_shape},
                                                       {0}};
static const struct document_shape job_spec_shape[] = {
    {.key = "template", .members = template_shape}, {0}};
static const struct document_shape job_shape[] = {{.key = "spec", .members = job_spec_shape}, {0}};
static const struct document_shape spec_shape[] = {
    {.key = "containers", .members = containers_shape},
    {.key = "initContainers", .members = containers_shape},
    {.key = "ephemeralContainers", .members = containers_shape},
    {.key = "template", .members = template_shape},
    {.key = "jobTemplate", .members = job_shape},
    {0}};
static const struct document_shape object_shape[] = {
    {.key = "spec", .members = spec_shape}, {.key = "template", .members = template_shape}, {0}};
static const struct document_shape user_shape[] = {{.key = "username"}, {0}};
static const struct document_shape status_shape[] = {{.key = "code"}, {.key = "message"}, {0}};
static const struct document_shape target_shape[] = {{.key = "name"}, {0}};
static const struct document_shape texts_shape[] = {{.key = "*"}, {0}};

const struct document_shape event_audit_shape[] = {
    {.key = "auditID"},
    {.key = "requestURI"},
    {.key = "verb"},
    {.key = "user", .members = user_shape},
    {.key = "impersonatedUser", .members = user_shape},
    {.key = "objectRef", .members = target_shape},
    {.key = "responseStatus", .members = status_shape},
    {.key = "requestObject", .members = object_shape},
    {.key = "requestReceivedTimestamp"},
    {.key = "stageTimestamp"},
    {.key = "annotations", .members = texts_shape},
    {0}};

/* The annotation `<webhook>/<key>`. */
static struct str annotation(const cJSON *annotations, struct str webhook, const char *key)
{
    char name[KEY_MAX_BYTES] = "";
    size_t len = strlen(key);

    if (webhook.len + len + 2 > sizeof(name))
        return (struct str){0};
    memcpy(name, webhook.ptr, webhook.len);
    name[webhook.len] = '/';
    memcpy(name + webhook.len + 1, key, len + 1);
    return tree_get_text(annotations, name);
}

/* Whether a gate wrote this annotation: a known outcome, beside an annotation only the gate has. */
static bool is_ours(const cJSON *annotations, const cJSON *member, struct str *ret_webhook)
{
    struct str key = tree_key(member);
    struct str webhook = {key.ptr, key.len - KEY_OUTCOME.len};

    if (key.len <= KEY_OUTCOME.len || key.len > KEY_MAX_BYTES / 2 ||
        !str_equal((struct str){key.ptr + webhook.len, KEY_OUTCOME.len}, KEY_OUTCOME) ||
        !event_outcome_known(tree_text(member)))
        return false;
    *ret_webhook = webhook;
    return str_present(annotation(annotations, webhook, "subject")) ||
           str_present(annotation(annotations, webhook, "packet-sha256"));
}

/* At the audit level Metadata the log has no images: then the digest that was planned is used. */
static int take_digest(struct arena *arena, struct event *event)
{
    struct str digest = tree_get_text(tree_get(event->input_tree, "workload"), "image_digest");
    struct str *image = NULL;

    if (event->images.count > 0 || digest.len == 0)
        return 0;
    image = arena_alloc(arena, 1, sizeof(*image));
    if (image == NULL)
        return -ENOMEM;
    *image = digest;
    event->images = (struct str_list){image, 1};
    return 0;
}

/* Whether the API server's answer names this webhook. *ret_rest is the gate's message. */
static bool is_denied_by(struct str message, struct str webhook, struct str *ret_rest)
{
    struct str parts[] = {STR("admission webhook \""), webhook, STR("\" denied the request")};
    struct str rest = message;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!str_starts_with(rest, parts[i]))
            return false;
        rest.ptr += parts[i].len;
        rest.len -= parts[i].len;
    }
    if (str_starts_with(rest, STR(": "))) {
        rest.ptr += 2;
        rest.len -= 2;
    }
    *ret_rest = rest;
    return true;
}

static void take_verdict(const cJSON *tree, struct event *event)
{
    const cJSON *status = tree_get(tree, "responseStatus");
    const cJSON *code = tree_get(status, "code");
    struct str message = tree_get_text(status, "message");
    bool has_code = tree_is(code, cJSON_Number);
    bool succeeded = has_code && code->valuedouble >= 200 && code->valuedouble < 400;

    if (has_code && !succeeded && is_denied_by(message, event->webhook, &event->message))
        event->verdict = EVENT_DENIED;
    else if (!event_outcome_blocks(event->outcome))
        event->verdict = EVENT_ALLOWED;
    else if (succeeded)
        event->verdict = EVENT_VIOLATES;
    else
        event->verdict = EVENT_UNKNOWN;
}

static void take_time(const cJSON *tree, struct event *event)
{
    event->time_text = tree_get_text(tree, "requestReceivedTimestamp");
    event->timed = moment_read(event->time_text, &event->time);
    if (!event->timed) {
        event->time_text = tree_get_text(tree, "stageTimestamp");
        event->timed = moment_read(event->time_text, &event->time);
    }
}

/* `…?dryRun=All&…` */
static bool is_dry_run(struct str uri)
{
    const char *query = uri.len > 0 ? memchr(uri.ptr, '?', uri.len) : NULL;
    struct str rest = {0};

    if (query == NULL)
        return false;
    rest = (struct str){query, uri.len - (size_t)(query - uri.ptr)};
    return str_contains(rest, STR("?dryRun=")) || str_contains(rest, STR("&dryRun="));
}

static int take_annotations(const cJSON *annotations, struct arena *arena, struct event *event)
{
    const cJSON *findings = NULL;
    struct str hook = event->webhook;
    int r = 0;

    event->outcome = annotation(annotations, hook, "outcome");
    event->packet = annotation(annotations, hook, "packet");
    event->packet_sha256 = annotation(annotations, hook, "packet-sha256");
    event->packet_truncated = str_present(annotation(annotations, hook, "packet-truncated"));
    event->input = annotation(annotations, hook, "input");
    event->evidence = annotation(annotations, hook, "evidence");
    event->exemption = annotation(annotations, hook, "exemption");
    event->violations = annotation(annotations, hook, "violations");
    event->error = annotation(annotations, hook, "error");
    event_take_subject(annotation(annotations, hook, "subject"), event);
    r = event_read_inner(event->packet, arena, &event->packet_tree);
    if (r == 0)
        r = event_read_inner(annotation(annotations, hook, "findings"), arena, &findings);
    if (r == 0)
        r = event_read_inner(event->input, arena, &event->input_tree);
    if (event->packet_tree == NULL)
        event->packet = (struct str){0};
    if (event->input_tree == NULL)
        event->input = (struct str){0};
    return r == 0 ? event_take_findings(findings, event->packet_tree, arena, event) : r;
}

static int take_boundary(const cJSON *annotations, struct arena *arena, struct event *event)
{
    struct str text = annotation(annotations, event->webhook, "boundary");
    const cJSON *tree = NULL;
    int r = str_present(text) ? event_read_inner(text, arena, &tree) : 0;

    if (r < 0 || !str_present(text))
        return r;
    event_take_boundary(tree, event);
    if (event->boundary.state == EVENT_BOUNDARY_READ)
        event->boundary_json = text;
    return 0;
}

static int take_hook(const cJSON *tree, struct str webhook, struct arena *arena,
                     struct event *event)
{
    const cJSON *annotations = tree_get(tree, "annotations");
    struct str user = tree_get_text(tree_get(tree, "impersonatedUser"), "username");
    int r = 0;

    *event = (struct event){
        .kind = EVENT_AUDIT,
        .webhook = webhook,
        .id = tree_get_text(tree, "auditID"),
        .dry_run = is_dry_run(tree_get_text(tree, "requestURI")),
        .operation = tree_get_text(tree, "verb"),
        .user = user.len > 0 ? user : tree_get_text(tree_get(tree, "user"), "username"),
        .log_truncated = str_present(tree_get_text(annotations, "audit.k8s.io/truncated")),
    };
    take_time(tree, event);
    r = take_annotations(annotations, arena, event);
    if (r == 0)
        r = take_boundary(annotations, arena, event);
    /* a name made from generateName is not in objectRef: the gate saw it, and `subject` has it */
    if (tree_get_text(tree_get(tree, "objectRef"), "name").len == 0 &&
        str_equal(event->operation, STR("create")))
        event_take_generated(event);
    if (r == 0)
        r = event_take_images(tree_get(tree, "requestObject"), arena, event);
    if (r == 0)
        r = take_digest(arena, event);
    take_verdict(tree, event);
    if (event->verdict == EVENT_DENIED)
        event->level = STR("enforce");
    else if (str_present(event->violations))
        event->level = STR("audit");
    return r;
}

int event_of_audit(const cJSON *tree, struct arena *arena, struct events *events,
                   enum event_kind *ret_kind)
{
    const cJSON *annotations = tree_get(tree, "annotations");

    *ret_kind = EVENT_OTHER;
    if (!tree_is(annotations, cJSON_Object))
        return 0;
    for (const cJSON *member = annotations->child; member != NULL; member = member->next) {
        struct str webhook = {0};
        int r = 0;

        if (!is_ours(annotations, member, &webhook) || events->count == EVENT_MAX_HOOKS)
            continue;
        assert(events->count < EVENT_MAX_HOOKS);
        r = take_hook(tree, webhook, arena, &events->items[events->count]);
        if (r < 0)
            return r;
        events->count++;
        *ret_kind = EVENT_AUDIT;
    }
    return 0;
}
