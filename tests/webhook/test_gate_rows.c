/* SPDX-License-Identifier: Apache-2.0 */
/* test_gate_rows - section 3: which requests are judged, and the order of its rows. */

#include <criterion/criterion.h>
#include <errno.h>

#include "helper.h"

#define BAD_POD                                                                                    \
    "{\"metadata\":{\"annotations\":{\"sandbox.runx.dev/skill-ref\":\"acme/none@1.0.0\"}},"        \
    "\"spec\":{\"containers\":[{\"image\":\"" HELPER_UNKNOWN "\"}]}}"
#define MIRROR_POD                                                                                 \
    "{\"metadata\":{\"annotations\":{\"kubernetes.io/config.mirror\":\"\"}},"                      \
    "\"spec\":{\"containers\":[{\"image\":\"x\"}]}}"
#define PLAIN_POD "{\"spec\":{\"containers\":[{\"image\":\"x\"}]}}"
#define JUDGED "denied needs_more_evidence"

struct row {
    struct helper_review review;
    const char *wanted; /* the first two words of the decision */
};

static void check(const struct snapshot *snapshot, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cleanup_arena struct arena arena = {0};
        struct exchange e = helper_exchange(&arena, snapshot, &rows[i].review);
        struct str got = helper_codes(&arena, &e.decision);

        cr_assert(str_starts_with(got, str_of(rows[i].wanted)), "row %zu: %.*s", i, (int)got.len,
                  got.ptr);
    }
}

#define CHECK(snapshot, rows) check(snapshot, rows, sizeof(rows) / sizeof(rows[0]))

Test(gate_rows, other_kinds_and_operations_are_allowed)
{
    cleanup_arena struct arena arena = {0};
    struct snapshot *snapshot = helper_default_snapshot(&arena);
    static const struct row rows[] = {
        {{.object = BAD_POD}, JUDGED},
        {{.object = BAD_POD, .group = "example.test"}, "allowed not_evaluated"},
        {{.object = BAD_POD, .kind = "Node"}, "allowed not_evaluated"},
        {{.object = BAD_POD, .kind = "Binding"}, "allowed not_evaluated"},
        {{.object = BAD_POD, .kind = "Node", .namespace_name = ""}, "allowed not_evaluated"},
    };

    CHECK(snapshot, rows);
    snapshot_unref(snapshot);
}

/* Each operation with each subresource. Those that the row does not name are judged. */
Test(gate_rows, judged_operations_and_subresources)
{
    static const char *const operations[] = {"CREATE", "UPDATE", "DELETE", "CONNECT"};
    static const struct {
        const char *name;
        bool passes;
    } subresources[] = {
        {"", false},           {"status", true},
        {"binding", true},     {"eviction", true},
        {"exec", true},        {"attach", true},
        {"portforward", true}, {"proxy", true},
        {"log", true},         {"ephemeralcontainers", false},
        {"resize", false},     {"scale", false},
        {"Status", false},     {"unheard-of", false},
    };
    cleanup_arena struct arena world = {0};
    struct snapshot *snapshot = helper_default_snapshot(&world);

    for (size_t o = 0; o < 4; o++) {
        for (size_t s = 0; s < sizeof(subresources) / sizeof(subresources[0]); s++) {
            cleanup_arena struct arena arena = {0};
            const struct helper_review review = {.operation = operations[o],
                                                 .subresource = subresources[s].name,
                                                 .object = BAD_POD,
                                                 .old = PLAIN_POD};
            struct exchange e = helper_exchange(&arena, snapshot, &review);
            bool passes = o >= 2 || subresources[s].passes;

            cr_assert_eq(e.decision.allowed, passes, "%s %s", operations[o], subresources[s].name);
            cr_assert_eq(e.decision.judged, !passes);
            cr_assert_eq(e.decision.outcome,
                         passes ? OUTCOME_NOT_EVALUATED : OUTCOME_NEEDS_MORE_EVIDENCE);
        }
    }
    snapshot_unref(snapshot);
}

