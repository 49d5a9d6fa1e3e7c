/* SPDX-License-Identifier: Apache-2.0 */
/* test_review - the fields of an AdmissionReview, and reviews that are rejected. */
#include "k8s/review/review.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "planner/base/tree.h"
#include "reading.h"

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

/* One pod with each field that the gate reads, beside others of the same object or list, and what
 * is kept of it. */
#define POD_METADATA_READ                                                                          \
    "\"labels\":{\"a\":\"b\",\"c\":{}},\"annotations\":{\"x\":\"y\",\"z\":{}},\"uid\":\"i\""
#define POD_METADATA                                                                               \
    "{\"managedFields\":[{}],\"labels\":{\"a\":\"b\",\"c\":{\"hidden\":1}},\"annotations\":{"      \
    "\"x\":\"y\",\"z\":{\"hidden\":1}},\"uid\":\"i\",\"finalizers\":[\"hidden\"]}"

#define VARIABLES                                                                                  \
    "\"args\":[\"hidden\"],\"command\":[\"hidden\"],\"env\":[{\"name\":\"S\",\"value\":"           \
    "\"hidden\"},"                                                                                 \
    "{\"valueFrom\":{\"secretKeyRef\":{\"name\":\"hidden\"}},\"name\":\"T\"},{\"value\":"          \
    "\"hidden\"}],"                                                                                \
    "\"envFrom\":[{\"prefix\":\"hidden\",\"secretRef\":{\"name\":\"hidden\"}}],"
#define VARIABLES_READ "\"env\":[{\"name\":\"S\"},{\"name\":\"T\"},{}],\"envFrom\":[{}],"

#define SERVING                                                                                    \
    "\"ports\":[{\"containerPort\":1,\"hostPort\":2},{\"name\":\"hidden\"}],"                      \
    "\"livenessProbe\":{\"httpGet\":{\"path\":\"hidden\"},\"periodSeconds\":1},"                   \
    "\"readinessProbe\":{\"tcpSocket\":{\"port\":1},\"exec\":{\"command\":[\"hidden\"]}},"         \
    "\"startupProbe\":{\"grpc\":{\"port\":1}},"                                                    \
    "\"lifecycle\":{\"postStart\":{\"httpGet\":{\"host\":\"hidden\"},\"sleep\":{\"seconds\":1}},"  \
    "\"preStop\":{\"tcpSocket\":{\"port\":1},\"exec\":{\"command\":[\"hidden\"]}},\"stopSignal\":" \
    "\"S\"},"
#define SERVING_READ                                                                               \
    "\"ports\":[{\"hostPort\":2},{}],\"livenessProbe\":{\"httpGet\":{}},"                          \
    "\"readinessProbe\":{\"tcpSocket\":{}},\"startupProbe\":{\"grpc\":{}},"                        \
    "\"lifecycle\":{\"postStart\":{\"httpGet\":{}},\"preStop\":{\"tcpSocket\":{}}},"

#define MOUNTS                                                                                     \
    "\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/"                                          \
    "m\",\"readOnly\":true,\"subPath\":\"hidden\"}],"                                              \
    "\"volumeDevices\":[{\"name\":\"hidden\",\"devicePath\":\"/dev/x\"},7],"
#define MOUNTS_READ                                                                                \
    "\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/m\",\"readOnly\":true}],"                  \
    "\"volumeDevices\":[{},7],"

#define SECCOMP "\"seccompProfile\":{\"type\":\"Localhost\",\"localhostProfile\":\"hidden\"},"
#define SECCOMP_READ "\"seccompProfile\":{\"type\":\"Localhost\"},"
#define USER "\"runAsUser\":0,\"runAsNonRoot\":true,"
#define SECURITY_READ                                                                              \
    "\"securityContext\":{\"readOnlyRootFilesystem\":true,\"privileged\":false,"                   \
    "\"allowPrivilegeEscalation\":false,\"procMount\":\"Default\"," USER SECCOMP_READ              \
    "\"capabilities\":{\"add\":[\"A\",{}],\"drop\":[\"ALL\"]},\"windowsOptions\":{"                \
    "\"hostProcess\":true}},"
