/* SPDX-License-Identifier: Apache-2.0 */
/* test_snapshot - namespaces and evidence, indexed for decisions, and the store of the current
 * snapshot. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "k8s/snapshot/snapshot.h"
#include "tests/k8s/evidence_helper.h"
#include "tests/k8s/failing.h"

static struct arena arena;
static struct policy policy;
static struct snapshot_builder *builder;
static struct snapshot *snapshot;
static unsigned releases;

static void count_release(void *object)
{
    releases += object == &releases;
}

static void begin(void)
{
    const struct snapshot_keep keep = {.object = &releases, .release = count_release};

    policy = policy_defaults();
    cr_assert_eq(snapshot_builder_new(&policy, keep, &builder), 0);
}

static void done(void)
{
    snapshot_builder_free(builder);
    snapshot_unref(snapshot);
    cr_expect_eq(releases, 1);
    arena_release(&arena);
}

TestSuite(snapshot, .init = begin, .fini = done);

static void finish(void)
{
    cr_assert_eq(snapshot_builder_finish(builder, &snapshot), 0);
    builder = NULL;
}

/* Evidence as evidence_make() makes it, in the arena of the test. Its reference count never becomes
 * zero. */
static struct evidence *add(const char *place, enum evidence_kind kind, enum evidence_state state,
                            struct evidence more)
{
    struct evidence *evidence = arena_alloc(&arena, 1, sizeof(*evidence));
    struct str text = helper_text(&arena, "%s", place);
    size_t slash = 0;

    cr_assert_not_null(evidence);
    while (text.ptr[slash] != '/')
        slash++;
    *evidence = more;
    evidence->namespace_name = (struct str){text.ptr, slash};
    evidence->name = (struct str){text.ptr + slash + 1, text.len - slash - 1};
    evidence->kind = kind;
    evidence->state = state;
    refcount_init(&evidence->count);
    cr_assert_eq(snapshot_builder_add_evidence(builder, evidence), 0);
    return evidence;
}

static struct evidence skill(const char *ref, int day)
{
    return (struct evidence){
        .skill_ref = str_of(ref),
        .observed_at = {.sec = day * MOMENT_SECONDS_PER_DAY},
    };
}

static const char *places(struct evidence_run run)
{
    struct str text = STR("");

    for (size_t i = 0; i < run.count; i++)
        text = helper_text(&arena, "%s%s%.*s/%s", text.ptr, i > 0 ? " " : "",
                           (int)run.items[i]->namespace_name.len, run.items[i]->namespace_name.ptr,
                           run.items[i]->name.ptr);
    return text.ptr;
}

/* The baselines that limit the pods of a namespace. */
static const char *limits(const char *namespace_name)
{
    const struct snapshot_baselines *baselines = NULL;

    cr_assert_eq(snapshot_baselines(snapshot, str_of(namespace_name), &baselines), 0);
    return places((struct evidence_run){.items = baselines->items, .count = baselines->count});
}

Test(snapshot, an_empty_snapshot_finds_nothing)
{
    size_t more = 7;

    finish();
    cr_expect_null(snapshot_namespace(snapshot, STR("a")));
    cr_expect_eq(snapshot_all(snapshot).count, 0);
    cr_expect_eq(snapshot_requirements(snapshot, STR("a/b@1"), (struct str){0}).count, 0);
    cr_expect_str_eq(limits("a"), "");
    cr_expect_eq(snapshot_exemptions(snapshot).count, 0);
    cr_expect_eq(snapshot_invalid(snapshot, STR("a"), &more).count, 0);
    cr_expect_eq(more, 0);
    cr_expect_eq(snapshot_policy(snapshot)->max_age_days, 30);
}

Test(snapshot, namespaces_are_found_by_name)
{
    char name[] = "b";
    const struct namespace_labels labels[] = {
        {.name = STR_INIT("c"), .labels = {.enforce = STR_INIT("required")}},
        {.name = {name, 1}, .labels = {.warn = STR_INIT(""), .boundary = STR_INIT("x")}},
        {.name = STR_INIT("a")},
    };

    for (size_t i = 0; i < 3; i++)
        cr_assert_eq(snapshot_builder_add_namespace(builder, &labels[i]), 0);
    cr_expect_eq(snapshot_builder_add_namespace(builder, &labels[0]), -EEXIST);
    name[0] = 'x'; /* the snapshot has a copy */
    finish();
    cr_expect_str_eq(snapshot_namespace(snapshot, STR("c"))->labels.enforce.ptr, "required");
    cr_expect_not(str_present(snapshot_namespace(snapshot, STR("a"))->labels.enforce));
    cr_expect(str_present(snapshot_namespace(snapshot, STR("b"))->labels.warn),
              "empty is not absent");
    cr_expect_str_eq(snapshot_namespace(snapshot, STR("b"))->labels.boundary.ptr, "x");
    cr_expect_null(snapshot_namespace(snapshot, STR("d")));
    cr_expect_null(snapshot_namespace(snapshot, STR("")));
}

