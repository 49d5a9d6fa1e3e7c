/* SPDX-License-Identifier: Apache-2.0 */
/* test_review - the fields of an AdmissionReview, and reviews that are rejected. */
#include "k8s/review/review.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "planner/base/tree.h"

static int read_text(struct arena *arena, const char *json, struct review *review,
                     struct document_error *error)
{
    return review_read(str_of(json), DOCUMENT_JSON, arena, review, error);
}

#define HEAD                                                                                       \
    "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\n \"request\":{\n"
#define POD "\"kind\":{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Pod\"},\n"
#define REST "\"operation\":\"CREATE\",\"namespace\":\"n\"}}"

Test(review, reads_the_fields_that_the_gate_needs)
{
    cleanup_arena struct arena arena = {0};
    struct review r = {0};
    struct document_error error = {0};

    cr_assert_eq(
        read_text(
            &arena,
            "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{"
            "\"dryRun\":true,\"uid\":\"u\",\"kind\":{\"group\":\"apps\",\"version\":\"v9\","
            "\"kind\":\"Deployment\"},\"subResource\":\"scale\",\"name\":\"d\","
            "\"namespace\":\"n\",\"operation\":\"UPDATE\",\"userInfo\":{\"username\":\"me\","
            "\"groups\":[\"a\",\"b\"],\"extra\":{\"x\":[1]}},\"object\":{\"spec\":{\"x\":1}},"
            "\"oldObject\":null,\"options\":[]}}",
            &r, &error),
        0);
    cr_assert(str_equal(r.uid, STR("u")));
    cr_assert(str_equal(r.kind_group, STR("apps")));
    cr_assert(str_equal(r.kind_version, STR("v9")));
    cr_assert(str_equal(r.kind_name, STR("Deployment")));
    cr_assert_eq(r.kind, WORKLOAD_DEPLOYMENT);
    cr_assert(str_equal(r.subresource, STR("scale")));
    cr_assert(str_equal(r.name, STR("d")));
    cr_assert(str_equal(r.namespace_name, STR("n")));
    cr_assert_eq(r.operation, REVIEW_UPDATE);
    cr_assert(str_equal(r.user, STR("me")));
    cr_assert(review_has_group(&r, STR("b")));
    cr_assert(!review_has_group(&r, STR("")));
    cr_assert(!review_has_group(&r, STR("c")));
    cr_assert(r.dry_run);
    cr_assert_not_null(r.object);
    cr_assert_null(r.old_object);
}

#define OWNED(references) "{\"metadata\":{\"ownerReferences\":" references "}}"

/* Only the controller is the owner. A wrong type there is not a reason to reject a review. */
Test(review, finds_the_owner)
{
    static const struct {
        const char *object;
        const char *old;
        const char *owner;
    } rows[] = {
        {"null", "null", ""},
        {"{}", OWNED("[{\"kind\":\"A\",\"name\":\"a\",\"controller\":true}]"), ""},
        {"null", OWNED("[{\"kind\":\"A\",\"name\":\"a\",\"controller\":true}]"), "A a"},
        {OWNED("[{\"kind\":\"A\",\"name\":\"a\"},{\"controller\":true,\"kind\":\"B\","
               "\"name\":\"b\",\"uid\":\"u\"}]"),
         "null", "B b"},
        {OWNED("[1,null,{\"controller\":\"true\",\"kind\":\"A\",\"name\":\"a\"}]"), "null", ""},
        {OWNED("{\"a\":{\"controller\":true,\"kind\":\"A\",\"name\":\"a\"}}"), "null", ""},
        {OWNED("\"x\""), "null", ""},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cleanup_arena struct arena arena = {0};
        struct str text = arena_format(&arena,
                                       HEAD "\"uid\":\"u\"," POD "\"object\":%s,"
                                            "\"oldObject\":%s," REST,
                                       rows[i].object, rows[i].old);
        struct review r = {0};
        struct document_error error = {0};
        struct review_owner owner = {0};

        cr_assert_eq(read_text(&arena, text.ptr, &r, &error), 0, "%zu: %s", i, error.what);
        owner = review_owner(&r);
        text =
            arena_format(&arena, "%.*s%s%.*s", (int)owner.kind.len, owner.kind.ptr,
                         str_present(owner.kind) ? " " : "", (int)owner.name.len, owner.name.ptr);
        cr_assert(str_equal(text, str_of(rows[i].owner)), "%zu: %s", i, text.ptr);
    }
}

