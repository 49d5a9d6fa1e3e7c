/* SPDX-License-Identifier: Apache-2.0 */
/* test_cluster_records - what the cluster source keeps of the documents of a namespace: limits,
 * equal documents, and what is only counted. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#include "k8s/cluster/internal.h"
#include "tests/k8s/evidence_helper.h"
#include "tests/k8s/failing.h"

#define MANY (SNAPSHOT_MAX_INVALID_PER_NAMESPACE + 3)

static struct arena arena;
static struct cluster cluster;

static void done(void)
{
    cluster_invalid_free(&cluster);
    arena_release(&arena);
    cluster = (struct cluster){0};
}

TestSuite(cluster_records, .fini = done);

/* Its memory belongs to the arena: the test holds the last reference. */
static struct evidence *make(enum evidence_kind kind, enum evidence_state state,
                             const char *namespace_name, unsigned digest)
{
    struct evidence *evidence = arena_alloc(&arena, 1, sizeof(*evidence));

    cr_assert_not_null(evidence);
    evidence->namespace_name = str_of(namespace_name);
    evidence->name = STR("x");
    evidence->digest = helper_text(&arena, "sha256:%06u", digest);
    evidence->kind = kind;
    evidence->state = state;
    refcount_init(&evidence->count);
    return evidence;
}

static struct evidence *put(const struct evidence *before, struct evidence *evidence)
{
    struct evidence *now = evidence;

    if (now != NULL)
        (void)evidence_ref(now);
    cr_assert_eq(cluster_invalid_replace(&cluster, before, &now), 0);
    return now;
}

static void drop(struct evidence *evidence)
{
    cr_assert_null(put(evidence, NULL));
    evidence_unref(evidence);
}

static struct snapshot_rest rest_of(const char *namespace_name)
{
    const struct policy policy = policy_defaults();
    struct snapshot_builder *builder = NULL;
    struct snapshot *snapshot = NULL;
    struct snapshot_rest rest = {0};

    cr_assert_eq(snapshot_builder_new(&policy, (struct snapshot_keep){0}, &builder), 0);
    cr_assert_eq(cluster_invalid_add(&cluster, builder), 0);
    cr_assert_eq(snapshot_builder_finish(builder, &snapshot), 0);
    rest = snapshot_rest(snapshot, str_of(namespace_name));
    snapshot_unref(snapshot);
    return rest;
}

Test(cluster_records, broken_baselines_are_counted_apart)
{
    static struct evidence *records[2][MANY];
    struct evidence *valid = NULL;

    for (size_t i = 0; i < MANY; i++) {
        records[0][i] = put(NULL, make(EVIDENCE_UNKNOWN, EVIDENCE_INVALID, "a", 0));
        records[1][i] = put(NULL, make(EVIDENCE_BASELINE, EVIDENCE_INVALID, "a", 0));
    }
    cr_expect_eq(rest_of("a").invalid, 3);
    cr_expect_eq(rest_of("a").broken, 3);
    cr_expect_eq(rest_of("b").broken, 0);
    cr_expect_eq(records[1][MANY - 1]->name.len, 0, "the last one has no record of its own");
    cr_expect_eq(records[1][MANY - 1], records[1][MANY - 2]);
    cr_expect_neq(records[1][MANY - 1], records[0][MANY - 1]);
    /* those with a record go: the counted ones stay counted, and go on blocking */
    for (size_t i = 0; i < MANY - 3; i++)
        drop(records[1][i]);
    cr_expect_eq(rest_of("a").broken, 3);
    /* a counted one becomes valid, and one is deleted */
    valid = put(records[1][MANY - 1], make(EVIDENCE_BASELINE, EVIDENCE_VALID, "a", 1));
    evidence_unref(records[1][MANY - 1]);
    cr_expect_eq(valid->name.len, 1);
    drop(records[1][MANY - 2]);
    cr_expect_eq(rest_of("a").broken, 1);
    cr_expect_eq(rest_of("a").invalid, 3);
    /* a counted one that changes gets a record of its own, as there is room */
    records[1][0] = put(records[1][MANY - 3], make(EVIDENCE_BASELINE, EVIDENCE_INVALID, "a", 2));
    evidence_unref(records[1][MANY - 3]);
    cr_expect_eq(records[1][0]->name.len, 1);
    cr_expect_eq(rest_of("a").broken, 0);
    cr_expect_not(cluster.has_room, "no list is needed for what is not valid");
}