Test(gate_rows, mirror_pods_need_all_three_signs)
{
    cleanup_arena struct arena arena = {0};
    struct snapshot *snapshot = helper_default_snapshot(&arena);
#define NODE .user = "system:node:n1", .groups = "[\"system:nodes\",\"system:authenticated\"]"
    static const struct row rows[] = {
        {{.object = MIRROR_POD, NODE}, "allowed not_evaluated"},
        {{.object = MIRROR_POD, .user = "system:node:n1"}, JUDGED},
        {{.object = MIRROR_POD, .groups = "[\"system:nodes\"]"}, JUDGED},
        {{.object = PLAIN_POD, NODE}, JUDGED},
        {{.object = MIRROR_POD, .user = "system:nodes", .groups = "[\"system:nodes\"]"}, JUDGED},
        {{.object = MIRROR_POD, .user = "system:node:n1", .groups = "[\"system:node\"]"}, JUDGED},
        {{.object = MIRROR_POD, .old = PLAIN_POD, NODE}, "allowed unchanged"},
        {{.object = MIRROR_POD, .old = BAD_POD, NODE}, JUDGED},
        {{.object = "{\"template\":" MIRROR_POD "}", .kind = "PodTemplate", NODE},
         "allowed needs_more_evidence"},
    };

    CHECK(snapshot, rows);
    snapshot_unref(snapshot);
}

#define WITH(annotations, rest)                                                                    \
    "{\"metadata\":{\"annotations\":{" annotations "},\"finalizers\":[\"x\"]},\"spec\":{" rest "}" \
    "}"
#define K "\"sandbox.runx.dev/skill-ref\":\"acme/none@1.0.0\""
#define IMG "\"containers\":[{\"image\":\"a\"},{\"image\":\"b\"}]"

Test(gate_rows, unchanged_compares_images_and_our_annotations)
{
    cleanup_arena struct arena arena = {0};
    struct snapshot *snapshot = helper_default_snapshot(&arena);
    static const struct row rows[] = {
        {{.object = WITH(K, IMG), .old = WITH(K, IMG)}, "allowed unchanged"},
        {{.object = WITH(K ",\"x\":\"y\"", IMG), .old = WITH(K, IMG)}, "allowed unchanged"},
        {{.object = WITH("\"x\":\"y\"," K, IMG ",\"nodeName\":\"n\""), .old = WITH(K, IMG)},
         "allowed unchanged"},
        {{.object = WITH(K, IMG), .old = WITH(K, IMG), .subresource = "ephemeralcontainers"},
         "allowed unchanged"},
        {{.object = WITH(K, "\"containers\":[{\"image\":\"b\"},{\"image\":\"a\"}]"),
          .old = WITH(K, IMG)},
         JUDGED},
        {{.object = WITH(K, IMG ",\"ephemeralContainers\":[{\"image\":\"a\"}]"),
          .old = WITH(K, IMG)},
         JUDGED},
        {{.object = WITH(K, IMG ",\"initContainers\":[{\"image\":\"a\"}]"),
          .old = WITH(K, IMG ",\"ephemeralContainers\":[{\"image\":\"a\"}]")},
         JUDGED},
        {{.object = WITH(K, IMG ",\"volumes\":[{},{\"image\":{\"reference\":\"v\"}}]"),
          .old = WITH(K, IMG ",\"volumes\":[{\"image\":{\"reference\":\"v\"}}]")},
         "allowed unchanged"},
        {{.object = WITH(K, IMG ",\"volumes\":[{\"image\":{\"reference\":\"w\"}}]"),
          .old = WITH(K, IMG ",\"volumes\":[{\"image\":{\"reference\":\"v\"}}]")},
         JUDGED},
        {{.object = WITH(K, "\"containers\":[{\"image\":\"\"}]"),
          .old = WITH(K, "\"containers\":[{}]")},
         JUDGED},
        {{.object = WITH(K ",\"sandbox.runx.dev/class\":\"c\"", IMG), .old = WITH(K, IMG)}, JUDGED},
        {{.object = WITH("\"sandbox.runx.dev/skill-ref\":\"acme/none@1.0.0 \"", IMG),
          .old = WITH(K, IMG)},
         JUDGED},
        {{.object = WITH(K ",\"SANDBOX.runx.dev/x\":\"\"", IMG), .old = WITH(K, IMG)}, JUDGED},
        {{.object = WITH("", IMG), .old = WITH(K, IMG)}, JUDGED},
        {{.object = WITH(K, IMG), .old = WITH("", IMG)}, JUDGED},
        /* unreadable parts count as changed, even if both objects have the same ones */
        {{.object = WITH(K, IMG), .old = NULL, .operation = "UPDATE"}, JUDGED},
        {{.object = "null", .old = "null"}, "denied unusable"},
        {{.object = WITH(K, "\"containers\":7"), .old = WITH(K, "\"containers\":7")},
         "denied unusable"},
        {{.object = WITH("\"sandbox.runx.dev/class\":7", IMG),
          .old = WITH("\"sandbox.runx.dev/class\":7", IMG)},
         "denied unusable"},
        {{.object = WITH(K, "\"containers\":[]"), .old = WITH(K, "\"containers\":[]")},
         "allowed unchanged"},
    };

    CHECK(snapshot, rows);
    snapshot_unref(snapshot);
}

