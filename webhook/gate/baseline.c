/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline - makes the baseline that limits a pod (gate-v1, section 5): what all baselines allow
 * and, if the pod gives requirements in its annotation, the signed requirements allow too.
 */

#include "webhook/gate/internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "planner/base/tree.h"

enum choice {
    CHOICE_UNSET = 0, /* no document sets it */
    CHOICE_FALSE,
    CHOICE_TRUE,
};

/* A list that is not given admits everything, an empty list nothing. A list that only one document
 * gives is passed on unchanged. */
struct ceiling_list {
    bool given;
    bool intersected;   /* the list is in `items`; otherwise in `array` */
    const cJSON *array; /* NULL: empty */
    struct str *items;  /* sorted bytewise, without duplicates; paths are normalised */
    size_t count;
};

/* The most that a pod can have. {0} limits nothing. */
struct ceiling {
    enum choice network_allowed;
    enum choice require_enforcement;
    struct ceiling_list paths;
    struct ceiling_list env;
};

static enum choice choice_of(const cJSON *node, enum choice absent)
{
    if (node == NULL)
        return absent;
    return tree_is(node, cJSON_True) ? CHOICE_TRUE : CHOICE_FALSE;
}

static int by_bytes(const void *a, const void *b)
{
    const struct str *x = a, *y = b;

    return str_compare(*x, *y);
}

static void sort_and_drop_duplicates(struct ceiling_list *list)
{
    size_t kept = 0;

    if (list->count > 1)
        qsort(list->items, list->count, sizeof(*list->items), by_bytes);
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

    if (list->intersected)
        return 0;
    cJSON_ArrayForEach(entry, list->array)
    {
        count++;
    }
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
    list->intersected = true;
    sort_and_drop_duplicates(list);
    return 0;
}

static struct ceiling_list list_of(const cJSON *array, bool given)
{
    return (struct ceiling_list){.given = given, .array = array};
}

static struct ceiling ceiling_of_baseline(const cJSON *baseline)
{
    const cJSON *paths = tree_get(baseline, "allowed_writable_paths");
    const cJSON *env = tree_get(baseline, "allowed_env");

    return (struct ceiling){
        .network_allowed = choice_of(tree_get(baseline, "network_allowed"), CHOICE_UNSET),
        .require_enforcement = choice_of(tree_get(baseline, "require_enforcement"), CHOICE_UNSET),
        .paths = list_of(paths, paths != NULL),
        .env = list_of(env, env != NULL),
    };
}

/* Signed requirements are an upper limit: a field that is absent in them admits nothing. */
static struct ceiling ceiling_of_signed(const cJSON *requirements)
{
    return (struct ceiling){
        .network_allowed = choice_of(tree_get(requirements, "network"), CHOICE_FALSE),
        .require_enforcement =
            choice_of(tree_get(requirements, "require_enforcement"), CHOICE_TRUE),
        .paths = list_of(tree_get(requirements, "writable_paths"), true),
        .env = list_of(tree_get(requirements, "env_allowlist"), true),
    };
}

static bool admits(const struct ceiling_list *list, struct str s, bool are_paths)
{
    for (size_t i = 0; i < list->count; i++) {
        if (str_equal(list->items[i], s) || (are_paths && plan_path_admitted(s, list->items[i])))
            return true;
    }
    return false;
}

static void keep_admitted(struct ceiling_list *kept, const struct ceiling_list *from,
                          const struct ceiling_list *by, bool are_paths)
{
    for (size_t i = 0; i < from->count; i++) {
        if (admits(by, from->items[i], are_paths))
            kept->items[kept->count++] = from->items[i];
    }
}

/* Keeps what both lists admit: the entries of each that the other admits. With more than two lists
 * the order does not matter, because a path beneath an admitted path is admitted too. */
static int intersect_lists(struct ceiling_list *list, struct ceiling_list *other, bool are_paths,
                           struct arena *arena)
{
    struct ceiling_list kept = {.given = true, .intersected = true};
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
    keep_admitted(&kept, list, other, are_paths);
    keep_admitted(&kept, other, list, are_paths);
    assert(kept.count <= list->count + other->count);
    sort_and_drop_duplicates(&kept);
    *list = kept;
    return 0;
}

/* Narrows `c` to what `other` allows too. */
static int intersect(struct ceiling *c, struct ceiling *other, struct arena *arena)
{
    int r = 0;

    if (c->network_allowed == CHOICE_UNSET || other->network_allowed == CHOICE_FALSE)
        c->network_allowed = other->network_allowed;
    if (c->require_enforcement == CHOICE_UNSET || other->require_enforcement == CHOICE_TRUE)
        c->require_enforcement = other->require_enforcement;
    r = intersect_lists(&c->paths, &other->paths, true, arena);
    return r == 0 ? intersect_lists(&c->env, &other->env, false, arena) : r;
}

static bool add_choice(cJSON *object, const char *key, enum choice choice, struct arena *arena)
{
    return choice == CHOICE_UNSET ||
           tree_add_member(object, key, tree_make_bool(arena, choice == CHOICE_TRUE));
}

static bool add_list(cJSON *object, const char *key, const struct ceiling_list *list,
                     struct arena *arena)
{
    cJSON *array = NULL;

    if (!list->given)
        return true;
    if (!list->intersected && list->array != NULL)
        return tree_add_member(object, key, tree_borrow(arena, list->array));
    array = tree_make_array(arena);
    if (array == NULL)
        return false;
    for (size_t i = 0; i < list->count; i++) {
        if (!tree_add_item(array, tree_make_text(arena, list->items[i])))
            return false;
    }
    return tree_add_member(object, key, array);
}

static int write_ceiling(const struct ceiling *c, struct arena *arena, cJSON **ret_baseline)
{
    cJSON *object = tree_make_object(arena);

    if (object == NULL || !add_choice(object, "network_allowed", c->network_allowed, arena) ||
        !add_choice(object, "require_enforcement", c->require_enforcement, arena) ||
        !add_list(object, "allowed_writable_paths", &c->paths, arena) ||
        !add_list(object, "allowed_env", &c->env, arena))
        return -ENOMEM;
    *ret_baseline = object;
    return 0;
}

int gate_make_baseline(struct judgement *j, cJSON **ret_baseline)
{
    bool narrows = j->found.in_use != NULL && j->claims.requirements != NULL;
    struct ceiling ceiling = {0}, other = {0};
    int r = 0;

    for (size_t i = 0; r == 0 && i < j->found.baseline_count; i++) {
        other = ceiling_of_baseline(j->found.baselines[i]->baseline);
        r = intersect(&ceiling, &other, j->arena);
    }
    if (r == 0 && narrows) {
        other = ceiling_of_signed(j->found.in_use->requirements);
        r = intersect(&ceiling, &other, j->arena);
    }
    if (r < 0)
        return r;
    if (j->found.baseline_count == 0 && !narrows) {
        *ret_baseline = NULL;
        return 0;
    }
    return write_ceiling(&ceiling, j->arena, ret_baseline);
}