#define SECURITY                                                                                   \
    "\"securityContext\":{\"runAsGroup\":1,\"readOnlyRootFilesystem\":true,\"privileged\":false,"  \
    "\"allowPrivilegeEscalation\":false,\"procMount\":\"Default\"," USER SECCOMP                   \
    "\"capabilities\":{\"add\":[\"A\",{\"hidden\":1}],\"drop\":[\"ALL\"]},"                        \
    "\"windowsOptions\":{\"hostProcess\":true,\"runAsUserName\":\"hidden\"}},"
#define RESOURCES                                                                                  \
    "\"resources\":{\"limits\":{\"cpu\":1,\"memory\":\"1Gi\",\"hidden\":1},\"requests\":{\"cpu\":" \
    "1}}"
#define RESOURCES_READ "\"resources\":{\"limits\":{\"cpu\":1,\"memory\":\"1Gi\"}}"

#define CONTAINER                                                                                  \
    "[{\"name\":\"hidden\",\"image\":\"i\",\"workingDir\":\"/w\"," VARIABLES SERVING MOUNTS        \
        SECURITY RESOURCES "}]"
#define CONTAINER_READ                                                                             \
    "[{\"image\":\"i\",\"workingDir\":\"/w\"," VARIABLES_READ SERVING_READ MOUNTS_READ             \
        SECURITY_READ RESOURCES_READ "}]"

#define VOLUMES                                                                                    \
    "[{\"name\":\"a\",\"hostPath\":{\"path\":\"/"                                                  \
    "hidden\"}},{\"emptyDir\":{\"medium\":\"hidden\"}},"                                           \
    "{\"csi\":{\"readOnly\":true,\"driver\":\"hidden\"}},{\"projected\":{\"sources\":["            \
    "{\"serviceAccountToken\":{\"path\":\"hidden\"}},{\"podCertificate\":{}},{\"secret\":{}}]}},"  \
    "{\"image\":{\"reference\":\"r\",\"pullPolicy\":\"hidden\"}}]"
#define VOLUMES_READ                                                                               \
    "[{\"name\":\"a\",\"hostPath\":{}},{\"emptyDir\":{}},{\"csi\":{\"readOnly\":true}},"           \
    "{\"projected\":{\"sources\":[{\"serviceAccountToken\":{}},{\"podCertificate\":{}},{}]}},"     \
    "{\"image\":{\"reference\":\"r\"}}]"

#define POD_FIELDS                                                                                 \
    "\"enableServiceLinks\":false,\"hostNetwork\":true,\"hostPID\":true,\"hostIPC\":[],"           \
    "\"shareProcessNamespace\":true,\"hostUsers\":false,\"automountServiceAccountToken\":false,"
#define POD_SECURITY                                                                               \
    "\"securityContext\":{" USER SECCOMP                                                           \
    "\"sysctls\":[\"hidden\"],\"windowsOptions\":{\"hostProcess\":true}},"
#define POD_SECURITY_READ                                                                          \
    "\"securityContext\":{" USER SECCOMP_READ "\"windowsOptions\":{\"hostProcess\":true}},"

/* The spec of a pod with each of these fields: as it is sent, or what is kept. */
static const char *pod_spec(struct arena *arena, bool kept)
{
    const char *container = kept ? CONTAINER_READ : CONTAINER;
    struct str spec = arena_format(
        arena,
        "{%s\"containers\":%s,\"initContainers\":%s,\"ephemeralContainers\":%s,\"volumes\":%s,"
        "%s%s%s}",
        kept ? "" : "\"nodeName\":\"hidden\",", container, container, container,
        kept ? VOLUMES_READ : VOLUMES, POD_FIELDS, kept ? POD_SECURITY_READ : POD_SECURITY,
        kept ? RESOURCES_READ : RESOURCES);

    cr_assert(str_present(spec));
    return spec.ptr;
}

