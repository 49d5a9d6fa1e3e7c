/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload - finds the pod or pod template in an object, and reads what the gate judges.
 *
 * A field of the wrong type does not end the reading: the other fields are still needed for
 * messages and for the levels that only warn.
 */
#include "k8s/review/workload.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "k8s/policy/names.h"
#include "planner/base/tree.h"

static const struct {
    struct str group;
    struct str kind;
    enum workload_kind value;
} workload_kinds[] = {
    {STR_INIT(""), STR_INIT("Pod"), WORKLOAD_POD},
    {STR_INIT(""), STR_INIT("PodTemplate"), WORKLOAD_POD_TEMPLATE},
    {STR_INIT(""), STR_INIT("ReplicationController"), WORKLOAD_REPLICATION_CONTROLLER},
    {STR_INIT("apps"), STR_INIT("ReplicaSet"), WORKLOAD_REPLICA_SET},
    {STR_INIT("apps"), STR_INIT("Deployment"), WORKLOAD_DEPLOYMENT},
    {STR_INIT("apps"), STR_INIT("StatefulSet"), WORKLOAD_STATEFUL_SET},
    {STR_INIT("apps"), STR_INIT("DaemonSet"), WORKLOAD_DAEMON_SET},
    {STR_INIT("batch"), STR_INIT("Job"), WORKLOAD_JOB},
    {STR_INIT("batch"), STR_INIT("CronJob"), WORKLOAD_CRON_JOB},
};

static const char *const workload_lists[IMAGE_LIST_COUNT] = {
    [IMAGE_CONTAINERS] = "containers",
    [IMAGE_INIT_CONTAINERS] = "initContainers",
    [IMAGE_EPHEMERAL_CONTAINERS] = "ephemeralContainers",
    [IMAGE_VOLUMES] = "volumes",
};

enum workload_kind workload_kind_of(struct str group, struct str kind)
{
    for (size_t i = 0; i < sizeof(workload_kinds) / sizeof(workload_kinds[0]); i++) {
        if (str_equal(group, workload_kinds[i].group) && str_equal(kind, workload_kinds[i].kind))
            return workload_kinds[i].value;
    }
    return WORKLOAD_NONE;
}

bool workload_is_our_key(struct str key)
{
    return str_starts_with_ascii_nocase(key, STR(NAMES_PREFIX));
}

/* The first reason is kept. */
static void unusable(struct workload *w, const char *reason)
{
    if (w->unusable_reason == NULL)
        w->unusable_reason = reason;
}

static void unreadable_images(struct workload *w, const char *reason)
{
    unusable(w, reason);
    w->images_readable = false;
}

/* A member that is an object; NULL where it is absent. Another type sets *ret_wrong. */
static const cJSON *get_map(const cJSON *object, const char *key, bool *ret_wrong)
{
    const cJSON *member = tree_get(object, key);

    if (member == NULL || tree_is(member, cJSON_Object))
        return member;
    *ret_wrong = true;
    return NULL;
}

/* metadata.annotations of an object. Sets *ret_wrong where they are not an object, or where one of
 * the gate's own is not text; other annotations are not read. */
static const cJSON *read_annotations(const cJSON *object, bool *ret_wrong)
{
    const cJSON *annotations =
        get_map(get_map(object, "metadata", ret_wrong), "annotations", ret_wrong);
    const cJSON *entry = NULL;

    cJSON_ArrayForEach(entry, annotations)
    {
        if (!tree_is(entry, cJSON_String) && workload_is_our_key(tree_key(entry)))
            *ret_wrong = true;
    }
    return annotations;
}

static bool has_our_key(const cJSON *annotations)
{
    const cJSON *entry = NULL;

    cJSON_ArrayForEach(entry, annotations)
    {
        if (workload_is_our_key(tree_key(entry)))
            return true;
    }
    return false;
}

/* Where the pod is in an object of each kind. */
static const struct {
    const char *steps[5]; /* members from the object to the pod or template */
    const char *root;     /* the same as a prefix of paths */
} templates[] = {
    [WORKLOAD_NONE] = {{"spec", "template"}, "spec.template."},
    [WORKLOAD_POD] = {{NULL}, ""},
    [WORKLOAD_POD_TEMPLATE] = {{"template"}, "template."},
    [WORKLOAD_REPLICATION_CONTROLLER] = {{"spec", "template"}, "spec.template."},
    [WORKLOAD_REPLICA_SET] = {{"spec", "template"}, "spec.template."},
    [WORKLOAD_DEPLOYMENT] = {{"spec", "template"}, "spec.template."},
    [WORKLOAD_STATEFUL_SET] = {{"spec", "template"}, "spec.template."},
    [WORKLOAD_DAEMON_SET] = {{"spec", "template"}, "spec.template."},
    [WORKLOAD_JOB] = {{"spec", "template"}, "spec.template."},
    [WORKLOAD_CRON_JOB] = {{"spec", "jobTemplate", "spec", "template"},
                           "spec.jobTemplate.spec.template."},
};

/* The object that holds metadata and spec of the pod: the object itself, or its innermost template.
 * NULL where there is none. */
static const cJSON *find_template(struct workload *w, const cJSON *object, bool *ret_wrong)
{
    assert((size_t)w->kind < sizeof(templates) / sizeof(templates[0]));
    w->root = templates[w->kind].root;
    for (size_t i = 0; object != NULL && templates[w->kind].steps[i] != NULL; i++)
        object = get_map(object, templates[w->kind].steps[i], ret_wrong);
    return object;
}

/* A member that is text; absent where it is. Another type sets *ret_wrong. */
static struct str read_text(const cJSON *object, const char *key, bool *ret_wrong)
{
    const cJSON *member = tree_get(object, key);

