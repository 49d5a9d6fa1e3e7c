/* SPDX-License-Identifier: Apache-2.0 */
/* test_snapshot_limits - which baselines apply to the pods of a namespace, and what they allow
 * together, made once. */
#include <criterion/criterion.h>
#include <errno.h>

#include "k8s/snapshot/index.h"
#include "planner/base/tree.h"
#include "tests/k8s/evidence_helper.h"
#include "tests/k8s/failing.h"

#define OWN POLICY_OWN_NAMESPACE

static struct arena arena;
static struct snapshot *snapshot;

/* Its memory belongs to the arena: the test holds the last reference. */
struct given {
    const char *namespace_name;
    const char *name;
    const char *json;       /* of the baseline */
    const char *namespaces; /* separated by blanks; NULL: not named */
    int max_age_days;
};

static struct str_list split(const char *words)
{
    struct str *items = arena_alloc(&arena, strlen(words) + 1, sizeof(*items));
    struct str_list list = {.items = items};

    for (struct str rest = str_of(words); rest.len > 0;) {
        size_t len = strcspn(rest.ptr, " ");

        items[list.count++] = (struct str){rest.ptr, len};
        rest = str_trim((struct str){rest.ptr + len, rest.len - len});
    }
    return list;
}

static const struct evidence *make(const struct given *given)
{
    struct evidence *evidence = arena_alloc(&arena, 1, sizeof(*evidence));

    cr_assert_not_null(evidence);
    *evidence = (struct evidence){
        .namespace_name = str_of(given->namespace_name),
        .name = str_of(given->name),
        .kind = EVIDENCE_BASELINE,
        .state = EVIDENCE_VALID,
        .digest =
            helper_text(&arena, "%s %s %d", given->json,
                        given->namespaces != NULL ? given->namespaces : "-", given->max_age_days),
        .namespaces_named = given->namespaces != NULL,
        .namespaces = given->namespaces != NULL ? split(given->namespaces) : (struct str_list){0},
        .baseline = helper_document(&arena, str_of(given->json)),
        .max_age_days = given->max_age_days,
    };
    refcount_init(&evidence->count);
    return evidence;
}

static int build(const struct evidence *const *evidence, size_t count, struct snapshot **ret)
{
    const struct policy policy = policy_defaults();
    struct snapshot_builder *builder = NULL;
    int r = snapshot_builder_new(&policy, (struct snapshot_keep){0}, &builder);

    for (size_t i = 0; r == 0 && i < count; i++)
        r = snapshot_builder_add_evidence(builder, evidence[i]);
    if (r == 0)
        r = snapshot_builder_finish(builder, ret);
    if (r < 0)
        snapshot_builder_free(builder);
    return r;
}

static void begin(const struct given *given, size_t count)
{
    const struct evidence **evidence = arena_alloc(&arena, count, sizeof(const struct evidence *));

    cr_assert_not_null(evidence);
    for (size_t i = 0; i < count; i++)
        evidence[i] = make(&given[i]);
    cr_assert_eq(build(evidence, count, &snapshot), 0);
}

static void done(void)
{
    snapshot_unref(snapshot);
    arena_release(&arena);
}

TestSuite(snapshot_limits, .fini = done);

static const struct snapshot_baselines *limits_of(const char *namespace_name)
{
    const struct snapshot_baselines *limits = NULL;

    cr_assert_eq(snapshot_baselines(snapshot, str_of(namespace_name), &limits), 0);
    return limits;
}

/* The names of the baselines, then the environment names that they allow. */
static const char *show(const char *namespace_name)
{
    const struct snapshot_baselines *limits = limits_of(namespace_name);
    const cJSON *entry = NULL;
    struct str text = STR("");

    for (size_t i = 0; i < limits->count; i++)
        text = helper_text(&arena, "%s%s ", text.ptr, limits->items[i]->name.ptr);
    text = helper_text(&arena, "%s%d", text.ptr, limits->max_age_days);
    cJSON_ArrayForEach(entry, tree_get(limits->baseline, "allowed_env"))
    {
        text = helper_text(&arena, "%s %s", text.ptr, entry->valuestring);
    }
    return text.ptr;
}