Test(review, skips_unused_fields)
{
    cleanup_arena struct arena arena = {0};
    struct review r = {0};
    struct document_error error = {0};
    const cJSON *pod = NULL;

    cr_assert_eq(
        read_text(&arena,
                  HEAD
                  "\"uid\":\"u\"," POD
                  "\"object\":{\"metadata\":{\"managedFields\":[{}],\"labels\":{\"a\":\"b\"},"
                  "\"annotations\":{\"x\":\"y\",\"z\":{\"deep\":1}}},\"spec\":{\"containers\":[{"
                  "\"image\":\"i\",\"env\":[{\"name\":\"S\",\"value\":\"secret\"}],"
                  "\"args\":[\"x\"]}]},\"status\":{}}," REST,
                  &r, &error),
        0);
    pod = r.object;
    cr_assert_null(tree_get(pod, "status"));
    cr_assert_null(tree_get(tree_get(pod, "metadata"), "managedFields"));
    cr_assert_null(tree_get(tree_get(pod, "metadata"), "labels"));
    pod = tree_get(tree_get(pod, "spec"), "containers")->child;
    cr_assert_not_null(tree_get(pod, "image"));
    cr_assert_null(tree_get(pod, "env"));
    cr_assert_null(tree_get(pod, "args"));
    /* annotations of others must be strings too */
    pod = tree_get(tree_get(tree_get(r.object, "metadata"), "annotations"), "z");
    cr_assert(tree_is(pod, cJSON_Object) && pod->child == NULL);
}

static const struct {
    const char *json;
    size_t line;
    size_t column;
    const char *what;
} refusals[] = {
    {"[]", 1, 1, "a review must be an object"},
    {"\"x\"", 1, 1, "a review must be an object"},
    {"{\"kind\":\"AdmissionReview\",\"request\":{}}", 1, 1,
     "apiVersion must be admission.k8s.io/v1"},
    {"{\"apiVersion\":\"admission.k8s.io/v1beta1\",\"kind\":\"AdmissionReview\"}", 1, 15,
     "apiVersion must be admission.k8s.io/v1"},
    {"{\"apiVersion\":7,\"kind\":\"AdmissionReview\"}", 1, 15,
     "apiVersion must be admission.k8s.io/v1"},
    {"{\"apiVersion\":\"admission.k8s.io/v1\",\n\"kind\":\"Pod\"}", 2, 8,
     "kind must be AdmissionReview"},
    {"{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\"}", 1, 1,
     "request is missing"},
    {"{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":null}", 1, 1,
     "request is missing"},
    {"{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\n\"request\":[]}", 2,
     11, "request must be an object"},
    {HEAD POD REST, 2, 12, "request.uid must be text"},
    {HEAD "\"uid\":\"\"," POD REST, 3, 7, "request.uid must be text"},
    {HEAD "\"uid\":1," POD REST, 3, 7, "request.uid must be text"},
    {HEAD "\"uid\":\"u\"," REST, 2, 12, "request.kind is missing"},
    {HEAD "\"uid\":\"u\",\"kind\":\"Pod\"," REST, 3, 18, "request.kind must be an object"},
    {HEAD "\"uid\":\"u\",\"kind\":{\"kind\":\"\"}," REST, 3, 26, "request.kind.kind must be text"},
    {HEAD "\"uid\":\"u\",\"kind\":{}," REST, 3, 18, "request.kind.kind must be text"},
    {HEAD "\"uid\":\"u\",\"kind\":{\"kind\":\"Pod\",\"group\":[]}," REST, 3, 40,
     "request.kind.group must be text"},
    {HEAD "\"uid\":\"u\"," POD "\"operation\":\"PATCH\",\"namespace\":\"n\"}}", 4, 13,
     "request.operation must be CREATE, UPDATE, DELETE or CONNECT"},
    {HEAD "\"uid\":\"u\"," POD "\"operation\":\"create\",\"namespace\":\"n\"}}", 4, 13,
     "request.operation must be CREATE, UPDATE, DELETE or CONNECT"},
    {HEAD "\"uid\":\"u\"," POD "\"namespace\":\"n\"}}", 2, 12,
     "request.operation must be CREATE, UPDATE, DELETE or CONNECT"},
    {HEAD "\"uid\":\"u\"," POD "\"operation\":\"CREATE\"}}", 2, 12,
     "request.namespace must not be empty for this kind"},
    {HEAD "\"uid\":\"u\"," POD "\"operation\":\"DELETE\",\"namespace\":\"\"}}", 4, 34,
     "request.namespace must not be empty for this kind"},
    {HEAD "\"uid\":\"u\"," POD "\"namespace\":7," REST, 0, 0, "a key is given twice"},
    {HEAD "\"uid\":\"u\"," POD "\"name\":{}," REST, 4, 8, "request.name must be text"},
    {HEAD "\"uid\":\"u\"," POD "\"subResource\":1," REST, 4, 15,
     "request.subResource must be text"},
    {HEAD "\"uid\":\"u\"," POD "\"userInfo\":\"me\"," REST, 4, 12,
     "request.userInfo must be an object"},
    {HEAD "\"uid\":\"u\"," POD "\"userInfo\":{\"username\":7}," REST, 4, 24,
     "request.userInfo.username must be text"},
    {HEAD "\"uid\":\"u\"," POD "\"userInfo\":{\"groups\":\"g\"}," REST, 4, 22,
     "request.userInfo.groups must be a list of text"},
    {HEAD "\"uid\":\"u\"," POD "\"userInfo\":{\"groups\":[\"g\",null]}," REST, 4, 27,
     "request.userInfo.groups must be a list of text"},
    {HEAD "\"uid\":\"u\"," POD "\"dryRun\":\"true\"," REST, 4, 10,
     "request.dryRun must be true or false"},
};