#define DEPLOYMENT(own, annotations)                                                               \
    "{\"metadata\":{\"annotations\":{" own "}},\"spec\":{\"template\":" WITH(annotations, IMG) "}" \
                                                                                               "}"

Test(gate_rows, annotations_of_the_controller_are_compared_too)
{
    cleanup_arena struct arena arena = {0};
    struct snapshot *snapshot = helper_default_snapshot(&arena);
    static const struct row rows[] = {
        {{.object = DEPLOYMENT(K, K),
          .old = DEPLOYMENT(K, K),
          .group = "apps",
          .kind = "Deployment"},
         "allowed unchanged"},
        {{.object = DEPLOYMENT(K, K),
          .old = DEPLOYMENT("", K),
          .group = "apps",
          .kind = "Deployment"},
         "allowed needs_more_evidence"},
        {{.object = DEPLOYMENT(K, ""),
          .old = DEPLOYMENT("", K),
          .group = "apps",
          .kind = "Deployment"},
         "allowed needs_more_evidence"},
    };

    CHECK(snapshot, rows);
    snapshot_unref(snapshot);
}

Test(gate_rows, configured_exemptions_match_exact_names)
{
    static const struct str namespaces[] = {STR_INIT("kube-system")};
    static const struct str users[] = {STR_INIT("robot")};
    static const struct str classes[] = {STR_INIT("gvisor")};
    static const struct helper_labels labels[] = {{.name = "payments", .enforce = "required"},
                                                  {.name = "kube-system", .enforce = "required"},
                                                  {0}};
#define GVISOR(name) "{\"spec\":{\"runtimeClassName\":\"" name "\",\"containers\":[{}]}}"
    static const struct row rows[] = {
        {{.object = PLAIN_POD}, JUDGED},
        {{.object = PLAIN_POD, .namespace_name = "kube-system"}, "allowed exempt"},
        {{.object = "null", .namespace_name = "kube-system"}, "allowed exempt"},
        {{.object = PLAIN_POD, .namespace_name = "kube-system2"}, "allowed unmanaged"},
        {{.object = PLAIN_POD, .user = "robot"}, "allowed exempt"},
        {{.object = PLAIN_POD, .user = "robot "}, JUDGED},
        {{.object = PLAIN_POD, .user = "Robot"}, JUDGED},
        {{.object = PLAIN_POD, .user = ""}, JUDGED},
        {{.object = GVISOR("gvisor")}, "allowed exempt"},
        {{.object = GVISOR("gvisor2")}, JUDGED},
        {{.object = GVISOR("")}, JUDGED},
        {{.object = PLAIN_POD, .old = GVISOR("gvisor")}, JUDGED},
        {{.object = "{\"spec\":{\"template\":" GVISOR("gvisor") "}}",
          .group = "batch",
          .kind = "Job"},
         "allowed exempt"},
        /* the rows above have priority */
        {{.object = PLAIN_POD, .user = "robot", .operation = "DELETE"}, "allowed not_evaluated"},
        {{.object = PLAIN_POD, .old = PLAIN_POD, .user = "robot"}, "allowed unchanged"},
    };
    cleanup_arena struct arena arena = {0};
    struct policy policy = policy_defaults();
    struct snapshot *snapshot = NULL;

    policy.exempt_namespaces = (struct str_list){namespaces, 1};
    policy.exempt_users = (struct str_list){users, 1};
    policy.exempt_runtime_classes = (struct str_list){classes, 1};
    snapshot = helper_snapshot(&arena, &policy, labels, NULL);
    CHECK(snapshot, rows);
    {
        struct exchange e = helper_exchange(&arena, snapshot, &rows[4].review);

        cr_assert_text(helper_annotation(&arena, &e, "exemption"), "configuration");
        cr_assert(!str_present(helper_annotation(&arena, &e, "packet")));
        cr_assert(!e.decision.planned);
    }
    snapshot_unref(snapshot);
}

