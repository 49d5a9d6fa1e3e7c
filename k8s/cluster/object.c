/* SPDX-License-Identifier: Apache-2.0 */
/* object - turns arrived objects into evidence, namespace labels and network policies, the values
 * of the reflectors. */
#include <errno.h>
#include <stdlib.h>

#include "k8s/cluster/internal.h"
#include "k8s/network_policy/network_policy.h"
#include "k8s/policy/names.h"
#include "k8s/util/clock.h"
#include "planner/base/tree.h"

/* What network_policy_make() reads. */
static const struct document_shape *network_policy_members(void)
{
    static const struct document_shape items[] = {{.key = "*"}, {0}};
    static const struct document_shape block[] = {
        {.key = "cidr"}, {.key = "except", .members = items}, {0}};
    static const struct document_shape peer[] = {{.key = "ipBlock", .members = block}, {0}};
    static const struct document_shape peers[] = {{.key = "*", .members = peer}, {0}};
    static const struct document_shape rule[] = {{.key = "to", .members = peers}, {0}};
    static const struct document_shape rules[] = {{.key = "*", .members = rule}, {0}};
    static const struct document_shape metadata[] = {
        {.key = "name"}, {.key = "namespace"}, {.key = "resourceVersion"}, {0}};
    static const struct document_shape spec[] = {
        {.key = "podSelector", .whole = true},
        {.key = "policyTypes", .members = items},
        {.key = "egress", .members = rules},
        {0},
    };
    static const struct document_shape members[] = {
        {.key = "metadata", .members = metadata}, {.key = "spec", .members = spec}, {0}};

    return members;
}

const struct document_shape *cluster_members(enum cluster_kind kind)
{
    static const struct document_shape document[] = {{.key = EVIDENCE_DATA_KEY}, {0}};
    static const struct document_shape evidence_label[] = {{.key = NAMES_LABEL_EVIDENCE}, {0}};
    static const struct document_shape config_map_metadata[] = {
        {.key = "name"},
        {.key = "namespace"},
        {.key = "resourceVersion"},
        {.key = "labels", .members = evidence_label},
        {.key = "annotations", .whole = true},
        {0},
    };
    static const struct document_shape config_map[] = {
        {.key = "metadata", .members = config_map_metadata},
        {.key = "data", .members = document},
        {.key = "binaryData", .members = document},
        {0},
    };
    static const struct document_shape level_labels[] = {
        {.key = NAMES_LABEL_ENFORCE},
        {.key = NAMES_LABEL_WARN},
        {.key = NAMES_LABEL_AUDIT},
        {.key = NAMES_LABEL_BOUNDARY},
        {0},
    };
    static const struct document_shape namespace_metadata[] = {
        {.key = "name"},
        {.key = "resourceVersion"},
        {.key = "labels", .members = level_labels},
        {0},
    };
    static const struct document_shape namespace_members[] = {
        {.key = "metadata", .members = namespace_metadata}, {0}};

    if (kind == CLUSTER_NETWORK_POLICIES)
        return network_policy_members();
    return kind == CLUSTER_CONFIG_MAPS ? config_map : namespace_members;
}

/* Rate-limited: a user who can write ConfigMaps must not be able to fill the log. */
static void report_unreadable(struct cluster *cluster, const struct evidence *evidence)
{
    cleanup_arena struct arena arena = {0};
    uint64_t now_msec = clock_msec();
    struct cluster_event event = {.kind = CLUSTER_UNREADABLE, .reason = evidence->reason};

    if (now_msec - cluster->unreadable_msec > CLUSTER_NOTIFY_SEC * 1000) {
        cluster->unreadable_msec = now_msec;
        cluster->unreadable_count = 0;
    }
    if (cluster->unreadable_count >= CLUSTER_MAX_UNREADABLE_EVENTS)
        return;
    cluster->unreadable_count++;
    event.what =
        arena_format(&arena, "%.*s/%.*s", (int)evidence->namespace_name.len,
                     evidence->namespace_name.ptr, (int)evidence->name.len, evidence->name.ptr);
    if (str_present(event.what))
        cluster_notify(cluster, &event);
}

static bool is_as_before(const struct evidence *before, const struct evidence *now)
{
    return before != NULL && now != NULL && evidence_same(before, now);
}

static int put_evidence(void *context, const struct reflector_object *object, void **value)
{
    struct cluster *cluster = ((struct cluster_feed *)context)->cluster;
    const cJSON *metadata = tree_get(object->tree, "metadata");
    const cJSON *binary = tree_get(object->tree, "binaryData");
    const struct evidence_known known = {.find = cluster_copies_known, .context = cluster};
    const struct evidence_source source = {
        .namespace_name = object->namespace_name,
        .name = object->name,
        .annotations = tree_get(metadata, "annotations"),
        .document = tree_get_text(tree_get(object->tree, "data"), EVIDENCE_DATA_KEY),
        .in_binary_data = tree_get(binary, EVIDENCE_DATA_KEY) != NULL,
        .binary = tree_get_text(binary, EVIDENCE_DATA_KEY),
        .known = &known,
    };
    struct evidence *evidence = NULL;
    int r = 0;

    /* the server selects by this label, but that is not trusted: without it there is no evidence */
    if (str_equal(tree_get_text(tree_get(metadata, "labels"), NAMES_LABEL_EVIDENCE), STR("true")))
        r = evidence_make(&source, cluster->rules->keyring, &cluster->rules->policy, &evidence);
    if (r < 0)
        return r;
    if (is_as_before(*value, evidence)) {
        evidence_unref(evidence); /* no new snapshot: most changes of rules change no evidence */
        return 0;
    }
    if (evidence != NULL && evidence->state == EVIDENCE_INVALID)
        report_unreadable(cluster, evidence);
    r = cluster_invalid_replace(cluster, *value, &evidence);
    if (r < 0) {
        evidence_unref(evidence);
        return r;
    }
    evidence_unref(*value);
    *value = evidence;
    cluster_mark_dirty(cluster);
    return 0;
}

