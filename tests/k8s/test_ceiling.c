/* SPDX-License-Identifier: Apache-2.0 */
/* test_ceiling - what several baselines allow together. Random lists are compared with a plain
 * reading of the contract; the number of comparisons grows with the lists, not with their product.
 */
#include <criterion/criterion.h>

#include "k8s/snapshot/ceiling.h"
#include "planner/base/buffer.h"
#include "planner/base/list.h"
#include "planner/base/tree.h"
#include "planner/plan.h"

#define ROUNDS 3000
#define MAX_ENTRIES 12

static unsigned admitted; /* calls */

bool __real_plan_path_admitted(struct str path, struct str base);
bool __wrap_plan_path_admitted(struct str path, struct str base);

bool __wrap_plan_path_admitted(struct str path, struct str base)
{
    admitted++;
    return __real_plan_path_admitted(path, base);
}

static uint32_t seed;

static uint32_t below(uint32_t limit)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 16) % limit;
}

static const char *random_path(struct arena *arena)
{
    static const char *const segments[] = {"a", "b", "a-", "a.", "..", ".", "", "b\\..", "0", "-"};
    struct buffer b = buffer_make(arena, 256);
    uint32_t count = 1 + below(4);

    if (below(4) == 0)
        buffer_add_char(&b, '/');
    for (uint32_t i = 0; i < count; i++) {
        buffer_add(&b, i > 0 ? STR("/") : STR(""));
        buffer_add(&b, str_of(segments[below(10)]));
    }
    return buffer_text(&b).ptr;
}

static cJSON *make_list(struct arena *arena, bool are_paths)
{
    static const char *const names[] = {"A", "B", " A ", "A-", "A/B", "C", "a", "B/"};
    cJSON *list = tree_make_array(arena);
    uint32_t count = below(MAX_ENTRIES);

    for (uint32_t i = 0; i < count; i++) {
        const char *text = are_paths ? random_path(arena) : names[below(8)];

        cr_assert(tree_add_item(list, tree_make_text(arena, str_of(text))));
    }
    return list;
}

static cJSON *make_baseline(struct arena *arena)
{
    cJSON *object = tree_make_object(arena);

    if (below(8) > 0)
        cr_assert(tree_add_member(object, "allowed_writable_paths", make_list(arena, true)));
    if (below(8) > 0)
        cr_assert(tree_add_member(object, "allowed_env", make_list(arena, false)));
    return object;
}

static size_t read_plainly(const cJSON *list, bool are_paths, struct arena *arena,
                           struct str *items)
{
    const cJSON *entry = NULL;
    size_t count = 0;

    cJSON_ArrayForEach(entry, list)
    {
        struct str s = str_trim(tree_text(entry));

        if (are_paths)
            cr_assert_eq(plan_path_normalise(s, arena, &s), 0);
        items[count++] = s;
    }
    return count;
}

/* Each entry that all lists admit: every pair is compared. */
static struct str meet_plainly(const cJSON *const *baselines, size_t count, const char *key,
                               bool are_paths, struct arena *arena)
{
    struct str all[8 * MAX_ENTRIES];
    struct buffer b = buffer_make(arena, 65536);
    size_t total = 0, kept = 0;

    for (size_t i = 0; i < count; i++)
        total += read_plainly(tree_get(baselines[i], key), are_paths, arena, all + total);
    for (size_t i = 0; i < total; i++) {
        bool everywhere = true;

        for (size_t j = 0; j < count && everywhere; j++) {
            struct str items[MAX_ENTRIES];
            const cJSON *list = tree_get(baselines[j], key);
            size_t n = read_plainly(list, are_paths, arena, items);
            bool here = list == NULL;

            for (size_t k = 0; k < n; k++)
                here |= str_equal(items[k], all[i]) ||
                        (are_paths && __real_plan_path_admitted(all[i], items[k]));
            everywhere = here;
        }
        if (everywhere)
            all[kept++] = all[i];
    }
    kept = list_sort_once(all, kept);
    for (size_t i = 0; i < kept; i++) {
        buffer_add_json(&b, all[i]);
        buffer_add_char(&b, ' ');
    }
    return buffer_text(&b);
}

static struct str entries(const cJSON *object, const char *key, struct arena *arena)
{
    struct buffer b = buffer_make(arena, 65536);
    const cJSON *entry = NULL;

    cJSON_ArrayForEach(entry, tree_get(object, key))
    {
        buffer_add_json(&b, tree_text(entry));
        buffer_add_char(&b, ' ');
    }
    return buffer_text(&b);
}

static size_t count_given(const cJSON *const *baselines, size_t count, const char *key)
{
    size_t given = 0;

    for (size_t i = 0; i < count; i++)
        given += tree_get(baselines[i], key) != NULL;
    return given;
}