/* All levels, managed or not, for pods and for controllers in each mode: which are judged, denied,
 * warned and recorded. The pod is invalid, so every judged one is a violation. */
Test(gate_rows, levels_times_managed_times_controllers)
{
    for (int n = 0; n < 3 * 3 * 3 * 2 * 4; n++) {
        const enum level enforce = (enum level)(LEVEL_NONE + n % 3);
        const enum level warn = (enum level)(LEVEL_NONE + n / 3 % 3);
        const enum level audit = (enum level)(LEVEL_NONE + n / 9 % 3);
        const bool managed = n / 27 % 2 == 1;
        const int mode = n / 54; /* 0: a pod; otherwise a controller in mode - 1 */
        const enum level judged_from = managed ? LEVEL_ANNOTATED : LEVEL_REQUIRED;
        cleanup_arena struct arena arena = {0};
        struct policy policy = policy_defaults();
        const struct helper_labels labels[] = {{.name = "payments",
                                                .enforce = level_text(enforce),
                                                .warn = level_text(warn),
                                                .audit = level_text(audit)},
                                               {0}};
        const struct helper_review review = {
            .group = mode == 0 ? "" : "batch",
            .kind = mode == 0 ? "Pod" : "Job",
            .object = mode == 0 ? (managed ? BAD_POD : PLAIN_POD)
                      : managed ? "{\"spec\":{\"template\":" BAD_POD "}}"
                                : "{\"spec\":{\"template\":" PLAIN_POD "}}"};
        struct snapshot *snapshot = NULL;
        struct exchange e = {0};
        const struct decision *d = &e.decision;
        bool judged = false, denied = false;

        policy.controllers = mode == 0 ? CONTROLLERS_ENFORCE : (enum controllers_mode)(mode - 1);
        snapshot = helper_snapshot(&arena, &policy, labels, NULL);
        e = helper_exchange(&arena, snapshot, &review);
        judged = (enforce >= judged_from || warn >= judged_from || audit >= judged_from) &&
                 !(mode > 0 && policy.controllers == CONTROLLERS_NONE);
        denied = judged && enforce >= judged_from &&
                 !(mode > 0 && policy.controllers == CONTROLLERS_WARN);
        cr_assert_eq(d->judged, judged, "%d", n);
        cr_assert_eq(d->cannot_deny,
                     enforce < judged_from ||
                         (mode > 0 && policy.controllers != CONTROLLERS_ENFORCE),
                     "%d", n);
        cr_assert_eq(d->allowed, !denied, "%d", n);
        cr_assert_eq(d->violates_warn, judged && warn >= judged_from, "%d", n);
        cr_assert_eq(d->violates_audit, judged && audit >= judged_from, "%d", n);
        cr_assert_eq(d->would_deny_enforce, judged && enforce >= judged_from && !denied, "%d", n);
        cr_assert_eq(str_present(helper_annotation(&arena, &e, "violations")), d->violates_audit);
        if (!judged)
            cr_assert_eq(d->outcome,
                         (enforce == LEVEL_NONE && warn == LEVEL_NONE && audit == LEVEL_NONE) ||
                                 (mode > 0 && policy.controllers == CONTROLLERS_NONE)
                             ? OUTCOME_NOT_EVALUATED
                             : OUTCOME_UNMANAGED,
                         "%d", n);
        snapshot_unref(snapshot);
    }
}

/* On UPDATE, either object makes the pod managed. Unreadable annotations count as managed. */
/* Without the labels of the namespace, a pod could always be denied; a request that needs no levels
 * is not left undecided either. */
Test(gate_rows, an_unknown_namespace_could_deny_a_pod)
{
    cleanup_arena struct arena arena = {0};
    struct snapshot *snapshot = helper_default_snapshot(&arena);
    static const struct helper_review reviews[] = {
        {.object = PLAIN_POD, .namespace_name = "unseen"},
        {.object = PLAIN_POD, .old = PLAIN_POD},
        {.object = PLAIN_POD, .subresource = "status"},
        {.object = MIRROR_POD, NODE},
    };

    for (size_t i = 0; i < sizeof(reviews) / sizeof(reviews[0]); i++) {
        struct exchange e = helper_exchange(&arena, snapshot, &reviews[i]);
        struct decision left = {0};

        cr_assert(!e.decision.cannot_deny, "%zu", i);
        cr_assert_eq(gate_undecided(&e.decision, &left), -EINVAL);
        cr_assert(!left.allowed);
        exchange_leave_undecided(&arena, &e);
        cr_assert(e.status == 500 && !e.decided && !e.decision.allowed);
    }
    snapshot_unref(snapshot);
}