Test(snapshot, an_object_is_added_once)
{
    struct evidence *first = add("a/one", EVIDENCE_REQUIREMENTS, EVIDENCE_VALID, skill("x/y@1", 1));
    struct evidence again = *first;

    cr_expect_eq(snapshot_builder_add_evidence(builder, &again), -EEXIST);
    add("b/one", EVIDENCE_REQUIREMENTS, EVIDENCE_VALID, skill("x/y@1", 1));
    add("a/one2", EVIDENCE_REQUIREMENTS, EVIDENCE_VALID, skill("x/y@1", 1));
    cr_expect_eq(first->count.count, 2);
    finish();
    cr_expect_eq(first->count.count, 2);
    snapshot_unref(snapshot);
    snapshot = NULL;
    cr_expect_eq(first->count.count, 1);
}

Test(snapshot, requirements_are_found_by_identity_newest_first)
{
    add("a/old", EVIDENCE_REQUIREMENTS, EVIDENCE_VALID, skill("x/y@1", 1));
    add("z/new", EVIDENCE_REQUIREMENTS, EVIDENCE_VALID, skill("x/y@1", 9));
    add("b/same", EVIDENCE_REQUIREMENTS, EVIDENCE_VALID, skill("x/y@1", 5));
    add("a/same", EVIDENCE_REQUIREMENTS, EVIDENCE_VALID, skill("x/y@1", 5));
    add("a/longer", EVIDENCE_REQUIREMENTS, EVIDENCE_VALID, skill("x/y@10", 5));
    add("a/broken", EVIDENCE_REQUIREMENTS, EVIDENCE_INVALID, skill("x/y@1", 5));
    add("a/revoked", EVIDENCE_REQUIREMENTS, EVIDENCE_REVOKED, skill("x/y@1", 5));
    add("a/other", EVIDENCE_REQUIREMENTS, EVIDENCE_OTHER_AUDIENCE, skill("x/y@1", 5));
    add("a/image", EVIDENCE_REQUIREMENTS, EVIDENCE_VALID,
        (struct evidence){.image_digest = STR("x/y@1")});
    finish();
    cr_expect_str_eq(places(snapshot_requirements(snapshot, STR("x/y@1"), (struct str){0})),
                     "z/new a/same b/same a/old");
    cr_expect_str_eq(places(snapshot_requirements(snapshot, STR("x/y@10"), (struct str){0})),
                     "a/longer");
    cr_expect_str_eq(places(snapshot_requirements(snapshot, (struct str){0}, STR("x/y@1"))),
                     "a/image");
    cr_expect_eq(snapshot_requirements(snapshot, STR("x/y@2"), (struct str){0}).count, 0);
    cr_expect_eq(snapshot_requirements(snapshot, STR("x/y@1"), STR("x/y@1")).count, 0);
    cr_expect_eq(snapshot_requirements(snapshot, (struct str){0}, (struct str){0}).count, 0);
}

Test(snapshot, broken_baselines_are_found_by_namespace)
{
    add("b/two", EVIDENCE_BASELINE, EVIDENCE_VALID, (struct evidence){0});
    add("b/one", EVIDENCE_BASELINE, EVIDENCE_INVALID, (struct evidence){0});
    add("b/revoked", EVIDENCE_BASELINE, EVIDENCE_REVOKED, (struct evidence){0});
    add("b/other", EVIDENCE_BASELINE, EVIDENCE_OTHER_AUDIENCE, (struct evidence){0});
    add("bb/three", EVIDENCE_BASELINE, EVIDENCE_INVALID, (struct evidence){0});
    add("b/unknown", EVIDENCE_UNKNOWN, EVIDENCE_INVALID, (struct evidence){0});
    finish();
    cr_expect_str_eq(places(snapshot_broken_baselines(snapshot, STR("b"))), "b/one");
    cr_expect_str_eq(places(snapshot_broken_baselines(snapshot, STR("bb"))), "bb/three");
    cr_expect_str_eq(places(snapshot_broken_baselines(snapshot, STR("a"))), "");
    cr_expect_str_eq(limits("b"), "b/two");
    cr_expect_str_eq(limits("bb"), "");
}

