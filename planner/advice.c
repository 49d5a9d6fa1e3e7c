/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice - narrows the requirements of an input until the ceilings admit them.
 *
 * Each field and each list item is examined once. Then the narrowed input is planned: advice is
 * given only where that plan is ready.
 */
#include "planner/advice.h"

#include <errno.h>

#include "planner/base/array.h"
#include "planner/base/buffer.h"
#include "planner/base/list.h"
#include "planner/base/tree.h"
#include "planner/input.h"
#include "planner/names.h"

/* The texts of 200 items, each with all its replacements, are shorter. */
#define ADVICE_MAX_TEXT_BYTES ((size_t)4 * 1024 * 1024)
#define INSTEAD_MAX_BYTES ((size_t)PLAN_MAX_ITEMS * (PLAN_MAX_TEXT_BYTES + 2))

#define MAX_STEPS SIZE_MAX /* the size of the input bounds them: one for each value */

/* The state of one call of advice_make(). */
struct adviser {
    struct arena *arena;
    const struct input *input;
    struct str_list paths, names;  /* that the baseline allows, normalised */
    bool paths_given, names_given; /* false: the baseline does not restrict them */
    struct advice_step *steps;
    size_t count, capacity;
};

static int add_step(struct adviser *a, struct advice_step step)
{
    int r = array_grow_in(a->arena, &a->steps, &a->capacity, a->count + 1, sizeof(*a->steps),
                          MAX_STEPS);

    if (r < 0)
        return r;
    a->steps[a->count++] = step;
    return 0;
}

static int add_field_step(struct adviser *a, const cJSON *member, enum advice_verb verb,
                          struct str value)
{
    return add_step(
        a, (struct advice_step){.verb = verb, .field = input_shown_name(member), .instead = value});
}

/* The entry that the planner read from the item at that index; NULL where it refused the item. */
static const struct input_entry *find_entry(const struct input_value *list, size_t place)
{
    for (size_t i = 0; i < list->entry_count; i++) {
        if (list->entries[i].place == place)
            return &list->entries[i];
    }
    return NULL;
}

/* Whether any baseline could admit the path. */
static bool path_is_possible(struct str path)
{
    return !str_starts_with(path, STR("/")) && !str_starts_with(path, STR("~")) &&
           !names_path_is_unsafe(path) && !str_contains(path, STR("{{")) &&
           !plan_path_has_parent(path);
}

static bool path_is_admitted(const struct adviser *a, struct str path)
{
    for (size_t i = 0; i < a->paths.count; i++) {
        if (plan_path_admitted(path, a->paths.items[i]))
            return true;
    }
    return !a->paths_given;
}

static bool name_is_admitted(const struct adviser *a, struct str name)
{
    return plan_is_env_name(name) && !names_env_is_reserved(name) &&
           (!a->names_given || str_list_has(a->names, name));
}

static bool add_text_item(struct adviser *a, cJSON *list, struct str text)
{
    return tree_add_item(list, tree_make_text(a->arena, text));
}

/* Replaces a path that is not admitted by the admitted paths below it. *count: how many items the
 * list will have; it does not become more than PLAN_MAX_ITEMS. */
static int narrow_path(struct adviser *a, const struct input_entry *entry, struct str path,
                       cJSON *list, size_t *count)
{
    struct buffer instead = buffer_make(a->arena, INSTEAD_MAX_BYTES);
    struct advice_step step = {
        .verb = ADVICE_DROP_ITEM,
        .field = STR("writable_paths"),
        .place = entry->place,
        .item = entry->text,
    };
    bool possible = path_is_possible(path);

    for (size_t i = 0; possible && i < a->paths.count && *count < PLAN_MAX_ITEMS; i++) {
        struct str base = a->paths.items[i];

        if (!names_path_is_below(base, path) || !path_is_possible(base))
            continue;
        if (instead.len > 0)
            buffer_add(&instead, STR(", "));
        buffer_add(&instead, base);
        if (!add_text_item(a, list, base))
            return -ENOMEM;
        (*count)++;
    }
    if (instead.error != 0)
        return instead.error;
    if (instead.len > 0) {
        step.verb = ADVICE_REPLACE_ITEM;
        step.instead = buffer_text(&instead);
        if (!str_present(step.instead))
            return -ENOMEM;
    }
    return add_step(a, step);
}