    if (member != NULL && !tree_is(member, cJSON_String))
        *ret_wrong = true;
    return tree_text(member);
}

/* Adds an image of the list. A volume without an image, and an entry that is not an object, add
 * none.
 */
static void add_image(struct workload *w, enum image_list list, size_t index, const cJSON *entry)
{
    struct image_use *use = &w->images[w->image_count]; /* read_images() has counted the entries */
    const char *key = "image";
    bool wrong = false;

    if (!tree_is(entry, cJSON_Object)) {
        unreadable_images(w, "each of its containers and volumes must be an object");
        return;
    }
    if (list == IMAGE_VOLUMES) {
        entry = get_map(entry, "image", &wrong);
        key = "reference";
        if (wrong)
            unreadable_images(w, "the image of a volume must be an object");
        if (entry == NULL)
            return;
    }
    use->list = list;
    use->index = index;
    use->reference = read_text(entry, key, &wrong);
    if (wrong)
        unreadable_images(w, "an image must be text");
    use->digest = image_pinned_digest(use->reference);
    w->image_count++;
}

static int read_images(struct workload *w, const cJSON *spec, struct arena *arena)
{
    const cJSON *lists[IMAGE_LIST_COUNT] = {NULL};
    size_t count = 0;

    for (int l = 0; l < IMAGE_LIST_COUNT; l++) {
        lists[l] = tree_get(spec, workload_lists[l]);
        if (lists[l] != NULL && !tree_is(lists[l], cJSON_Array)) {
            unreadable_images(w, "its lists of containers and volumes must be lists");
            lists[l] = NULL;
        }
        count += tree_count(lists[l]);
    }
    w->images = arena_alloc(arena, count, sizeof(*w->images));
    if (w->images == NULL)
        return -ENOMEM;
    for (int l = 0; l < IMAGE_LIST_COUNT; l++) {
        const cJSON *entry = NULL;
        size_t index = 0;

        cJSON_ArrayForEach(entry, lists[l])
        {
            add_image(w, (enum image_list)l, index++, entry);
        }
    }
    if (lists[IMAGE_CONTAINERS] == NULL || lists[IMAGE_CONTAINERS]->child == NULL)
        unusable(w, "it has no container");
    return 0;
}

/* The content of the pod or the template. */
static int read_pod(struct workload *w, const cJSON *pod, struct arena *arena)
{
    bool wrong = false;
    const cJSON *spec = NULL;

    w->annotations = read_annotations(pod, &wrong);
    w->annotations_readable = !wrong;
    w->carries_our_key = has_our_key(w->annotations);
    if (wrong)
        unusable(w, "its annotations must be an object, and those under " NAMES_PREFIX " text");

    wrong = false;
    w->images_readable = true;
    spec = get_map(pod, "spec", &wrong);
    if (wrong)
        unreadable_images(w, "its spec must be an object");

    wrong = false;
    w->service_account = read_text(spec, "serviceAccountName", &wrong);
    if (wrong)
        unusable(w, "its serviceAccountName must be text");
    if (w->service_account.len == 0)
        w->service_account = STR("default");

    wrong = false;
    w->runtime_class = read_text(spec, "runtimeClassName", &wrong);
    if (wrong)
        unusable(w, "its runtimeClassName must be text");
    return read_images(w, spec, arena);
}

/* Absent and null have fixed values, which a digest has by chance only. */
static void read_spec_digest(struct workload *w, const cJSON *spec)
{
    w->spec_digest_given = true;
    if (tree_is(spec, cJSON_NULL))
        w->spec_digest[0] = 1;
    else if (spec != NULL)
        w->spec_digest_given = tree_is(spec, cJSON_Object) && document_digest(spec, w->spec_digest);
}

bool workload_same_spec(const struct workload *a, const struct workload *b)
{
    return a->spec_digest_given && b->spec_digest_given &&
           memcmp(a->spec_digest, b->spec_digest, sizeof(a->spec_digest)) == 0;
}

int workload_read(enum workload_kind kind, const cJSON *object, struct arena *arena,
                  struct workload *ret_workload)
{
    struct workload w = {.kind = kind, .service_account = STR("default")};
    bool wrong = object != NULL && !tree_is(object, cJSON_Object);
    const cJSON *pod = find_template(&w, wrong ? NULL : object, &wrong);
    int r = 0;

    w.pod = pod;
    if (pod != NULL)
        r = read_pod(&w, pod, arena);
    else if (wrong)
        unusable(&w, "the pod, and each field that holds it, must be an object");
    else
        unusable(&w, object == NULL ? "there is no object" : "there is no pod template");
    if (r < 0)
        return r;
    if (kind != WORKLOAD_POD) {
        if (pod != NULL)
            read_spec_digest(&w, tree_member(pod, "spec"));
        wrong = false;
        w.own_annotations = read_annotations(object, &wrong);
        w.own_readable = !wrong;
        w.own_managed = wrong || has_our_key(w.own_annotations);
        if (wrong)
            unusable(&w,
                     "the object's own annotations must be an object, and those under " NAMES_PREFIX
                     " text");
    }
    w.usable = w.unusable_reason == NULL;
    *ret_workload = w;
    return 0;
}

int workload_image_place(const struct workload *workload, const struct image_use *use,
                         struct arena *arena, struct str *ret_place)
{
    struct str place =
        arena_format(arena, "%sspec.%s[%zu].image%s", workload->root, workload_lists[use->list],
                     use->index, use->list == IMAGE_VOLUMES ? ".reference" : "");

    if (!str_present(place))
        return -ENOMEM;
    *ret_place = place;
    return 0;
}