static const struct evidence same = {.digest = STR_INIT("sha256:1")};
static const struct evidence other = {.digest = STR_INIT("sha256:2")};

Test(snapshot, of_equal_documents_the_first_by_name_has_a_record)
{
    const char *const given[] = {"b/z", "b/y", "a/z", "b/x", "a-b/z"};

    /* in each order of arrival */
    for (size_t turn = 0; turn < 5; turn++) {
        struct evidence *first = NULL;

        if (turn > 0)
            begin();
        for (size_t i = 0; i < 5; i++) {
            struct evidence *one =
                add(given[(i + turn) % 5], EVIDENCE_BASELINE, EVIDENCE_VALID, same);

            first = strcmp(given[(i + turn) % 5], "b/z") == 0 ? one : first;
        }
        add("b/a", EVIDENCE_BASELINE, EVIDENCE_INVALID, same);
        add("b/b", EVIDENCE_BASELINE, EVIDENCE_REVOKED, same);
        add("b/zz", EVIDENCE_BASELINE, EVIDENCE_VALID, other);
        add("b/zy", EVIDENCE_REQUIREMENTS, EVIDENCE_VALID, skill("x/y@1", 1));
        finish();
        cr_expect_str_eq(places(snapshot_all(snapshot)), "a-b/z a/z b/a b/b b/x b/zy b/zz",
                         "turn %zu", turn);
        cr_expect_str_eq(limits("b"), "b/x b/zz");
        cr_expect_str_eq(limits("a"), "a/z");
        cr_expect_eq(snapshot_rest(snapshot, STR("b")).copies, 2);
        cr_expect_eq(snapshot_rest(snapshot, STR("a")).copies, 0);
        cr_expect_eq(first->count.count, 1, "a copy is let go");
        if (turn == 4)
            break;
        snapshot_unref(snapshot);
        snapshot = NULL;
        releases = 0;
    }
}

Test(snapshot, each_copy_of_a_baseline_counts_as_an_object)
{
    add("sandgate-system/a", EVIDENCE_BASELINE, EVIDENCE_VALID, same);
    add("sandgate-system/b", EVIDENCE_BASELINE, EVIDENCE_VALID, same);
    add("sandgate-system/c", EVIDENCE_BASELINE, EVIDENCE_VALID, other);
    add("sandgate-system/d", EVIDENCE_BASELINE, EVIDENCE_INVALID, same);
    add("payments/a", EVIDENCE_BASELINE, EVIDENCE_VALID, same);
    finish();
    cr_expect_eq(snapshot_own_baseline_objects(snapshot), 3);
    cr_expect_str_eq(limits("sandgate-system"), "sandgate-system/a sandgate-system/c");
    cr_expect_str_eq(limits("payments"), "sandgate-system/a sandgate-system/c", "each once");
}

Test(snapshot, records_are_in_the_order_of_namespace_and_name_as_one_text)
{
    add("a/b", EVIDENCE_BASELINE, EVIDENCE_VALID, (struct evidence){0});
    add("a-b/a", EVIDENCE_BASELINE, EVIDENCE_VALID, (struct evidence){0});
    add("a0/a", EVIDENCE_BASELINE, EVIDENCE_VALID, (struct evidence){0});
    add("a/a", EVIDENCE_BASELINE, EVIDENCE_VALID, (struct evidence){0});
    add("a-b-c/a", EVIDENCE_BASELINE, EVIDENCE_VALID, (struct evidence){0});
    finish();
    cr_expect_str_eq(places(snapshot_all(snapshot)), "a-b-c/a a-b/a a/a a/b a0/a");
    cr_expect_str_eq(limits("a"), "a/a a/b");
    cr_expect_str_eq(limits("a-b"), "a-b/a");
    cr_expect_str_eq(limits("a0"), "a0/a");
}

Test(snapshot, exemptions_are_found_in_the_gates_own_namespace_only)
{
    add("sandgate-system/two", EVIDENCE_EXEMPTION, EVIDENCE_VALID, (struct evidence){0});
    add("sandgate-system/one", EVIDENCE_EXEMPTION, EVIDENCE_VALID, (struct evidence){0});
    add("sandgate-system/broken", EVIDENCE_EXEMPTION, EVIDENCE_INVALID, (struct evidence){0});
    add("payments/one", EVIDENCE_EXEMPTION, EVIDENCE_VALID, (struct evidence){0});
    finish();
    cr_expect_str_eq(places(snapshot_exemptions(snapshot)),
                     "sandgate-system/one sandgate-system/two");
}