#define ENV(names) "{\"allowed_env\": [" names "]}"
static const struct given world[] = {
    {OWN, "all", ENV("C, B, A, D, E"), NULL, 30},
    {OWN, "some", ENV("A, B, C"), "payments staging x", 9},
    {OWN, "none", ENV("A"), "", 1},
    {OWN, "own", ENV("E"), OWN, 0},
    {"payments", "p", ENV("B, A, E"), NULL, 0},
    {"payments", "elsewhere", ENV("X"), "staging", 2},
    {"payments", "copy", ENV("C, B, A, D, E"), NULL, 30},
    {"staging", "q", ENV("C, X"), "payments staging", 7},
    {"y", "copy", ENV("A, B, C"), "payments staging x", 9},
    {"z", "same", ENV("B, A, E"), NULL, 0},
};

Test(snapshot_limits, each_namespace_has_those_that_apply)
{
    begin(world, sizeof(world) / sizeof(world[0]));
    cr_expect_str_eq(show("nobody"), "all 30 C B A D E", "one list is passed on unchanged");
    cr_expect_str_eq(show("y"), "all 30 C B A D E", "its baseline names others");
    cr_expect_str_eq(show("x"), "all some 9 A B C");
    cr_expect_str_eq(show("payments"), "all some p 9 A B");
    cr_expect_str_eq(show("staging"), "all some q 7 C");
    cr_expect_str_eq(show("z"), "all same 30 A B E");
    cr_expect_str_eq(show(OWN), "all own 30 E");
}

Test(snapshot_limits, no_baseline_is_no_limit)
{
    static const struct given other[] = {{"a", "b", "{}", NULL, 0}};

    begin(other, 1);
    cr_expect_eq(limits_of("b")->count, 0);
    cr_expect_null(limits_of("b")->baseline);
    cr_expect_eq(limits_of("b")->max_age_days, 0);
    cr_expect_eq(limits_of("a")->count, 1);
    cr_expect_not_null(limits_of("a")->baseline);
    cr_expect_null(limits_of("a")->baseline->child);
}

Test(snapshot_limits, they_are_made_once_for_all_namespaces_with_the_same)
{
    enum { COUNT = 500 };
    static struct given given[COUNT + 3];

    given[0] = (struct given){OWN, "all", ENV("A, B"), NULL, 0};
    given[1] = (struct given){OWN, "some", ENV("A"), "n0001 n0002 m", 0};
    given[2] = (struct given){OWN, "more", ENV("B"), "n0001 n0002 m", 0};
    for (int i = 0; i < COUNT; i++)
        given[i + 3] =
            (struct given){helper_text(&arena, "n%04d", i).ptr, "copy", ENV("B, A, C"), NULL, 0};
    begin(given, COUNT + 3);
    cr_expect_eq(snapshot->member_count, COUNT + 1);
    cr_expect_eq(snapshot->group_count, 3, "copies of all; with some and more; only these");
    cr_expect_eq(limits_of("n0001"), limits_of("n0002"));
    cr_expect_eq(limits_of("n0003"), limits_of("n0499"));
    cr_expect_neq(limits_of("n0001"), limits_of("n0003"));
    cr_expect_neq(limits_of("n0001"), limits_of("m"));
    cr_expect_eq(limits_of("other"), limits_of("another"));
    cr_expect_eq(limits_of("n0003")->baseline, limits_of("n0003")->baseline);
}

Test(snapshot_limits, every_failing_allocation_is_an_error)
{
    const struct evidence *evidence[sizeof(world) / sizeof(world[0])];
    const size_t count = sizeof(world) / sizeof(world[0]);
    unsigned n = 1;

    for (size_t i = 0; i < count; i++)
        evidence[i] = make(&world[i]);
    for (bool failed = true; failed; n++) {
        const struct snapshot_baselines *limits = NULL;
        struct snapshot *made = NULL;
        int r = 0;

        failing_alloc_arm(n);
        r = build(evidence, count, &made);
        if (r == 0)
            r = snapshot_baselines(made, STR("payments"), &limits);
        failed = failing_alloc_failed();
        cr_assert_eq(r, failed ? -ENOMEM : 0, "allocation %u", n);
        cr_assert_eq(limits == NULL, failed);
        if (made != NULL && failed) /* it is made at the next question */
            cr_assert_eq(snapshot_baselines(made, STR("payments"), &limits), 0);
        snapshot_unref(made);
        for (size_t i = 0; i < count; i++)
            cr_assert_eq(evidence[i]->count.count, 1);
    }
    cr_expect_gt(n, 5);
}