Test(cluster_records, equal_documents_are_found_while_one_is_left)
{
    struct evidence *const one = make(EVIDENCE_BASELINE, EVIDENCE_VALID, "a", 1);
    struct evidence *const two = make(EVIDENCE_BASELINE, EVIDENCE_VALID, "b", 1);
    struct evidence *const three = make(EVIDENCE_BASELINE, EVIDENCE_OTHER_AUDIENCE, "b", 1);

    cr_expect_null(cluster_copies_known(&cluster, one->digest));
    (void)put(NULL, one);
    cr_expect_eq(cluster_copies_known(&cluster, one->digest), one);
    cr_expect_null(cluster_copies_known(&cluster, STR("sha256:000002")));
    (void)put(NULL, two);
    (void)put(NULL, three);
    drop(one);
    cr_expect_eq(cluster_copies_known(&cluster, one->digest), two);
    drop(two);
    cr_expect_eq(cluster_copies_known(&cluster, one->digest), two, "of the same namespace");
    (void)put(three, make(EVIDENCE_BASELINE, EVIDENCE_REVOKED, "b", 1));
    evidence_unref(three);
    cr_expect_null(cluster_copies_known(&cluster, one->digest));
    cr_expect_eq(one->count.count, 1);
    cr_expect_eq(two->count.count, 1);
    cr_expect_eq(three->count.count, 1);
}

Test(cluster_records, valid_documents_are_limited_by_their_different_bytes)
{
    enum { LIMIT = SNAPSHOT_MAX_VALID_PER_NAMESPACE };
    struct evidence **records = arena_alloc(&arena, LIMIT, sizeof(struct evidence *));
    struct evidence *copy = NULL, *over = NULL, *again = NULL;

    cr_assert_not_null(records);
    for (unsigned i = 0; i < LIMIT; i++)
        records[i] = put(NULL, make(EVIDENCE_BASELINE, EVIDENCE_VALID, "a", i));
    copy = put(NULL, make(EVIDENCE_BASELINE, EVIDENCE_VALID, "a", 7));
    cr_expect_eq(copy->name.len, 1, "a copy is no further document");
    cr_expect_eq(rest_of("a").valid, 0);
    over = put(NULL, make(EVIDENCE_BASELINE, EVIDENCE_VALID, "a", LIMIT));
    again = put(NULL, make(EVIDENCE_BASELINE, EVIDENCE_VALID, "a", LIMIT));
    cr_expect_eq(over->name.len, 0);
    cr_expect_eq(over, again);
    cr_expect_eq(rest_of("a").valid, 2);
    cr_expect_eq(put(NULL, make(EVIDENCE_BASELINE, EVIDENCE_VALID, "b", LIMIT))->name.len, 1);
    drop(records[7]);
    cr_expect_not(cluster.has_room, "its copy is there");
    drop(copy);
    cr_expect_not(cluster.has_room, "two wait for one place");
    drop(records[8]);
    cr_expect(cluster.has_room, "both can be listed again");
    cr_expect_eq(rest_of("a").valid, 2, "and count until then");
    /* the list puts each again, and must not begin anew for it */
    cluster.has_room = false;
    copy = put(over, make(EVIDENCE_BASELINE, EVIDENCE_VALID, "a", LIMIT));
    evidence_unref(over);
    cr_expect_eq(copy->name.len, 1);
    cr_expect_eq(rest_of("a").valid, 1);
    drop(records[9]);
    over = put(again, make(EVIDENCE_BASELINE, EVIDENCE_VALID, "a", LIMIT));
    evidence_unref(again);
    cr_expect_eq(over->name.len, 1);
    cr_expect_eq(rest_of("a").valid, 0);
    cr_expect_not(cluster.has_room);
}

Test(cluster_records, every_failing_allocation_leaves_the_counts)
{
    struct evidence *const one = make(EVIDENCE_BASELINE, EVIDENCE_VALID, "a", 1);
    struct evidence *const broken = make(EVIDENCE_BASELINE, EVIDENCE_INVALID, "b", 1);
    struct evidence *last = NULL;

    for (unsigned i = 0; i < SNAPSHOT_MAX_INVALID_PER_NAMESPACE; i++)
        (void)put(NULL, make(EVIDENCE_BASELINE, EVIDENCE_INVALID, "b", 0));
    for (unsigned turn = 0; turn < 2; turn++) {
        for (unsigned n = 1;; n++) {
            struct evidence *now = evidence_ref(turn == 0 ? one : broken);
            int r = 0;

            failing_alloc_arm(n);
            r = cluster_invalid_replace(&cluster, NULL, &now);
            if (!failing_alloc_failed()) {
                cr_expect_eq(r, 0);
                cr_expect_gt(n, turn == 0 ? 2 : 1);
                last = now;
                break;
            }
            cr_expect_eq(r, -ENOMEM);
            cr_expect_eq(one->count.count, turn == 0 ? 2 : 3);
            cr_expect_null(cluster_copies_known(&cluster, STR("sha256:000009")));
            evidence_unref(now);
        }
    }
    cr_expect_eq(rest_of("b").broken, 1);
    cr_expect_eq(cluster_copies_known(&cluster, one->digest), one);
    drop(last);
}