/* count reserves places for the items that stay: replacements must not push them over the limit. */
static int narrow_paths(struct adviser *a, const cJSON *given, cJSON *list)
{
    const struct input_value *value = &a->input->values[INPUT_WRITABLE_PATHS];
    size_t place = 0, count = value->entry_count;

    for (const cJSON *item = given->child; item != NULL; item = item->next, place++) {
        const struct input_entry *entry = find_entry(value, place);
        struct str path = {0};
        int r = 0;

        if (entry == NULL) {
            r = add_step(a, (struct advice_step){.verb = ADVICE_DROP_ITEM,
                                                 .field = STR("writable_paths"),
                                                 .place = place});
        } else {
            r = plan_path_normalise(entry->text, a->arena, &path);
            if (r == 0 && path_is_possible(path) && path_is_admitted(a, path)) {
                r = add_text_item(a, list, entry->text) ? 0 : -ENOMEM;
            } else if (r == 0) {
                count--;
                r = narrow_path(a, entry, path, list, &count);
            }
        }
        if (r < 0)
            return r;
    }
    return 0;
}

static int narrow_names(struct adviser *a, const cJSON *given, cJSON *list)
{
    const struct input_value *value = &a->input->values[INPUT_ENV_ALLOWLIST];
    size_t place = 0;

    for (const cJSON *item = given->child; item != NULL; item = item->next, place++) {
        const struct input_entry *entry = find_entry(value, place);
        int r = 0;

        if (entry != NULL && name_is_admitted(a, entry->text))
            r = add_text_item(a, list, entry->text) ? 0 : -ENOMEM;
        else
            r = add_step(a, (struct advice_step){
                                .verb = ADVICE_DROP_ITEM,
                                .field = STR("env_allowlist"),
                                .place = place,
                                .item = entry != NULL && plan_is_env_name(entry->text)
                                            ? entry->text
                                            : (struct str){0},
                            });
        if (r < 0)
            return r;
    }
    return 0;
}

/* *ret_value: the narrowed list, or NULL where it stays as it is. A value that is not a list
 * becomes an empty list: an absent one would be wider. */
static int narrow_list(struct adviser *a, const cJSON *member, enum input_field field,
                       cJSON **ret_value)
{
    cJSON *list = tree_make_array(a->arena);
    size_t before = a->count;
    int r = list != NULL ? 0 : -ENOMEM;

    if (r == 0 && a->input->values[field].state == INPUT_WRONG)
        r = add_field_step(a, member, ADVICE_SET_FIELD, STR("[]"));
    else if (r == 0)
        r = field == INPUT_WRITABLE_PATHS ? narrow_paths(a, member, list)
                                          : narrow_names(a, member, list);
    if (r < 0)
        return r;
    *ret_value = a->count > before ? list : NULL;
    return 0;
}

/* Whether the value of a field other than a list prevents `ready`. */
static bool must_go(const struct adviser *a, enum input_field field)
{
    const struct input_value *value = &a->input->values[field];
    const struct input_value *ceiling = NULL;

    if (input_kind(field) == INPUT_KIND_CONTROL)
        return value->flag;
    if (value->state == INPUT_WRONG)
        return field == INPUT_NETWORK || field == INPUT_CWD_POLICY ||
               field == INPUT_REQUIRE_ENFORCEMENT;
    if (field == INPUT_NETWORK) {
        ceiling = &a->input->values[INPUT_BASELINE_NETWORK_ALLOWED];
        return value->flag && ceiling->state == INPUT_GIVEN && !ceiling->flag;
    }
    if (field == INPUT_REQUIRE_ENFORCEMENT)
        return value->state == INPUT_GIVEN && !value->flag &&
               a->input->values[INPUT_BASELINE_REQUIRE_ENFORCEMENT].flag;
    if (field == INPUT_CWD_POLICY)
        return str_present(value->text) && !str_equal(value->text, STR("skill-directory")) &&
               !str_equal(value->text, STR("workspace")) && !str_equal(value->text, STR("custom"));
    return false;
}

/* Sets the field to its narrowest value: if a pod only left it out, the signed value would hold. A
 * field that has no such value is removed; where it was signed, a change of the pod does not help.
 */
static int replace_field(struct adviser *a, const cJSON *member, enum input_field field,
                         cJSON **ret_value)
{
    bool narrowest = field == INPUT_REQUIRE_ENFORCEMENT;

    if (field != INPUT_NETWORK && field != INPUT_REQUIRE_ENFORCEMENT)
        return add_field_step(a, member, ADVICE_DROP_FIELD, (struct str){0});
    *ret_value = tree_make_bool(a->arena, narrowest);
    if (*ret_value == NULL)
        return -ENOMEM;
    return add_field_step(a, member, ADVICE_SET_FIELD, narrowest ? STR("true") : STR("false"));
}

