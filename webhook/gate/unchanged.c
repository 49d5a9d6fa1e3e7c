/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unchanged - detects an UPDATE that changes nothing that the gate judges (gate-v1, section 3).
 */

#include "webhook/gate/internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "planner/base/tree.h"

struct annotation {
    struct str key;
    struct str value;
};

struct annotation_set {
    struct annotation *items; /* sorted by key */
    size_t count;
};

static int by_key(const void *a, const void *b)
{
    const struct annotation *x = a, *y = b;

    return str_compare(x->key, y->key);
}

/* The annotations of the gate in a map, sorted by key: comparing two unsorted maps would take
 * quadratic time, and the sender chooses their size. */
static int collect(const cJSON *map, struct arena *arena, struct annotation_set *ret_set)
{
    struct annotation_set set = {0};
    const cJSON *entry = NULL;
    size_t count = 0;

    cJSON_ArrayForEach(entry, map)
    {
        count += workload_is_our_key(tree_key(entry)) ? 1 : 0;
    }
    set.items = arena_alloc(arena, count, sizeof(*set.items));
    if (set.items == NULL)
        return -ENOMEM;
    cJSON_ArrayForEach(entry, map)
    {
        if (workload_is_our_key(tree_key(entry)))
            set.items[set.count++] =
                (struct annotation){.key = tree_key(entry), .value = tree_text(entry)};
    }
    assert(set.count == count);
    if (set.count > 1)
        qsort(set.items, set.count, sizeof(*set.items), by_key);
    *ret_set = set;
    return 0;
}

static int same_annotations(const cJSON *now, const cJSON *before, struct arena *arena,
                            bool *ret_same)
{
    struct annotation_set a = {0}, b = {0};
    int r = collect(now, arena, &a);

    if (r == 0)
        r = collect(before, arena, &b);
    if (r < 0)
        return r;
    *ret_same = a.count == b.count;
    for (size_t i = 0; *ret_same && i < a.count; i++)
        *ret_same = str_equal(a.items[i].key, b.items[i].key) &&
                    str_equal(a.items[i].value, b.items[i].value);
    return 0;
}

/* Compares list by list, in order. Volumes that are not images have no influence. */
static bool same_images(const struct workload *now, const struct workload *before)
{
    if (!now->images_readable || !before->images_readable ||
        now->image_count != before->image_count)
        return false;
    for (size_t i = 0; i < now->image_count; i++) {
        const struct image_use *a = &now->images[i], *b = &before->images[i];

        if (a->list != b->list || str_present(a->reference) != str_present(b->reference) ||
            !str_equal(a->reference, b->reference))
            return false;
    }
    return true;
}

static bool is_readable(const struct workload *w)
{
    return w->annotations_readable && (w->kind == WORKLOAD_POD || w->own_readable);
}

int gate_is_unchanged(const struct workload *now, const struct workload *before,
                      struct arena *arena, bool *ret_unchanged)
{
    bool same = is_readable(now) && is_readable(before) && same_images(now, before);
    int r = 0;

    if (same)
        r = same_annotations(now->annotations, before->annotations, arena, &same);
    if (r == 0 && same)
        r = same_annotations(now->own_annotations, before->own_annotations, arena, &same);
    if (r == 0)
        *ret_unchanged = same;
    return r;
}