/* A controller is denied in no namespace unless the configuration says so. */
Test(gate_rows, an_unknown_namespace_denies_no_controller_that_is_only_warned_about)
{
    cleanup_arena struct arena arena = {0};
    const struct helper_review review = {.object = "{\"spec\":{\"template\":" BAD_POD "}}",
                                         .group = "batch",
                                         .kind = "Job",
                                         .namespace_name = "unseen"};

    for (int mode = CONTROLLERS_WARN; mode <= CONTROLLERS_ENFORCE; mode++) {
        struct policy policy = policy_defaults();
        struct snapshot *snapshot = NULL;
        struct exchange e = {0};

        policy.controllers = (enum controllers_mode)mode;
        snapshot = helper_snapshot(&arena, &policy, NULL, NULL);
        e = helper_exchange(&arena, snapshot, &review);
        cr_assert(e.decision.namespace_unseen);
        cr_assert_eq(e.decision.cannot_deny, mode != CONTROLLERS_ENFORCE, "%d", mode);
        snapshot_unref(snapshot);
    }
}

/* The answer of a stale snapshot where nothing could deny: one warning, and what is known. */
Test(gate_rows, left_undecided_is_allowed_with_one_warning)
{
    cleanup_arena struct arena arena = {0};
    const struct helper_labels labels[] = {{.name = "payments", .enforce = "none", .warn = "often"},
                                           {0}};
    const struct policy policy = policy_defaults();
    struct snapshot *snapshot = helper_snapshot(&arena, &policy, labels, NULL);
    const struct helper_review review = {.object = BAD_POD};
    struct exchange e = helper_exchange(&arena, snapshot, &review);

    exchange_leave_undecided(&arena, &e);
    cr_assert(e.status == 200 && e.decided && e.decision.allowed && !e.decision.judged);
    cr_assert_eq(e.decision.outcome, OUTCOME_LEFT_UNDECIDED);
    cr_assert_eq(e.decision.levels.enforce, LEVEL_NONE);
    cr_assert_text(
        e.body, "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\","
                "\"response\":{\"uid\":\"u-1\",\"allowed\":true,\"warnings\":["
                "\"sandgate: payments/Pod/p was not evaluated: the gate cannot learn the present "
                "state from the API server; by what it knows, nothing denies this "
                "request\"],\"auditAnnotations\":{\"outcome\":\"undecided\","
                "\"subject\":\"payments/Pod/p\",\"error\":\"warn=often\"}}}");
    snapshot_unref(snapshot);
}

Test(gate_rows, managed_by_either_object)
{
    cleanup_arena struct arena arena = {0};
    struct snapshot *snapshot = helper_default_snapshot(&arena);
#define IN_SCRATCH .namespace_name = "scratch"
    static const struct row rows[] = {
        {{.object = PLAIN_POD, IN_SCRATCH}, "allowed unmanaged"},
        {{.object = PLAIN_POD, .old = BAD_POD, IN_SCRATCH}, JUDGED},
        {{.object = BAD_POD, .old = PLAIN_POD, IN_SCRATCH}, JUDGED},
        {{.object = PLAIN_POD,
          .old = "{\"spec\":{\"containers\":[{\"image\":\"y\"}]}}",
          IN_SCRATCH},
         "allowed unmanaged"},
        {{.object = PLAIN_POD, .old = "{\"metadata\":7}", IN_SCRATCH}, JUDGED},
        {{.object = PLAIN_POD, .operation = "UPDATE", IN_SCRATCH}, JUDGED},
        {{.object = "{\"metadata\":{\"annotations\":[]}}", IN_SCRATCH}, "denied unusable"},
        {{.object = "null", IN_SCRATCH}, "denied unusable"},
        {{.object = "{\"spec\":{\"containers\":[]}}", IN_SCRATCH}, "allowed unmanaged"},
        /* oldObject is used on UPDATE only */
        {{.object = PLAIN_POD, .old = BAD_POD, .operation = "CREATE", IN_SCRATCH},
         "allowed unmanaged"},
        {{.object = PLAIN_POD, .namespace_name = "nobody-saw-it"}, "allowed unmanaged"},
        {{.object = BAD_POD, .namespace_name = "nobody-saw-it"}, JUDGED},
    };

    CHECK(snapshot, rows);
    snapshot_unref(snapshot);
}

