/* SPDX-License-Identifier: Apache-2.0 */
/* ceiling - meets what documents allow: choices, paths and names. */
#include "k8s/snapshot/ceiling.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "planner/base/list.h"
#include "planner/base/tree.h"
#include "planner/plan.h"

static enum ceiling_choice choice_of(const cJSON *node, enum ceiling_choice absent)
{
    if (node == NULL)
        return absent;
    return tree_is(node, cJSON_True) ? CEILING_TRUE : CEILING_FALSE;
}

static struct ceiling_list list_of(const cJSON *array, bool given)
{
    return (struct ceiling_list){.given = given, .array = array};
}

struct ceiling ceiling_of_baseline(const cJSON *baseline, const cJSON *mounts)
{
    const cJSON *paths = tree_get(baseline, "allowed_writable_paths");
    const cJSON *env = tree_get(baseline, "allowed_env");

    return (struct ceiling){
        .network_allowed = choice_of(tree_get(baseline, "network_allowed"), CEILING_UNSET),
        .require_enforcement = choice_of(tree_get(baseline, "require_enforcement"), CEILING_UNSET),
        .paths = list_of(paths, paths != NULL),
        .env = list_of(env, env != NULL),
        .mounts = list_of(mounts, mounts != NULL),
    };
}

struct ceiling ceiling_of_signed(const cJSON *requirements)
{
    return (struct ceiling){
        .network_allowed = choice_of(tree_get(requirements, "network"), CEILING_FALSE),
        .require_enforcement =
            choice_of(tree_get(requirements, "require_enforcement"), CEILING_TRUE),
        .paths = list_of(tree_get(requirements, "writable_paths"), true),
        .env = list_of(tree_get(requirements, "env_allowlist"), true),
    };
}

static int rank(char c)
{
    return c == '/' ? -1 : (unsigned char)c;
}

/* Bytewise, but `/` before all other bytes: a path is followed by all paths beneath it. */
static int order_paths(const void *a, const void *b)
{
    const struct str *x = a, *y = b;
    size_t common = x->len < y->len ? x->len : y->len;

    for (size_t i = 0; i < common; i++) {
        if (x->ptr[i] != y->ptr[i])
            return rank(x->ptr[i]) - rank(y->ptr[i]);
    }
    return (x->len > y->len) - (x->len < y->len);
}

static void sort_once(struct ceiling_list *list)
{
    size_t kept = 0;

    if (list->count > 1)
        qsort(list->items, list->count, sizeof(*list->items), order_paths);
    for (size_t i = 0; i < list->count; i++) {
        if (kept == 0 || !str_equal(list->items[kept - 1], list->items[i]))
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
}

/* Copies the array to items. */
static int read_items(struct ceiling_list *list, bool are_paths, struct arena *arena)
{
    const cJSON *entry = NULL;
    size_t count = 0;

    if (!list->given || list->read)
        return 0;
    count = tree_count(list->array);
    list->items = arena_alloc(arena, count, sizeof(*list->items));
    if (list->items == NULL)
        return -ENOMEM;
    cJSON_ArrayForEach(entry, list->array)
    {
        struct str s = str_trim(tree_text(entry));
        int r = are_paths ? plan_path_normalise(s, arena, &s) : 0;

        if (r < 0)
            return r;
        list->items[list->count++] = s;
    }
    assert(list->count == count);
    list->read = true;
    sort_once(list);
    return 0;
}

/* One of two lists that are walked together. */
struct side {
    const struct ceiling_list *list;
    size_t next;
    struct str root[2]; /* `.` and `/`, if the list has them: they admit paths anywhere */
    struct str cover;   /* the last entry that is not beneath another one */
};

static struct side begin_side(const struct ceiling_list *list)
{
    struct side side = {.list = list};

    for (size_t i = 0; i < list->count; i++) {
        if (str_equal(list->items[i], STR(".")))
            side.root[0] = list->items[i];
        if (str_equal(list->items[i], STR("/")))
            side.root[1] = list->items[i];
    }
    return side;
}

/* All entries beneath a cover follow it, so it stays until the first that is not. */
static struct str take_next(struct side *side)
{
    struct str s = side->list->items[side->next++];

    if (!str_present(side->cover) || s.len <= side->cover.len || !str_starts_with(s, side->cover) ||
        s.ptr[side->cover.len] != '/')
        side->cover = s;
    return s;
}

static bool admits(const struct side *side, struct str path)
{
    const struct str bases[] = {side->root[0], side->root[1], side->cover};

    for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
        if (str_present(bases[i]) && plan_path_admitted(path, bases[i]))
            return true;
    }
    return false;
}