/* *ret_value: the field's new value, or a copy of the member where nothing must change; NULL where
 * the field is removed. */
static int narrow_field(struct adviser *a, const cJSON *member, cJSON **ret_value)
{
    enum input_field field = input_find(input_object_of(INPUT_REQUIREMENTS), tree_key(member));
    cJSON *value = NULL;
    int r = 0;

    *ret_value = NULL;
    if (tree_is(member, cJSON_NULL) && field != INPUT_FIELD_COUNT)
        return 0;
    if (field == INPUT_FIELD_COUNT || must_go(a, field))
        return replace_field(a, member, field, ret_value);
    if (field == INPUT_WRITABLE_PATHS || field == INPUT_ENV_ALLOWLIST)
        r = narrow_list(a, member, field, &value);
    if (r == 0 && value == NULL)
        value = tree_borrow(a->arena, member);
    if (r == 0 && value == NULL)
        r = -ENOMEM;
    *ret_value = value;
    return r;
}

/* No profile has both network and writable paths. The network is given up: the workload writes its
 * results to the paths. */
static int drop_network_beside_paths(struct adviser *a, const cJSON *requirements, cJSON *narrowed)
{
    const cJSON *network = tree_get(narrowed, "network");
    const cJSON *paths = tree_get(narrowed, "writable_paths");
    cJSON *next = NULL;
    bool ok = true;

    if (!tree_is(network, cJSON_True) || !tree_is(paths, cJSON_Array) || paths->child == NULL)
        return 0;
    next = narrowed->child;
    narrowed->child = NULL;
    while (next != NULL) {
        cJSON *member = next;

        next = member->next;
        ok &= tree_add_member(narrowed, member->string,
                              member == network ? tree_make_bool(a->arena, false)
                                                : tree_borrow(a->arena, member));
    }
    return ok ? add_field_step(a, tree_get(requirements, "network"), ADVICE_SET_FIELD, STR("false"))
              : -ENOMEM;
}

static int narrow_requirements(struct adviser *a, const cJSON *given, cJSON **ret_narrowed)
{
    cJSON *narrowed = tree_make_object(a->arena);
    int r = narrowed != NULL ? 0 : -ENOMEM;

    for (const cJSON *member = given->child; r == 0 && member != NULL; member = member->next) {
        cJSON *value = NULL;

        r = narrow_field(a, member, &value);
        if (r == 0 && value != NULL && !tree_add_member(narrowed, member->string, value))
            r = -ENOMEM;
    }
    if (r == 0)
        r = drop_network_beside_paths(a, given, narrowed);
    *ret_narrowed = narrowed;
    return r;
}

/* A copy of the object in which the member `key` has another value. */
static cJSON *with_member(struct arena *arena, const cJSON *object, const char *key, cJSON *value)
{
    cJSON *copy = tree_make_object(arena);

    if (copy == NULL || value == NULL)
        return NULL;
    for (const cJSON *member = object->child; member != NULL; member = member->next) {
        bool matches = str_equal(tree_key(member), str_of(key));

        if (!tree_add_member(copy, member->string, matches ? value : tree_borrow(arena, member)))
            return NULL;
    }
    return copy;
}

static int read_ceilings(struct adviser *a)
{
    const struct input_value *paths = &a->input->values[INPUT_BASELINE_ALLOWED_WRITABLE_PATHS];
    const struct input_value *names = &a->input->values[INPUT_BASELINE_ALLOWED_ENV];
    struct str *path_items = arena_alloc(a->arena, paths->entry_count, sizeof(*path_items));
    struct str *name_items = arena_alloc(a->arena, names->entry_count, sizeof(*name_items));

    if (path_items == NULL || name_items == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < paths->entry_count; i++) {
        int r = plan_path_normalise(paths->entries[i].text, a->arena, &path_items[i]);

        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < names->entry_count; i++)
        name_items[i] = names->entries[i].text;
    a->paths = (struct str_list){path_items, list_sort_once(path_items, paths->entry_count)};
    a->names = (struct str_list){name_items, list_sort_once(name_items, names->entry_count)};
    a->paths_given = paths->state == INPUT_GIVEN;
    a->names_given = names->state == INPUT_GIVEN;
    return 0;
}