static void check_kept(struct arena *arena, struct str object, struct str kept)
{
    struct str text =
        arena_format(arena, HEAD "\"uid\":\"u\"," POD "\"object\":%s," REST, object.ptr);
    struct document_error error = {0};
    struct review r = {0};

    cr_assert_eq(read_text(arena, text.ptr, &r, &error), 0, "%zu:%zu %s", error.line, error.column,
                 error.what);
    cr_assert_str_eq(reading_write(arena, r.object).ptr, kept.ptr);
}

/* Nothing else becomes a node: no value of a variable, no argument, no command. */
Test(review, keeps_exactly_the_fields_of_a_pod_that_are_read)
{
    cleanup_arena struct arena arena = {0};

    check_kept(&arena,
               arena_format(&arena, "{\"metadata\":" POD_METADATA ",\"spec\":%s,\"status\":{}}",
                            pod_spec(&arena, false)),
               arena_format(&arena, "{\"metadata\":{" POD_METADATA_READ "},\"spec\":%s}",
                            pod_spec(&arena, true)));
}

#define TEMPLATE(uid)                                                                              \
    "{\"spec\":{\"jobTemplate\":{\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"a\":"         \
    "\"b\"}" uid "},\"spec\":%s}}}}}"

/* Of a template the same, but for its uid, which no template has. */
Test(review, keeps_the_same_fields_of_a_template)
{
    cleanup_arena struct arena arena = {0};

    check_kept(&arena,
               arena_format(&arena, TEMPLATE(",\"uid\":\"hidden\""), pod_spec(&arena, false)),
               arena_format(&arena, TEMPLATE(""), pod_spec(&arena, true)));
}

/* A value where an object or list is due has its type, but not its content: it can be one of a
 * variable. */
Test(review, keeps_no_text_where_an_object_or_list_is_due)
{
    cleanup_arena struct arena arena = {0};

    check_kept(&arena,
               STR("{\"metadata\":\"hidden\",\"spec\":{\"volumes\":\"hidden\",\"containers\":["
                   "\"hidden\",{\"env\":[\"A=hidden\",7],\"ports\":\"hidden\"},"
                   "{\"env\":{\"A\":\"hidden\"},\"securityContext\":\"hidden\"}]}}"),
               STR("{\"metadata\":\"\",\"spec\":{\"volumes\":\"\",\"containers\":["
                   "\"\",{\"env\":[\"\",7],\"ports\":\"\"},"
                   "{\"env\":{\"A\":\"\"},\"securityContext\":\"\"}]}}"));
}

/* A review with so many values of each of two kinds in its pod: containers, and variables. */
static int read_many(struct arena *arena, size_t containers, size_t variables)
{
    char *text = arena_alloc(arena, 4 * containers + 16 * variables + 4096, 1);
    struct document_error error = {0};
    struct review r = {0};
    char *at = text;

    at = stpcpy(at, HEAD "\"uid\":\"u\"," POD "\"object\":{\"spec\":{\"containers\":[{\"env\":[{}");
    for (size_t i = 1; i < variables; i++)
        at = stpcpy(at, ",{\"name\":\"N\"}");
    at = stpcpy(at, "]}");
    for (size_t i = 1; i < containers; i++)
        at = stpcpy(at, ",{}");
    at = stpcpy(at, "]}}," REST);
    return review_read((struct str){.ptr = text, .len = (size_t)(at - text)}, DOCUMENT_JSON, arena,
                       &r, &error);
}

/* What only the boundary reads counts by itself: no pod is refused because that is kept, too. */
Test(review, counts_the_fields_of_the_boundary_apart)
{
    /* the review and its members, five members of the request, three of its kind, spec, the list */
    const size_t others = 1 + 3 + 5 + 3 + 2;
    /* each variable but the first has two nodes, and the list is one */
    const size_t variables = (DOCUMENT_MAX_APART_NODES - 2) / 2 + 1;
    cleanup_arena struct arena arena = {0};

    cr_expect_eq(read_many(&arena, DOCUMENT_MAX_NODES - others, variables), 0);
    cr_expect_eq(read_many(&arena, DOCUMENT_MAX_NODES - others + 1, 1), -E2BIG);
    cr_expect_eq(read_many(&arena, 1, variables + 1), -E2BIG);
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