/* Keeps what both lists admit: the entries that both have, and those paths of each that the other
 * admits. With more than two lists the order does not matter, because a path beneath an admitted
 * path is admitted too. */
static void keep_admitted(struct ceiling_list *kept, struct side *a, struct side *b, bool are_paths)
{
    while (a->next < a->list->count || b->next < b->list->count) {
        int order = a->next == a->list->count ? 1
                    : b->next == b->list->count
                        ? -1
                        : order_paths(&a->list->items[a->next], &b->list->items[b->next]);
        const struct side *other = order < 0 ? b : a;
        struct str s = take_next(order < 0 ? a : b);

        if (order == 0)
            (void)take_next(a);
        if (order == 0 || (are_paths && admits(other, s)))
            kept->items[kept->count++] = s;
    }
}

static int meet_lists(struct ceiling_list *list, struct ceiling_list *other, bool are_paths,
                      struct arena *arena)
{
    struct ceiling_list kept = {.given = true, .met = true, .read = true};
    struct side a = {0}, b = {0};
    int r = 0;

    if (!other->given)
        return 0;
    if (!list->given) {
        *list = *other;
        return 0;
    }
    r = read_items(list, are_paths, arena);
    if (r == 0)
        r = read_items(other, are_paths, arena);
    if (r < 0)
        return r;
    kept.items = arena_alloc(arena, list->count + other->count, sizeof(*kept.items));
    if (kept.items == NULL)
        return -ENOMEM;
    a = begin_side(list);
    b = begin_side(other);
    keep_admitted(&kept, &a, &b, are_paths);
    assert(kept.count <= list->count + other->count);
    *list = kept;
    return 0;
}

int ceiling_meet(struct ceiling *ceiling, struct ceiling other, struct arena *arena)
{
    int r = 0;

    if (ceiling->network_allowed == CEILING_UNSET || other.network_allowed == CEILING_FALSE)
        ceiling->network_allowed = other.network_allowed;
    if (ceiling->require_enforcement == CEILING_UNSET || other.require_enforcement == CEILING_TRUE)
        ceiling->require_enforcement = other.require_enforcement;
    r = meet_lists(&ceiling->paths, &other.paths, true, arena);
    if (r == 0)
        r = meet_lists(&ceiling->mounts, &other.mounts, true, arena);
    return r == 0 ? meet_lists(&ceiling->env, &other.env, false, arena) : r;
}

int ceiling_prepare(struct ceiling *ceiling, struct arena *arena)
{
    int r = read_items(&ceiling->paths, true, arena);

    if (r == 0)
        r = read_items(&ceiling->mounts, true, arena);
    return r == 0 ? read_items(&ceiling->env, false, arena) : r;
}

static bool add_choice(cJSON *object, const char *key, enum ceiling_choice choice,
                       struct arena *arena)
{
    return choice == CEILING_UNSET ||
           tree_add_member(object, key, tree_make_bool(arena, choice == CEILING_TRUE));
}

/* In bytewise order. */
static bool add_items(cJSON *array, const struct ceiling_list *list, struct arena *arena)
{
    struct str *sorted = arena_alloc(arena, list->count, sizeof(*sorted));
    size_t count = 0;

    if (sorted == NULL)
        return false;
    if (list->count > 0)
        memcpy(sorted, list->items, list->count * sizeof(*sorted));
    count = list_sort_once(sorted, list->count);
    assert(count == list->count);
    for (size_t i = 0; i < count; i++) {
        if (!tree_add_item(array, tree_make_text(arena, sorted[i])))
            return false;
    }
    return true;
}

static bool add_list(cJSON *object, const char *key, const struct ceiling_list *list,
                     struct arena *arena)
{
    cJSON *array = NULL;

    if (!list->given)
        return true;
    if (!list->met && list->array != NULL)
        return tree_add_member(object, key, tree_borrow(arena, list->array));
    array = tree_make_array(arena);
    if (array == NULL || (list->met && !add_items(array, list, arena)))
        return false;
    return tree_add_member(object, key, array);
}

int ceiling_write(const struct ceiling *ceiling, struct arena *arena, cJSON **ret_baseline)
{
    cJSON *object = tree_make_object(arena);

    if (object == NULL || !add_choice(object, "network_allowed", ceiling->network_allowed, arena) ||
        !add_choice(object, "require_enforcement", ceiling->require_enforcement, arena) ||
        !add_list(object, "allowed_writable_paths", &ceiling->paths, arena) ||
        !add_list(object, "allowed_env", &ceiling->env, arena))
        return -ENOMEM;
    *ret_baseline = object;
    return 0;
}
