/* SPDX-License-Identifier: Apache-2.0 */
/* test_workload - images and annotations of pods and controllers (gate-v1, section 3). */
#include "k8s/review/workload.h"

#include <criterion/criterion.h>

#include "k8s/document/document.h"
#include "k8s/review/review.h"

#define DIGEST "sha256:b3908dcc895012047e8a0638825c6cc28ff3adad91d2f07946ec523ada257206"

static struct workload read_workload(struct arena *arena, enum workload_kind kind, const char *json)
{
    const struct document_options options = {.syntax = DOCUMENT_JSON, .rules = DOCUMENT_REVIEW};
    struct document_error error = {0};
    struct workload w = {0};
    cJSON *tree = NULL;

    cr_assert_eq(document_read(str_of(json), &options, arena, &tree, &error), 0, "%s", json);
    cr_assert_eq(workload_read(kind, cJSON_IsNull(tree) ? NULL : tree, arena, &w), 0);
    return w;
}

Test(workload, is_determined_by_group_and_kind)
{
    static const struct {
        const char *group;
        const char *kind;
        enum workload_kind value;
    } rows[] = {
        {"", "Pod", WORKLOAD_POD},
        {"", "PodTemplate", WORKLOAD_POD_TEMPLATE},
        {"", "ReplicationController", WORKLOAD_REPLICATION_CONTROLLER},
        {"apps", "ReplicaSet", WORKLOAD_REPLICA_SET},
        {"apps", "Deployment", WORKLOAD_DEPLOYMENT},
        {"apps", "StatefulSet", WORKLOAD_STATEFUL_SET},
        {"apps", "DaemonSet", WORKLOAD_DAEMON_SET},
        {"batch", "Job", WORKLOAD_JOB},
        {"batch", "CronJob", WORKLOAD_CRON_JOB},
        {"apps", "Pod", WORKLOAD_NONE},
        {"", "Deployment", WORKLOAD_NONE},
        {"example.test", "Deployment", WORKLOAD_NONE},
        {"apps", "Job", WORKLOAD_NONE},
        {"", "pod", WORKLOAD_NONE},
        {"", "Node", WORKLOAD_NONE},
        {"", "", WORKLOAD_NONE},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        cr_assert_eq(workload_kind_of(str_of(rows[i].group), str_of(rows[i].kind)), rows[i].value,
                     "%s/%s", rows[i].group, rows[i].kind);
}

Test(workload, takes_our_prefix_in_any_ascii_case)
{
    static const char *const ours[] = {"sandbox.runx.dev/skill-ref", "SANDBOX.runx.dev/x",
                                       "Sandbox.Runx.Dev/", "sandbox.runx.dev/"};
    static const char *const others[] = {
        "sandbox.runx.dev",
        "x.sandbox.runx.dev/a",
        "sandbox.runx.devx/a",
        "",
        ("\xC5\xBF"
         "andbox.runx.dev/skill-ref"),
    };

    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        cr_assert(workload_is_our_key(str_of(ours[i])), "%s", ours[i]);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        cr_assert(!workload_is_our_key(str_of(others[i])), "%s", others[i]);
}

/* The innermost template, with places from the root of the object. */
Test(workload, finds_the_template_of_each_kind)
{
#define POD                                                                                        \
    "{\"metadata\":{\"annotations\":{\"sandbox.runx.dev/class\":\"c\"}},"                          \
    "\"spec\":{\"initContainers\":[{\"image\":\"a\"},{\"image\":\"b\"}],"                          \
    "\"containers\":[{\"image\":\"app@" DIGEST "\"}]}}"
    static const struct {
        enum workload_kind kind;
        const char *json;
        const char *place; /* the place of the second init container */
    } rows[] = {
        {WORKLOAD_POD, POD, "spec.initContainers[1].image"},
        {WORKLOAD_POD_TEMPLATE, "{\"template\":" POD "}", "template.spec.initContainers[1].image"},
        {WORKLOAD_REPLICATION_CONTROLLER, "{\"spec\":{\"template\":" POD "}}",
         "spec.template.spec.initContainers[1].image"},
        {WORKLOAD_REPLICA_SET, "{\"spec\":{\"template\":" POD "}}",
         "spec.template.spec.initContainers[1].image"},
        {WORKLOAD_DEPLOYMENT, "{\"spec\":{\"template\":" POD "}}",
         "spec.template.spec.initContainers[1].image"},
        {WORKLOAD_STATEFUL_SET, "{\"spec\":{\"template\":" POD "}}",
         "spec.template.spec.initContainers[1].image"},
        {WORKLOAD_DAEMON_SET, "{\"spec\":{\"template\":" POD "}}",
         "spec.template.spec.initContainers[1].image"},
        {WORKLOAD_JOB, "{\"spec\":{\"template\":" POD "}}",
         "spec.template.spec.initContainers[1].image"},
        {WORKLOAD_CRON_JOB, "{\"spec\":{\"jobTemplate\":{\"spec\":{\"template\":" POD "}}}}",
         "spec.jobTemplate.spec.template.spec.initContainers[1].image"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cleanup_arena struct arena arena = {0};
        struct workload w = read_workload(&arena, rows[i].kind, rows[i].json);
        struct str place = {0};

        cr_assert(w.usable, "%s", w.unusable_reason);
        cr_assert(w.annotations_readable && w.images_readable && w.carries_our_key);
        cr_assert(!w.own_managed);
        cr_assert_eq(w.image_count, 3);
        cr_assert_eq(w.images[0].list, IMAGE_CONTAINERS);
        cr_assert(str_equal(w.images[0].digest, STR(DIGEST)));
        cr_assert_eq(w.images[2].list, IMAGE_INIT_CONTAINERS);
        cr_assert(!str_present(w.images[2].digest));
        cr_assert_eq(workload_image_place(&w, &w.images[2], &arena, &place), 0);
        cr_assert(str_equal(place, str_of(rows[i].place)), "%.*s", (int)place.len, place.ptr);
        cr_assert(str_equal(w.service_account, STR("default")));
        cr_assert(!str_present(w.runtime_class));
    }
}

Test(workload, walks_the_four_lists_in_order)
{
    cleanup_arena struct arena arena = {0};
    struct workload w = read_workload(
        &arena, WORKLOAD_POD,
        "{\"spec\":{\"volumes\":[{\"name\":\"x\"},{\"image\":{\"reference\":\"v\"}},{\"image\":{}},"
        "{\"image\":null}],\"ephemeralContainers\":[{\"image\":\"e\"}],"
        "\"initContainers\":[{\"image\":\"i\"}],\"containers\":[{\"image\":\"c\"},{}],"
        "\"serviceAccountName\":\"sa\",\"runtimeClassName\":\"gvisor\"}}");
    static const struct {
        enum image_list list;
        const char *reference;
        const char *place;
    } wanted[] = {
        {IMAGE_CONTAINERS, "c", "spec.containers[0].image"},
        {IMAGE_CONTAINERS, NULL, "spec.containers[1].image"},
        {IMAGE_INIT_CONTAINERS, "i", "spec.initContainers[0].image"},
        {IMAGE_EPHEMERAL_CONTAINERS, "e", "spec.ephemeralContainers[0].image"},
        {IMAGE_VOLUMES, "v", "spec.volumes[1].image.reference"},
        {IMAGE_VOLUMES, NULL, "spec.volumes[2].image.reference"},
    };

    cr_assert(w.usable, "%s", w.unusable_reason);
    cr_assert_eq(w.image_count, sizeof(wanted) / sizeof(wanted[0]));
    for (size_t i = 0; i < w.image_count; i++) {
        struct str place = {0};

        cr_assert_eq(w.images[i].list, wanted[i].list);
        cr_assert(str_equal(w.images[i].reference, str_of(wanted[i].reference)));
        cr_assert_eq(str_present(w.images[i].reference), wanted[i].reference != NULL);
        cr_assert_eq(workload_image_place(&w, &w.images[i], &arena, &place), 0);
        cr_assert(str_equal(place, str_of(wanted[i].place)));
    }
    cr_assert(str_equal(w.service_account, STR("sa")));
    cr_assert(str_equal(w.runtime_class, STR("gvisor")));
}

#define C "\"containers\":[{\"image\":\"c\"}]"
static const struct {
    enum workload_kind kind;
    const char *json;
    const char *reason; /* NULL: usable */
    bool annotations_readable;
    bool images_readable;
} unusable[] = {
    {WORKLOAD_POD, "{\"spec\":{" C "}}", NULL, true, true},
    {WORKLOAD_POD, "null", "there is no object", false, false},
    {WORKLOAD_POD, "7", "the pod, and each field that holds it, must be an object", false, false},
    {WORKLOAD_POD, "{}", "it has no container", true, true},
    {WORKLOAD_POD, "{\"spec\":null}", "it has no container", true, true},
    {WORKLOAD_POD, "{\"spec\":[]}", "its spec must be an object", true, false},
    {WORKLOAD_POD, "{\"spec\":{\"containers\":[]}}", "it has no container", true, true},
    {WORKLOAD_POD, "{\"spec\":{\"containers\":null}}", "it has no container", true, true},
    {WORKLOAD_POD, "{\"spec\":{\"initContainers\":[{\"image\":\"c\"}]}}", "it has no container",
     true, true},
    {WORKLOAD_POD, "{\"spec\":{\"containers\":{}}}",
     "its lists of containers and volumes must be lists", true, false},
    {WORKLOAD_POD, "{\"spec\":{" C ",\"initContainers\":\"x\"}}",
     "its lists of containers and volumes must be lists", true, false},
    {WORKLOAD_POD, "{\"spec\":{" C ",\"ephemeralContainers\":0}}",
     "its lists of containers and volumes must be lists", true, false},
    {WORKLOAD_POD, "{\"spec\":{" C ",\"volumes\":false}}",
     "its lists of containers and volumes must be lists", true, false},
    {WORKLOAD_POD, "{\"spec\":{" C ",\"initContainers\":null,\"volumes\":null}}", NULL, true, true},
    {WORKLOAD_POD, "{\"spec\":{\"containers\":[null]}}",
     "each of its containers and volumes must be an object", true, false},
    {WORKLOAD_POD, "{\"spec\":{" C ",\"volumes\":[\"x\"]}}",
     "each of its containers and volumes must be an object", true, false},
    {WORKLOAD_POD, "{\"spec\":{\"containers\":[{\"image\":7}]}}", "an image must be text", true,
     false},
    {WORKLOAD_POD, "{\"spec\":{\"containers\":[{\"image\":null}]}}", NULL, true, true},
    {WORKLOAD_POD, "{\"spec\":{" C ",\"volumes\":[{\"image\":\"x\"}]}}",
     "the image of a volume must be an object", true, false},
    {WORKLOAD_POD, "{\"spec\":{" C ",\"volumes\":[{\"image\":{\"reference\":[]}}]}}",
     "an image must be text", true, false},
    {WORKLOAD_POD, "{\"spec\":{" C ",\"serviceAccountName\":1}}",
     "its serviceAccountName must be text", true, true},
    {WORKLOAD_POD, "{\"spec\":{" C ",\"runtimeClassName\":{}}}",
     "its runtimeClassName must be text", true, true},
    {WORKLOAD_POD, "{\"metadata\":[],\"spec\":{" C "}}",
     "its annotations must be an object, and those under sandbox.runx.dev/ text", false, true},
    {WORKLOAD_POD, "{\"metadata\":{\"annotations\":\"x\"},\"spec\":{" C "}}",
     "its annotations must be an object, and those under sandbox.runx.dev/ text", false, true},
    {WORKLOAD_POD,
     "{\"metadata\":{\"annotations\":{\"sandbox.runx.dev/class\":null}},\"spec\":{" C "}}",
     "its annotations must be an object, and those under sandbox.runx.dev/ text", false, true},
    {WORKLOAD_POD, "{\"metadata\":{\"annotations\":{\"example.test/x\":7}},\"spec\":{" C "}}", NULL,
     true, true},
    {WORKLOAD_POD, "{\"metadata\":{\"annotations\":null},\"spec\":{" C "}}", NULL, true, true},
    {WORKLOAD_DEPLOYMENT, "{}", "there is no pod template", false, false},
    {WORKLOAD_DEPLOYMENT, "{\"spec\":{\"template\":null}}", "there is no pod template", false,
     false},
    {WORKLOAD_DEPLOYMENT, "{\"spec\":{\"template\":\"x\"}}",
     "the pod, and each field that holds it, must be an object", false, false},
    {WORKLOAD_CRON_JOB, "{\"spec\":{\"jobTemplate\":[]}}",
     "the pod, and each field that holds it, must be an object", false, false},
    {WORKLOAD_DEPLOYMENT, "{\"metadata\":7,\"spec\":{\"template\":{\"spec\":{" C "}}}}",
     "the object's own annotations must be an object, and those under sandbox.runx.dev/ text", true,
     true},
};

/* Section 3: what makes a pod unusable, and which parts of it can still be compared or read. */
Test(workload, an_unusable_pod_has_a_reason)
{
    for (size_t i = 0; i < sizeof(unusable) / sizeof(unusable[0]); i++) {
        cleanup_arena struct arena arena = {0};
        struct workload w = read_workload(&arena, unusable[i].kind, unusable[i].json);

        cr_assert_eq(w.usable, unusable[i].reason == NULL, "%s", unusable[i].json);
        if (unusable[i].reason != NULL)
            cr_assert_str_eq(w.unusable_reason, unusable[i].reason, "%s: %s", unusable[i].json,
                             w.unusable_reason);
        cr_assert_eq(w.annotations_readable, unusable[i].annotations_readable, "%s",
                     unusable[i].json);
        cr_assert_eq(w.images_readable, unusable[i].images_readable, "%s", unusable[i].json);
    }
}

Test(workload, annotations_of_the_controller_are_counted)
{
    cleanup_arena struct arena arena = {0};
    struct workload w =
        read_workload(&arena, WORKLOAD_JOB,
                      "{\"metadata\":{\"annotations\":{\"SANDBOX.runx.dev/x\":\"y\"}},"
                      "\"spec\":{\"template\":{\"spec\":{\"containers\":[{}]}}}}");

    cr_assert(w.usable && w.own_managed && w.own_readable && !w.carries_our_key);
    cr_assert_null(w.annotations);
    cr_assert_not_null(w.own_annotations);
}

/* Whether the template of that kind is unchanged in a review; old, new: the members of it. */
static bool same_spec(enum workload_kind kind, const char *old, const char *new)
{
    static const char *const objects[] = {
        [WORKLOAD_POD] = "{%s}",
        [WORKLOAD_POD_TEMPLATE] = "{\"template\":{%s}}",
        [WORKLOAD_REPLICATION_CONTROLLER] = "{\"spec\":{\"template\":{%s}}}",
        [WORKLOAD_REPLICA_SET] = "{\"spec\":{\"template\":{%s}}}",
        [WORKLOAD_DEPLOYMENT] = "{\"spec\":{\"template\":{%s}}}",
        [WORKLOAD_STATEFUL_SET] = "{\"spec\":{\"template\":{%s}}}",
        [WORKLOAD_DAEMON_SET] = "{\"spec\":{\"template\":{%s}}}",
        [WORKLOAD_JOB] = "{\"spec\":{\"template\":{%s}}}",
        [WORKLOAD_CRON_JOB] = "{\"spec\":{\"jobTemplate\":{\"spec\":{\"template\":{%s}}}}}",
    };
    const char *before = strstr(objects[kind], "%s");
    int length = (int)(before - objects[kind]);
    cleanup_arena struct arena arena = {0};
    struct document_error error = {0};
    struct workload a = {0}, b = {0};
    struct review review = {0};
    struct str text = arena_format(
        &arena,
        "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{"
        "\"uid\":\"u\",\"kind\":{\"kind\":\"X\"},\"operation\":\"UPDATE\","
        "\"object\":%.*s%s%s,\"oldObject\":%.*s%s%s}}",
        length, objects[kind], new, before + 2, length, objects[kind], old, before + 2);

    cr_assert_eq(review_read(text, DOCUMENT_JSON, &arena, &review, &error), 0, "%s", text.ptr);
    cr_assert_eq(workload_read(kind, review.object, &arena, &a), 0);
    cr_assert_eq(workload_read(kind, review.old_object, &arena, &b), 0);
    cr_expect_not_null(a.pod);
    cr_assert_eq(workload_same_spec(&a, &b), workload_same_spec(&b, &a));
    return workload_same_spec(&a, &b);
}

/* Of controllers, and all of the spec: also what the gate does not read. */
Test(workload, specs_of_templates_are_compared_as_trees)
{
    static const struct {
        const char *old;
        const char *new;
        bool same;
    } rows[] = {
        {"\"spec\":{\"containers\":[{\"args\":[\"a\"],\"env\":[{\"name\":\"A\",\"value\":\"1\"}]}]"
         "}",
         "\"spec\":{\"containers\":[{\"env\":[{\"value\":\"1\",\"name\":\"A\"}],\"args\":[\"a\"]}]"
         "}",
         true},
        {"\"spec\":{\"containers\":[{\"args\":[\"a\"]}]}",
         "\"spec\":{\"containers\":[{\"args\":[\"b\"]}]}", false},
        {"\"spec\":{\"containers\":[{\"command\":[\"a\"]}]}",
         "\"spec\":{\"containers\":[{\"command\":[\"a\",\"a\"]}]}", false},
        {"\"spec\":{\"containers\":[{\"env\":[{\"name\":\"A\",\"value\":\"1\"}]}]}",
         "\"spec\":{\"containers\":[{\"env\":[{\"name\":\"A\",\"value\":\"2\"}]}]}", false},
        {"\"spec\":{\"nodeName\":null}", "\"spec\":{}", false},
        {"\"spec\":{\"hostNetwork\":true}", "\"spec\":{}", false},
        {"\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"x\":1}", "\"spec\":{\"x\":1}", true},
        {"\"spec\":{}", "\"spec\":{ }", true},
        {"", "", true},
        {"\"spec\":null", "\"spec\":null", true},
        {"\"spec\":null", "", false},
        {"\"spec\":{}", "", false},
        {"\"spec\":{}", "\"spec\":null", false},
        {"\"spec\":[]", "\"spec\":[]", false},
        {"\"spec\":\"x\"", "\"spec\":\"x\"", false},
        {"\"spec\":7", "\"spec\":7", false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cr_expect(!same_spec(WORKLOAD_POD, rows[i].old, rows[i].new));
        for (int kind = WORKLOAD_POD_TEMPLATE; kind <= WORKLOAD_CRON_JOB; kind++)
            cr_expect_eq(same_spec((enum workload_kind)kind, rows[i].old, rows[i].new),
                         rows[i].same, "%d: %s and %s", kind, rows[i].old, rows[i].new);
    }
}

/* Without a template there is nothing that can be called the same; nor in an object that was not
 * read as a part of a review. */
Test(workload, nothing_is_the_same_as_a_spec_that_was_not_read)
{
    cleanup_arena struct arena arena = {0};
    struct workload none = read_workload(&arena, WORKLOAD_JOB, "{}");
    struct workload other =
        read_workload(&arena, WORKLOAD_JOB, "{\"spec\":{\"template\":{\"spec\":{}}}}");

    cr_expect_null(none.pod);
    cr_expect_not_null(other.pod);
    cr_expect(!workload_same_spec(&none, &none));
    cr_expect(!workload_same_spec(&other, &other));
}