/* What one document gives is passed on unchanged, so only what several give is compared. */
static void compare(const cJSON *const *baselines, size_t count, const cJSON *met,
                    struct arena *arena)
{
    static const char *const keys[] = {"allowed_writable_paths", "allowed_env"};

    for (size_t i = 0; i < 2; i++) {
        struct str wanted = meet_plainly(baselines, count, keys[i], i == 0, arena);
        struct str given = entries(met, keys[i], arena);

        if (count_given(baselines, count, keys[i]) > 1)
            cr_assert_str_eq(given.ptr, wanted.ptr);
    }
}

Test(ceiling, random_lists_are_met_as_the_contract_says)
{
    for (seed = 1; seed <= ROUNDS; seed++) {
        cleanup_arena struct arena arena = {0};
        const uint32_t round = seed;
        const cJSON *baselines[4] = {0};
        uint32_t count = 2 + below(3);
        struct str first = {0};

        for (uint32_t i = 0; i < count; i++)
            baselines[i] = make_baseline(&arena);
        /* in two orders, and with lists that were read before or not */
        for (unsigned turn = 0; turn < 2; turn++) {
            struct ceiling ceiling = {0};
            cJSON *met = NULL;

            for (uint32_t i = 0; i < count; i++) {
                const cJSON *one = baselines[turn == 0 ? i : count - 1 - i];

                cr_assert_eq(ceiling_meet(&ceiling, ceiling_of_baseline(one, NULL), &arena), 0);
                if (turn == 1)
                    cr_assert_eq(ceiling_prepare(&ceiling, &arena), 0);
            }
            cr_assert_eq(ceiling_write(&ceiling, &arena, &met), 0);
            compare(baselines, count, met, &arena);
            if (turn == 0)
                first = entries(met, "allowed_writable_paths", &arena);
            cr_assert_str_eq(entries(met, "allowed_writable_paths", &arena).ptr, first.ptr);
        }
        seed = round;
    }
}

/* Normalised, and met like writable paths; a document without the list takes nothing away. */
Test(ceiling, mounts_are_met_and_are_not_in_the_planners_object)
{
    static const char *const lists[3][4] = {
        {"/tmp/", "/var//cache", "/srv"}, {"/tmp/a", "/var", "/srv/b/."}, {"/var", "/srv"}};
    cleanup_arena struct arena arena = {0};
    const cJSON *empty = tree_make_object(&arena);
    struct ceiling ceiling = {0};
    struct buffer b = buffer_make(&arena, 4096);
    cJSON *written = NULL;

    for (size_t i = 0; i < 3; i++) {
        cJSON *list = tree_make_array(&arena);

        for (const char *const *path = lists[i]; *path != NULL; path++)
            cr_assert(tree_add_item(list, tree_make_text(&arena, str_of(*path))));
        cr_assert_eq(ceiling_meet(&ceiling, ceiling_of_baseline(empty, list), &arena), 0);
        cr_assert_eq(ceiling_meet(&ceiling, ceiling_of_baseline(empty, NULL), &arena), 0);
    }
    cr_assert_eq(ceiling_prepare(&ceiling, &arena), 0);
    for (size_t i = 0; i < ceiling.mounts.count; i++) {
        buffer_add(&b, ceiling.mounts.items[i]);
        buffer_add_char(&b, ' ');
    }
    cr_expect_str_eq(buffer_text(&b).ptr, "/srv/b /var/cache ");
    cr_assert_eq(ceiling_write(&ceiling, &arena, &written), 0);
    cr_expect_null(written->child);
    cr_assert_eq(
        ceiling_meet(&ceiling, ceiling_of_baseline(empty, tree_make_array(&arena)), &arena), 0);
    cr_expect(ceiling.mounts.given && ceiling.mounts.count == 0, "an empty list admits nothing");
}

Test(ceiling, the_cost_grows_with_the_lists)
{
    enum { COUNT = 1000 };
    cleanup_arena struct arena arena = {0};
    struct ceiling ceiling = {0};

    for (unsigned turn = 0; turn < 2; turn++) {
        cJSON *object = tree_make_object(&arena), *list = tree_make_array(&arena);

        for (unsigned i = 0; i < COUNT; i++)
            cr_assert(tree_add_item(
                list, tree_make_text(&arena, arena_format(&arena, "d%u%s", i * (turn + 1),
                                                          turn == 0 ? "" : "/x"))));
        cr_assert(tree_add_member(object, "allowed_writable_paths", list));
        cr_assert_eq(ceiling_meet(&ceiling, ceiling_of_baseline(object, NULL), &arena), 0);
    }
    cr_expect_eq(ceiling.paths.count, COUNT / 2);
    cr_expect_leq(admitted, 2 * COUNT, "%u", admitted);
}
