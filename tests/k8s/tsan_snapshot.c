/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsan_snapshot - readers take and release references to the current snapshot while a writer puts
 * new ones. A snapshot stays valid while a reader holds it, and every snapshot is freed in the end.
 * What the baselines of a namespace allow is made by whoever asks first, and all get one result.
 * A program without criterion, for ThreadSanitizer.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "k8s/snapshot/snapshot.h"

#define READERS 4
#define ROUNDS 2000
#define NAMES 8

static struct snapshot_store *store;
static unsigned alive; /* snapshots that are not freed yet */
/* The test holds a reference to each. */
static struct evidence baselines[] = {
    {.namespace_name = STR_INIT(POLICY_OWN_NAMESPACE), .name = STR_INIT("all"), .max_age_days = 7},
    {.namespace_name = STR_INIT("a"), .name = STR_INIT("one"), .max_age_days = 9},
};
static bool stop;

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    exit(EXIT_FAILURE);
}

static void let_go(void *object)
{
    check(object == &alive, "another keep was let go");
    (void)__atomic_sub_fetch(&alive, 1, __ATOMIC_RELAXED);
}

/* All namespaces of one snapshot have the same label. */
static struct snapshot *make(unsigned round)
{
    const struct policy policy = policy_defaults();
    struct snapshot_builder *builder = NULL;
    struct snapshot *snapshot = NULL;

    (void)__atomic_add_fetch(&alive, 1, __ATOMIC_RELAXED);
    check(snapshot_builder_new(&policy, (struct snapshot_keep){&alive, let_go}, &builder) == 0,
          "no builder");
    for (char name = 'a'; name < 'a' + NAMES; name++) {
        const struct namespace_labels labels = {
            .name = {&name, 1},
            .labels = {.enforce = round % 2 == 0 ? STR("required") : STR("none")}};

        check(snapshot_builder_add_namespace(builder, &labels) == 0, "no namespace");
    }
    for (size_t i = 0; i < 2; i++)
        check(snapshot_builder_add_evidence(builder, &baselines[i]) == 0, "no baseline");
    check(snapshot_builder_finish(builder, &snapshot) == 0, "no snapshot");
    return snapshot;
}

static void ask_limits(const struct snapshot *snapshot)
{
    for (char name = 'a'; name < 'a' + NAMES; name++) {
        const struct snapshot_baselines *first = NULL, *again = NULL;

        check(snapshot_baselines(snapshot, (struct str){&name, 1}, &first) == 0, "no limits");
        check(snapshot_baselines(snapshot, (struct str){&name, 1}, &again) == 0, "no limits");
        check(first == again && first->max_age_days == 7, "two results of one snapshot");
        check(first->count == (name == 'a' ? 2 : 1), "another number of baselines");
    }
}

static void *read_on(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        struct snapshot *snapshot = snapshot_store_get(store);
        struct snapshot *again = snapshot_ref(snapshot);
        struct str first = snapshot_namespace(snapshot, STR("a"))->labels.enforce;

        snapshot_unref(snapshot);
        for (char name = 'a'; name < 'a' + NAMES; name++)
            check(
                str_equal(snapshot_namespace(again, (struct str){&name, 1})->labels.enforce, first),
                "two snapshots in one");
        ask_limits(again);
        snapshot_unref(again);
    }
    return NULL;
}

int main(void)
{
    pthread_t readers[READERS];

    for (size_t i = 0; i < 2; i++) {
        baselines[i].kind = EVIDENCE_BASELINE;
        baselines[i].state = EVIDENCE_VALID;
        refcount_init(&baselines[i].count);
    }
    check(snapshot_store_new(&store) == 0, "no store");
    snapshot_store_put(store, make(0));
    for (size_t i = 0; i < READERS; i++)
        check(pthread_create(&readers[i], NULL, read_on, NULL) == 0, "no thread");
    for (unsigned round = 1; round <= ROUNDS; round++)
        snapshot_store_put(store, make(round));
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (size_t i = 0; i < READERS; i++)
        check(pthread_join(readers[i], NULL) == 0, "no join");
    snapshot_store_free(store);
    check(alive == 0, "a snapshot was not let go");
    return EXIT_SUCCESS;
}