/* Sections 3 and 8: 400, with the place of the error, or of the object that lacks a member. */
Test(review, rejects_with_a_place)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        cleanup_arena struct arena arena = {0};
        struct review r = {0};
        struct document_error error = {0};

        cr_assert_eq(read_text(&arena, refusals[i].json, &r, &error), -EBADMSG, "%s",
                     refusals[i].json);
        if (refusals[i].line == 0)
            continue; /* an error of the reader */
        cr_assert_str_eq(error.what, refusals[i].what, "%s: %s", refusals[i].json, error.what);
        cr_assert_eq(error.line, refusals[i].line, "%s: %zu", refusals[i].json, error.line);
        cr_assert_eq(error.column, refusals[i].column, "%s: %zu", refusals[i].json, error.column);
        cr_assert_null(r.object);
    }
}

Test(review, other_kinds_need_no_namespace)
{
    cleanup_arena struct arena arena = {0};
    struct review r = {0};
    struct document_error error = {0};

    cr_assert_eq(read_text(&arena,
                           HEAD "\"uid\":\"u\",\"kind\":{\"kind\":\"Node\"},"
                                "\"operation\":\"DELETE\",\"object\":7}}",
                           &r, &error),
                 0);
    cr_assert_eq(r.kind, WORKLOAD_NONE);
    cr_assert(str_present(r.kind_group) && r.kind_group.len == 0);
    cr_assert_eq(r.namespace_name.len, 0);
}

/* NUL is read as U+FFFD. Keys that become equal by this are duplicates. */
Test(review, replaces_nul)
{
    cleanup_arena struct arena arena = {0};
    struct review r = {0};
    struct document_error error = {0};

    cr_assert_eq(read_text(&arena, HEAD "\"uid\":\"a\\u0000b\"," POD REST, &r, &error), 0);
    cr_assert(str_equal(r.uid, STR("a\xEF\xBF\xBD"
                                   "b")));
}

Test(review, reads_yaml)
{
    cleanup_arena struct arena arena = {0};
    struct review r = {0};
    struct document_error error = {0};
    int n = review_read(STR("apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nrequest:\n"
                            "  uid: u\n  kind: {group: \"\", kind: Pod}\n  operation: CREATE\n"
                            "  namespace: ns\n  object: null\n"),
                        DOCUMENT_YAML, &arena, &r, &error);

    cr_assert_eq(n, 0, "%zu:%zu %s", error.line, error.column, error.what);
    cr_assert_eq(r.kind, WORKLOAD_POD);
    n = review_read(STR("apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nrequest:\n"
                        "  uid: 1\n"),
                    DOCUMENT_YAML, &arena, &r, &error);
    cr_assert_eq(n, -EBADMSG);
    cr_assert_eq(error.line, 4);
    cr_assert_eq(error.column, 8);
}

Test(review, stops_at_too_many_nodes)
{
    cleanup_arena struct arena arena = {0};
    struct review r = {0};
    struct document_error error = {0};
    char *text = arena_alloc(&arena, 4 * DOCUMENT_MAX_NODES + 4096, 1);
    char *at = text;

    at = stpcpy(at, HEAD "\"uid\":\"u\"," POD "\"object\":{\"spec\":{\"containers\":[{}");
    for (unsigned i = 0; i < DOCUMENT_MAX_NODES; i++)
        at = stpcpy(at, ",{}");
    at = stpcpy(at, "]}}," REST);
    cr_assert_eq(review_read((struct str){.ptr = text, .len = (size_t)(at - text)}, DOCUMENT_JSON,
                             &arena, &r, &error),
                 -E2BIG);
}
