/* SPDX-License-Identifier: Apache-2.0 */
/* test_snapshot_network_policies - the NetworkPolicies of a snapshot, found by namespace. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>

#include "k8s/snapshot/snapshot.h"
#include "tests/k8s/evidence_helper.h"
#include "tests/k8s/failing.h"

#define LIMIT SNAPSHOT_MAX_NETWORK_POLICIES_PER_NAMESPACE

static struct arena arena;
static struct snapshot_builder *builder;
static struct snapshot *snapshot;

static void begin(void)
{
    const struct policy policy = policy_defaults();

    cr_assert_eq(snapshot_builder_new(&policy, (struct snapshot_keep){0}, &builder), 0);
}

static void done(void)
{
    snapshot_builder_free(builder);
    snapshot_unref(snapshot);
    arena_release(&arena);
}

TestSuite(snapshot_network_policies, .init = begin, .fini = done);

static void finish(void)
{
    cr_assert_eq(snapshot_builder_finish(builder, &snapshot), 0);
    builder = NULL;
}

/* One with Egress among its types that admits nothing. */
static struct network_policy *make(const char *namespace_name, const char *name)
{
    struct network_policy *policy = NULL;
    const cJSON *spec = helper_document(
        &arena, STR("{\"policyTypes\":[\"Egress\"],\"podSelector\":{\"matchLabels\":"
                    "{\"a\":\"1\"}}}"));

    cr_assert_eq(network_policy_make(str_of(namespace_name), str_of(name), spec, &policy), 0);
    return policy;
}

static void add(const char *namespace_name, const char *name)
{
    struct network_policy *policy = make(namespace_name, name);

    cr_assert_eq(snapshot_builder_add_network_policy(builder, policy), 0);
    network_policy_unref(policy); /* the builder has its own reference */
}

/* "-": they are not read here. */
static const char *names(const char *namespace_name)
{
    struct network_policy_run run = {0};
    struct str text = STR("");

    if (!snapshot_network_policies(snapshot, str_of(namespace_name), &run))
        return "-";
    for (size_t i = 0; i < run.count; i++) {
        cr_expect(str_equal(run.items[i]->namespace_name, str_of(namespace_name)));
        text = helper_text(&arena, "%s%s%.*s", text.ptr, i > 0 ? " " : "",
                           (int)run.items[i]->name.len, run.items[i]->name.ptr);
    }
    return text.ptr;
}

Test(snapshot_network_policies, they_are_found_by_namespace_in_the_order_of_their_names)
{
    add("b", "z");
    add("a-b", "x");
    add("a", "q");
    add("b", "a.b");
    add("b", "a-b");
    add("b", "B");
    add("b", "ab");
    add("c", "a");
    snapshot_builder_read_network_policies(builder);
    finish();
    cr_expect_str_eq(names("b"), "B a-b a.b ab z");
    cr_expect_str_eq(names("a"), "q");
    cr_expect_str_eq(names("a-b"), "x");
    cr_expect_str_eq(names("c"), "a");
    cr_expect_str_eq(names(""), "");
    cr_expect_str_eq(names("a-"), "");
    cr_expect_str_eq(names("d"), "");
}

Test(snapshot_network_policies, no_policy_differs_from_policies_that_are_not_read)
{
    snapshot_builder_read_network_policies(builder);
    finish();
    cr_expect_str_eq(names("a"), "");
}

Test(snapshot_network_policies, without_a_reader_nobody_knows_them)
{
    add("a", "p");
    finish();
    cr_expect_str_eq(names("a"), "-");
    cr_expect_str_eq(names("b"), "-");
}

Test(snapshot_network_policies, a_name_is_given_once_in_each_namespace)
{
    struct network_policy *second = make("a", "p");

    add("a", "p");
    add("b", "p");
    cr_expect_eq(snapshot_builder_add_network_policy(builder, second), -EEXIST);
    cr_expect_eq(second->count.count, 1);
    snapshot_builder_read_network_policies(builder);
    finish();
    cr_expect_str_eq(names("a"), "p");
    network_policy_unref(second);
}