static void drop_evidence(void *context, void *value)
{
    struct cluster *cluster = ((struct cluster_feed *)context)->cluster;
    struct evidence *none = NULL;

    if (cluster_invalid_replace(cluster, value, &none) < 0)
        return; /* cannot happen: it does not fail for NULL */
    evidence_unref(value);
    cluster_mark_dirty(cluster);
}

/* Copies the text to *end and moves *end after it. An absent text stays absent. */
static void move_text(char **end, struct str *s)
{
    if (!str_present(*s))
        return;
    if (s->len > 0)
        memcpy(*end, s->ptr, s->len);
    s->ptr = *end;
    *end += s->len;
}

/* A copy in one allocation, with its texts at the end. */
static struct namespace_labels *copy_labels(const struct namespace_labels *labels)
{
    size_t len = labels->name.len + labels->labels.enforce.len + labels->labels.warn.len +
                 labels->labels.audit.len + labels->labels.boundary.len;
    struct namespace_labels *copy = calloc(1, sizeof(*copy) + len);
    char *text = NULL;

    if (copy == NULL)
        return NULL;
    *copy = *labels;
    text = (char *)(copy + 1);
    move_text(&text, &copy->name);
    move_text(&text, &copy->labels.enforce);
    move_text(&text, &copy->labels.warn);
    move_text(&text, &copy->labels.audit);
    move_text(&text, &copy->labels.boundary);
    return copy;
}

static bool is_same_label(struct str a, struct str b)
{
    return str_present(a) == str_present(b) && str_equal(a, b);
}

static bool same_labels(const struct level_labels *a, const struct level_labels *b)
{
    return is_same_label(a->enforce, b->enforce) && is_same_label(a->warn, b->warn) &&
           is_same_label(a->audit, b->audit) && is_same_label(a->boundary, b->boundary);
}

static int put_namespace(void *context, const struct reflector_object *object, void **value)
{
    struct cluster_feed *feed = context;
    const cJSON *labels = tree_get(tree_get(object->tree, "metadata"), "labels");
    const struct namespace_labels now = {
        .name = object->name,
        .labels = {.enforce = tree_get_text(labels, NAMES_LABEL_ENFORCE),
                   .warn = tree_get_text(labels, NAMES_LABEL_WARN),
                   .audit = tree_get_text(labels, NAMES_LABEL_AUDIT),
                   .boundary = tree_get_text(labels, NAMES_LABEL_BOUNDARY)},
    };
    const struct namespace_labels *before = *value;
    struct namespace_labels *copy = NULL;

    /* most changes of a Namespace do not concern these labels */
    if (before != NULL && same_labels(&before->labels, &now.labels))
        return 0;
    copy = copy_labels(&now);
    if (copy == NULL)
        return -ENOMEM;
    free(*value);
    *value = copy;
    cluster_mark_dirty(feed->cluster);
    return 0;
}

static void drop_namespace(void *context, void *value)
{
    struct cluster_feed *feed = context;

    free(value);
    cluster_mark_dirty(feed->cluster);
}

static int put_network_policy(void *context, const struct reflector_object *object, void **value)
{
    struct cluster_feed *feed = context;
    struct network_policy *policy = NULL;
    int r = object->cut ? network_policy_make_open(object->namespace_name, object->name, &policy)
                        : network_policy_make(object->namespace_name, object->name,
                                              tree_get(object->tree, "spec"), &policy);

    if (r < 0)
        return r;
    if (*value != NULL && network_policy_same(*value, policy)) {
        network_policy_unref(policy);
        return 0;
    }
    network_policy_unref(*value);
    *value = policy;
    cluster_mark_dirty(feed->cluster);
    return 0;
}

static void drop_network_policy(void *context, void *value)
{
    struct cluster_feed *feed = context;

    network_policy_unref(value);
    cluster_mark_dirty(feed->cluster);
}

struct reflector_sink cluster_sink(struct cluster_feed *feed)
{
    switch (feed->kind) {
    case CLUSTER_CONFIG_MAPS:
        return (struct reflector_sink){feed, put_evidence, drop_evidence};
    case CLUSTER_NAMESPACES:
        return (struct reflector_sink){feed, put_namespace, drop_namespace};
    case CLUSTER_NETWORK_POLICIES:
    default:
        return (struct reflector_sink){feed, put_network_policy, drop_network_policy};
    }
}