/* The audit annotation `error` is set only if the levels were evaluated. */
Test(gate_rows, unreadable_labels_are_reported)
{
    static const struct helper_labels labels[] = {
        {.name = "a", .enforce = "Required", .warn = "", .audit = "x,y"},
        {.name = "b", .enforce = "none", .warn = "yes"},
        {.name = "c", .enforce = "none"},
        {0}};
    static const struct {
        struct helper_review review;
        const char *wanted;
        const char *error;
    } rows[] = {
        {{.object = PLAIN_POD, .namespace_name = "a"}, JUDGED, "enforce=Required,warn=,audit=x,y"},
        {{.object = PLAIN_POD, .namespace_name = "b"}, "allowed not_evaluated", "warn=yes"},
        {{.object = PLAIN_POD, .namespace_name = "c"}, "allowed not_evaluated", NULL},
        {{.object = PLAIN_POD, .namespace_name = "a", .old = PLAIN_POD}, "allowed unchanged", NULL},
        {{.object = PLAIN_POD, .namespace_name = "a", .operation = "DELETE"},
         "allowed not_evaluated",
         NULL},
    };
    cleanup_arena struct arena arena = {0};
    const struct policy policy = policy_defaults();
    struct snapshot *snapshot = helper_snapshot(&arena, &policy, labels, NULL);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct exchange e = helper_exchange(&arena, snapshot, &rows[i].review);
        struct str got = helper_codes(&arena, &e.decision);
        struct str error = helper_annotation(&arena, &e, "error");

        cr_assert(str_starts_with(got, str_of(rows[i].wanted)), "row %zu: %.*s", i, (int)got.len,
                  got.ptr);
        cr_assert_eq(str_present(error), rows[i].error != NULL, "row %zu", i);
        cr_assert(str_equal(error, str_of(rows[i].error)), "row %zu: %.*s", i, (int)error.len,
                  error.ptr);
    }
    snapshot_unref(snapshot);
}

/* No level is below the floor. A dry run gives the same decision. */
Test(gate_rows, no_level_is_below_the_floor)
{
    static const struct helper_labels labels[] = {
        {.name = "payments", .enforce = "none", .warn = "none", .audit = "none"}, {0}};
    cleanup_arena struct arena arena = {0};
    struct policy policy = policy_defaults();
    const struct helper_review review = {.object = PLAIN_POD};
    struct snapshot *snapshot = NULL;

    policy.floor.enforce = LEVEL_REQUIRED;
    snapshot = helper_snapshot(&arena, &policy, labels, NULL);
    cr_assert(!helper_exchange(&arena, snapshot, &review).decision.allowed);
    snapshot_unref(snapshot);
}

Test(gate_rows, subject_is_named)
{
    static const struct {
        struct helper_review review;
        const char *subject;
    } rows[] = {
        {{.object = PLAIN_POD}, "payments/Pod/p"},
        {{.object = "{\"metadata\":{\"name\":\"x\",\"generateName\":\"g-\"}}", .name = ""},
         "payments/Pod/x"},
        {{.object = "{\"metadata\":{\"generateName\":\"g-\"}}", .name = ""}, "payments/Pod/g-*"},
        {{.object = "{}", .name = ""}, "payments/Pod/"},
        {{.object = "{\"metadata\":{\"name\":7}}", .name = ""}, "payments/Pod/"},
        {{.old = "{\"metadata\":{\"name\":\"o\"}}", .operation = "DELETE", .name = ""},
         "payments/Pod/o"},
        {{.kind = "PodExecOptions", .operation = "CONNECT", .subresource = "exec"},
         "payments/PodExecOptions/p"},
        {{.kind = "Node", .namespace_name = "", .object = "{}"}, "/Node/p"},
    };
    cleanup_arena struct arena arena = {0};
    struct snapshot *snapshot = helper_default_snapshot(&arena);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct exchange e = helper_exchange(&arena, snapshot, &rows[i].review);

        cr_assert_text(helper_annotation(&arena, &e, "subject"), rows[i].subject);
    }
    snapshot_unref(snapshot);
}