/* One that is only about ingress is not listed, but has its name. */
Test(snapshot_network_policies, ingress_is_left_out)
{
    struct network_policy *ingress = NULL;

    cr_assert_eq(network_policy_make(STR("a"), STR("in"), NULL, &ingress), 0);
    cr_assert_eq(snapshot_builder_add_network_policy(builder, ingress), 0);
    cr_expect_eq(snapshot_builder_add_network_policy(builder, ingress), -EEXIST);
    network_policy_unref(ingress);
    add("a", "out");
    snapshot_builder_read_network_policies(builder);
    finish();
    cr_expect_str_eq(names("a"), "out");
}

Test(snapshot_network_policies, the_first_one_over_the_limit_stands_for_the_others)
{
    struct network_policy_run run = {0};

    for (size_t i = 0; i < LIMIT + 2; i++) {
        add("over", helper_text(&arena, "p%05zu", i).ptr);
        if (i < LIMIT)
            add("full", helper_text(&arena, "p%05zu", i).ptr);
    }
    snapshot_builder_read_network_policies(builder);
    finish();
    cr_assert(snapshot_network_policies(snapshot, STR("full"), &run));
    cr_expect_eq(run.count, LIMIT);
    cr_expect_not(run.items[LIMIT - 1]->egress_any);
    cr_assert(snapshot_network_policies(snapshot, STR("over"), &run));
    cr_assert_eq(run.count, LIMIT + 1);
    cr_expect_not(run.items[LIMIT - 1]->egress_any);
    cr_expect(run.items[LIMIT]->egress && run.items[LIMIT]->egress_rules);
    cr_expect(run.items[LIMIT]->egress_any);
    cr_expect(network_policy_selects(run.items[LIMIT], &(struct network_policy_labels){0}));
    cr_expect(str_equal(run.items[LIMIT]->name, helper_text(&arena, "p%05d", LIMIT)));
}

static struct network_policy *make_with(const char *namespace_name, const char *name,
                                        const char *spec)
{
    struct network_policy *policy = NULL;
    const cJSON *tree = helper_document(&arena, str_of(spec));

    cr_assert_eq(network_policy_make(str_of(namespace_name), str_of(name), tree, &policy), 0);
    return policy;
}

Test(snapshot_network_policies, further_ones_replace_those_of_their_name)
{
    const struct network_policy *further[] = {
        make_with("a", "open", "{\"egress\":[{}]}"),
        make_with("a", "ingress", "{}"),
        make_with("c", "new", "{\"policyTypes\":[\"Egress\"]}"),
    };
    struct network_policy_run run = {0};
    struct snapshot *base = NULL;

    add("a", "open");
    add("a", "ingress");
    add("a", "kept");
    add("b", "open");
    snapshot_builder_read_network_policies(builder);
    finish();
    base = snapshot;
    cr_assert_eq(snapshot_overlay(base, further, 3, false, &snapshot), 0);
    snapshot_unref(base);
    for (size_t i = 0; i < 3; i++)
        network_policy_unref(further[i]);
    cr_expect_str_eq(names("a"), "kept open");
    cr_assert(snapshot_network_policies(snapshot, STR("a"), &run));
    cr_expect(run.items[1]->egress_any);
    cr_expect_str_eq(names("b"), "open");
    cr_expect_str_eq(names("c"), "new");
}

Test(snapshot_network_policies, further_ones_say_whether_they_count_as_read)
{
    struct network_policy *further = make("a", "p");
    struct snapshot *base = NULL;

    finish();
    base = snapshot;
    for (int read = 0; read < 2; read++) {
        cr_assert_eq(snapshot_overlay(base, (const struct network_policy *[]){further}, 1,
                                      read != 0, &snapshot),
                     0);
        cr_expect_str_eq(names("a"), read != 0 ? "p" : "-");
        snapshot_unref(snapshot);
    }
    cr_expect_eq(snapshot_overlay(base, (const struct network_policy *[]){further, further}, 2,
                                  true, &snapshot),
                 -EEXIST);
    snapshot = base;
    network_policy_unref(further);
}