/* The input with narrower requirements; NULL where it has no requirements. */
static int narrow_input(struct adviser *a, const cJSON *given, const cJSON **ret_input)
{
    const cJSON *workload = tree_get(given, "workload");
    const cJSON *requirements =
        tree_is(workload, cJSON_Object) ? tree_get(workload, "requirements") : NULL;
    cJSON *narrowed = NULL;
    int r = 0;

    *ret_input = NULL;
    if (!tree_is(requirements, cJSON_Object))
        return 0;
    r = read_ceilings(a);
    if (r == 0)
        r = narrow_requirements(a, requirements, &narrowed);
    if (r < 0)
        return r;
    *ret_input = with_member(a->arena, given, "workload",
                             with_member(a->arena, workload, "requirements", narrowed));
    return *ret_input != NULL ? 0 : -ENOMEM;
}

int advice_make(const cJSON *input, struct arena *arena, struct advice *ret_advice)
{
    struct findings findings = {.arena = arena};
    struct adviser a = {.arena = arena};
    struct input *fields = NULL;
    struct plan plan = {0};
    const cJSON *narrowed = NULL;
    int r = plan_evaluate(input, PLAN_CALLER_SUPPLIED, arena, &plan);

    if (r < 0)
        return r;
    if (plan_admits(&plan)) {
        *ret_advice = (struct advice){.state = ADVICE_NEEDLESS};
        return 0;
    }
    fields = arena_alloc(arena, 1, sizeof(*fields));
    if (fields == NULL)
        return -ENOMEM;
    a.input = fields;
    input_read(input, &input_root, arena, fields, &findings);
    r = findings.error != 0 ? findings.error : narrow_input(&a, input, &narrowed);
    if (r == 0 && narrowed != NULL)
        r = plan_evaluate(narrowed, PLAN_CALLER_SUPPLIED, arena, &plan);
    if (r < 0)
        return r;
    *ret_advice = plan_admits(&plan)
                      ? (struct advice){.state = ADVICE_GIVEN,
                                        .steps = a.steps,
                                        .step_count = a.count,
                                        .input = narrowed}
                      : (struct advice){.state = ADVICE_NONE,
                                        .obstacle = plan.finding_count > 0 ? plan.findings : NULL};
    return 0;
}

/* "take cache out of writable_paths": part of a sentence, without a full stop. Texts from the input
 * are not escaped. */
static int write_step(const struct advice_step *step, struct arena *arena, struct str *ret_text)
{
    const struct str *f = &step->field, *item = &step->item, *instead = &step->instead;
    struct str text = {0};

    switch (step->verb) {
    case ADVICE_DROP_FIELD:
        /* the field may come from a signed document, which a pod cannot change */
        text = arena_format(arena, "leave %.*s out%s", (int)f->len, f->ptr,
                            input_find(input_object_of(INPUT_REQUIREMENTS), *f) != INPUT_FIELD_COUNT
                                ? " (if a signed document sets it, sign that again without it)"
                                : "");
        break;
    case ADVICE_SET_FIELD:
        text = arena_format(arena, "write %.*s: %.*s", (int)f->len, f->ptr, (int)instead->len,
                            instead->ptr);
        break;
    case ADVICE_DROP_ITEM:
        text = str_present(*item) ? arena_format(arena, "take %.*s out of %.*s", (int)item->len,
                                                 item->ptr, (int)f->len, f->ptr)
                                  : arena_format(arena, "take entry %zu out of %.*s",
                                                 step->place + 1, (int)f->len, f->ptr);
        break;
    case ADVICE_REPLACE_ITEM:
        text = arena_format(arena, "in %.*s write %.*s instead of %.*s", (int)f->len, f->ptr,
                            (int)instead->len, instead->ptr, (int)item->len, item->ptr);
        break;
    }
    if (!str_present(text))
        return -ENOMEM;
    *ret_text = text;
    return 0;
}

int advice_text(const struct advice *advice, struct arena *arena, struct str *ret_text)
{
    struct buffer b = buffer_make(arena, ADVICE_MAX_TEXT_BYTES);
    struct str text = {0};

    for (size_t i = 0; advice->state == ADVICE_GIVEN && i < advice->step_count; i++) {
        int r = write_step(&advice->steps[i], arena, &text);

        if (r < 0)
            return r;
        if (i > 0)
            buffer_add(&b, STR("; "));
        buffer_add(&b, text);
    }
    text = buffer_text(&b);
    if (advice->state == ADVICE_GIVEN && !str_present(text))
        return -ENOMEM;
    *ret_text = advice->state == ADVICE_GIVEN ? text : (struct str){0};
    return 0;
}