Test(snapshot, all_evidence_is_sorted)
{
    add("b/a", EVIDENCE_BASELINE, EVIDENCE_VALID, (struct evidence){0});
    add("a/b", EVIDENCE_UNKNOWN, EVIDENCE_INVALID, (struct evidence){0});
    add("a/a", EVIDENCE_BASELINE, EVIDENCE_REVOKED, (struct evidence){0});
    finish();
    cr_expect_str_eq(places(snapshot_all(snapshot)), "a/a a/b b/a");
}

Test(snapshot, records_of_what_is_not_valid_are_bounded)
{
    size_t more = 0;
    struct evidence *last = NULL;

    for (int i = SNAPSHOT_MAX_INVALID_PER_NAMESPACE + 2; i >= 0; i--) {
        struct evidence *one = add(helper_text(&arena, "a/%05d", i).ptr, EVIDENCE_UNKNOWN,
                                   EVIDENCE_INVALID, (struct evidence){0});

        last = last != NULL ? last : one;
    }
    add("a/99998", EVIDENCE_BASELINE, EVIDENCE_INVALID, (struct evidence){0});
    add("a/99999", EVIDENCE_REQUIREMENTS, EVIDENCE_VALID, skill("x/y@1", 1));
    add("b/one", EVIDENCE_UNKNOWN, EVIDENCE_INVALID, (struct evidence){0});
    finish();
    cr_expect_eq(snapshot_invalid(snapshot, STR("a"), &more).count,
                 SNAPSHOT_MAX_INVALID_PER_NAMESPACE + 1);
    cr_expect_eq(more, 3);
    cr_expect_str_eq(snapshot_invalid(snapshot, STR("a"), &more).items[0]->name.ptr, "00000");
    cr_expect_eq(last->count.count, 1, "what is not kept is let go");
    cr_expect_eq(snapshot_invalid(snapshot, STR("b"), &more).count, 1);
    cr_expect_eq(more, 0);
    cr_expect_str_eq(places(snapshot_broken_baselines(snapshot, STR("a"))), "a/99998",
                     "other evidence does not displace a blocking baseline");
    cr_expect_eq(snapshot_requirements(snapshot, STR("x/y@1"), (struct str){0}).count, 1);
}

Test(snapshot, invalid_baselines_are_bounded)
{
    size_t more = 7;

    for (int i = 0; i < SNAPSHOT_MAX_INVALID_PER_NAMESPACE + 1; i++)
        add(helper_text(&arena, "a/%05d", i).ptr, EVIDENCE_BASELINE, EVIDENCE_INVALID,
            (struct evidence){0});
    finish();
    cr_expect_eq(snapshot_broken_baselines(snapshot, STR("a")).count,
                 SNAPSHOT_MAX_INVALID_PER_NAMESPACE);
    cr_expect_eq(snapshot_rest(snapshot, STR("a")).broken, 1);
    (void)snapshot_invalid(snapshot, STR("a"), &more);
    cr_expect_eq(more, 0, "they are no candidates for a workload");
}

Test(snapshot, valid_documents_over_the_limit_are_counted)
{
    enum { LIMIT = SNAPSHOT_MAX_VALID_PER_NAMESPACE };

    for (unsigned i = 0; i < LIMIT + 2; i++) {
        struct evidence more = {.digest = helper_text(&arena, "sha256:%u", i)};

        add(helper_text(&arena, "a/%06u", LIMIT + 2 - i).ptr, EVIDENCE_BASELINE, EVIDENCE_VALID,
            more);
    }
    add("a/copy", EVIDENCE_BASELINE, EVIDENCE_VALID,
        (struct evidence){.digest = STR_INIT("sha256:7")});
    finish();
    cr_expect_eq(snapshot_rest(snapshot, STR("a")).valid, 2);
    cr_expect_eq(snapshot_rest(snapshot, STR("a")).copies, 1);
    cr_expect_eq(snapshot_all(snapshot).count, LIMIT);
}