static struct evidence baseline(const char *namespace_name, const char *name, const char *digest)
{
    return (struct evidence){
        .namespace_name = str_of(namespace_name),
        .name = str_of(name),
        .kind = EVIDENCE_BASELINE,
        .state = EVIDENCE_VALID,
        .digest = str_of(digest),
        .count = {1},
    };
}

/* All that a snapshot says beside its policies. */
Test(snapshot_network_policies, everything_else_is_the_same)
{
    struct evidence evidence[] = {
        baseline(POLICY_OWN_NAMESPACE, "one", "sha256:1"),
        baseline(POLICY_OWN_NAMESPACE, "copy", "sha256:1"),
        baseline("a", "two", "sha256:2"),
        baseline("a", "broken", ""),
    };
    const struct snapshot_rest rest = {.namespace_name = STR("a"), .invalid = 3, .copies = 2};
    const struct namespace_labels labels = {.name = STR("a"),
                                            .labels = {.enforce = STR("required")}};
    struct snapshot *base = NULL;

    evidence[3].state = EVIDENCE_INVALID;
    for (size_t i = 0; i < 4; i++)
        cr_assert_eq(snapshot_builder_add_evidence(builder, &evidence[i]), 0);
    cr_assert_eq(snapshot_builder_add_namespace(builder, &labels), 0);
    cr_assert_eq(snapshot_builder_add_rest(builder, &rest), 0);
    finish();
    base = snapshot;
    cr_assert_eq(snapshot_overlay(base, NULL, 0, true, &snapshot), 0);
    cr_expect_eq(snapshot_all(snapshot).count, 3);
    for (size_t i = 0; i < 3; i++)
        cr_expect_eq(snapshot_all(snapshot).items[i], snapshot_all(base).items[i]);
    cr_expect_eq(snapshot_own_baseline_objects(base), 2);
    cr_expect_eq(snapshot_own_baseline_objects(snapshot), 2);
    cr_expect_eq(snapshot_broken_baselines(snapshot, STR("a")).count, 1);
    cr_expect_eq(snapshot_rest(snapshot, STR("a")).invalid, 3);
    cr_expect_eq(snapshot_rest(snapshot, STR("a")).copies, 2);
    cr_expect_eq(snapshot_rest(snapshot, STR(POLICY_OWN_NAMESPACE)).copies, 1);
    cr_expect(str_equal(snapshot_namespace(snapshot, STR("a"))->labels.enforce, STR("required")));
    snapshot_unref(base);
    cr_expect(str_equal(snapshot_namespace(snapshot, STR("a"))->labels.enforce, STR("required")));
    snapshot_unref(snapshot);
    snapshot = NULL;
    for (size_t i = 0; i < 4; i++)
        cr_expect_eq(evidence[i].count.count, 1);
}

static int build(const struct network_policy *const *policies, size_t count)
{
    const struct policy policy = policy_defaults();
    struct snapshot_builder *one = NULL;
    struct snapshot *made = NULL;
    int r = snapshot_builder_new(&policy, (struct snapshot_keep){0}, &one);

    if (r < 0)
        return r;
    for (size_t i = 0; r == 0 && i < count; i++)
        r = snapshot_builder_add_network_policy(one, policies[i]);
    if (r == 0)
        r = snapshot_builder_finish(one, &made);
    if (r < 0)
        snapshot_builder_free(one);
    snapshot_unref(made);
    return r;
}

Test(snapshot_network_policies, every_failing_allocation_is_an_error)
{
    const struct network_policy *policies[LIMIT + 2];
    unsigned n = 0;
    bool failed = true;

    for (size_t i = 0; i < LIMIT + 2; i++)
        policies[i] = make("a", helper_text(&arena, "p%05zu", i).ptr);
    while (failed) {
        int r = 0;

        failing_alloc_arm(++n);
        r = build(policies, LIMIT + 2);
        failed = failing_alloc_failed();
        cr_assert_eq(r, failed ? -ENOMEM : 0, "allocation %u", n);
        for (size_t i = 0; i < LIMIT + 2; i++)
            cr_assert_eq(policies[i]->count.count, 1, "allocation %u, %zu", n, i);
    }
    cr_expect_gt(n, 5);
    for (size_t i = 0; i < LIMIT + 2; i++)
        network_policy_unref(policies[i]);
}