Test(snapshot, the_store_returns_counted_references)
{
    struct snapshot_store *store = NULL;
    struct snapshot *taken = NULL;

    finish();
    cr_assert_eq(snapshot_store_new(&store), 0);
    cr_expect_null(snapshot_store_get(store));
    snapshot_store_put(store, snapshot);
    taken = snapshot_store_get(store);
    cr_expect_eq(taken, snapshot);
    snapshot = NULL;
    snapshot_store_put(store, NULL);
    cr_expect_eq(releases, 0, "it is still held");
    snapshot_unref(taken);
    cr_expect_eq(releases, 1);
    snapshot_store_free(store);
}

static void add_rest(const char *name, struct snapshot_rest rest)
{
    rest.namespace_name = str_of(name);
    cr_assert_eq(snapshot_builder_add_rest(builder, &rest), 0);
}

Test(snapshot, evidence_that_was_not_passed_is_counted)
{
    size_t more = 0;

    for (int i = 0; i < SNAPSHOT_MAX_INVALID_PER_NAMESPACE + 1; i++)
        add(helper_text(&arena, "b/%05d", i).ptr, EVIDENCE_UNKNOWN, EVIDENCE_INVALID,
            (struct evidence){0});
    add_rest("a", (struct snapshot_rest){.invalid = 7});
    add_rest("b", (struct snapshot_rest){.invalid = 70, .broken = 2, .copies = 3});
    for (int i = 0; i < 100; i++)
        add_rest(helper_text(&arena, "d%d", i).ptr, (struct snapshot_rest){.invalid = 1});
    finish();
    cr_expect_eq(snapshot_invalid(snapshot, STR("a"), &more).count, 0);
    cr_expect_eq(more, 7);
    (void)snapshot_invalid(snapshot, STR("b"), &more);
    cr_expect_eq(more, 71);
    cr_expect_eq(snapshot_rest(snapshot, STR("b")).broken, 2);
    cr_expect_eq(snapshot_rest(snapshot, STR("b")).copies, 3);
    (void)snapshot_rests(snapshot, &more);
    cr_expect_eq(more, 102);
    (void)snapshot_invalid(snapshot, STR("d99"), &more);
    cr_expect_eq(more, 1);
    (void)snapshot_invalid(snapshot, STR("z"), &more);
    cr_expect_eq(more, 0);
}

/* All steps of a build. Each can fail. */
static int build(const struct evidence *evidence, size_t count)
{
    const struct snapshot_keep keep = {.object = &releases, .release = count_release};
    const struct namespace_labels labels = {.name = STR("a"),
                                            .labels = {.enforce = STR("required")}};
    struct snapshot_builder *one = NULL;
    struct snapshot *made = NULL;
    int r = snapshot_builder_new(&policy, keep, &one);

    if (r < 0)
        return r;
    r = snapshot_builder_add_namespace(one, &labels);
    for (size_t i = 0; r == 0 && i < count; i++)
        r = snapshot_builder_add_evidence(one, &evidence[i]);
    if (r == 0)
        r = snapshot_builder_finish(one, &made);
    if (r < 0)
        snapshot_builder_free(one);
    cr_expect_eq(made != NULL, r == 0);
    snapshot_unref(made);
    return r;
}

Test(snapshot, every_failing_allocation_is_an_error)
{
    struct evidence many[SNAPSHOT_MAX_INVALID_PER_NAMESPACE + 4];
    const size_t count = sizeof(many) / sizeof(many[0]);
    unsigned n = 1;

    for (size_t i = 0; i < count; i++)
        many[i] = (struct evidence){
            .namespace_name = STR("a"), .name = helper_text(&arena, "%zu", i), .count = {1}};
    many[0] = many[1] = many[2] = same; /* copies in a namespace of their own */
    for (size_t i = 0; i < 3; i++) {
        many[i].state = EVIDENCE_VALID;
        many[i].namespace_name = STR("b");
        many[i].name = helper_text(&arena, "%zu", i);
        refcount_init(&many[i].count);
    }
    for (;; n++) {
        int r = 0;

        releases = 0;
        failing_alloc_arm(n);
        r = build(many, count);
        cr_expect_eq(releases, 1, "allocation %u", n);
        if (!failing_alloc_failed()) {
            cr_expect_eq(r, 0);
            break;
        }
        cr_expect_eq(r, -ENOMEM, "allocation %u", n);
        for (size_t i = 0; i < count; i++)
            cr_assert_eq(many[i].count.count, 1, "allocation %u, %zu", n, i);
    }
    cr_expect_gt(n, 6);
    releases = 0;
}
