/* SPDX-License-Identifier: Apache-2.0 */
/* helper - inputs and plans as text, for tests of the planner. */
#include "helper.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "planner/base/buffer.h"

#define FILE_MAX_BYTES ((size_t)1 << 20)

static const char ready[] =
    "{\"workload\":{\"skill_ref\":\"acme/report@1.4.0\",\"class\":\"batch job\",\"requirements\":{"
    "\"source_ref\":\"git:acme/report@3f2a9c1\",\"source_digest\":\"" HELPER_DIGEST "\","
    "\"observed_at\":\"2026-03-01T10:00:00Z\",\"network\":false,"
    "\"writable_paths\":[\"tmp/results\"],\"env_allowlist\":[\"REPORT_FORMAT\"],"
    "\"require_enforcement\":true}},"
    "\"as_of\":\"2026-03-01T12:00:00Z\",\"max_age_days\":30}";

static cJSON *copy_tree(struct arena *arena, const cJSON *from)
{
    cJSON *to = arena_alloc(arena, 1, sizeof(*to));

    cr_assert_not_null(to);
    to->type = from->type;
    to->valuedouble = from->valuedouble;
    if (from->valuestring != NULL)
        to->valuestring = arena_copy(arena, str_of(from->valuestring));
    for (const cJSON *child = from->child; child != NULL; child = child->next) {
        cJSON *copy = copy_tree(arena, child);

        if (child->string != NULL)
            cr_assert(tree_add_member(to, arena_copy(arena, str_of(child->string)), copy));
        else
            cr_assert(tree_add_item(to, copy));
    }
    return to;
}

cJSON *helper_tree(struct arena *arena, struct str json)
{
    const char *text = arena_copy(arena, json);
    /* the planner must not use the strict reader, which is in a higher layer; these texts are
     * trusted */
    cJSON *parsed = cJSON_ParseWithLengthOpts(text, json.len + 1, NULL, 1);
    cJSON *tree = NULL;

    cr_assert_not_null(parsed, "no JSON: %s", text);
    tree = copy_tree(arena, parsed);
    cJSON_Delete(parsed);
    return tree;
}

static void take_away(cJSON *object, const char *key)
{
    cJSON *first = object->child;

    object->child = NULL;
    for (cJSON *next = NULL; first != NULL; first = next) {
        next = first->next;
        first->next = NULL;
        first->prev = NULL;
        if (strcmp(first->string, key) != 0)
            cr_assert(tree_add_item(object, first));
    }
}

static void change_member(struct arena *arena, cJSON *object, const struct change *change)
{
    const char *path = change->path;

    for (const char *dot = strchr(path, '.'); dot != NULL; dot = strchr(path, '.')) {
        const char *key = arena_copy(arena, (struct str){.ptr = path, .len = (size_t)(dot - path)});
        cJSON *next = cJSON_GetObjectItemCaseSensitive(object, key);

        if (next == NULL) {
            next = tree_make_object(arena);
            cr_assert(tree_add_member(object, key, next));
        }
        object = next;
        path = dot + 1;
    }
    take_away(object, path);
    if (change->json != NULL)
        cr_assert(tree_add_member(object, path, helper_tree(arena, str_of(change->json))));
}

cJSON *helper_input(struct arena *arena, const struct change *changes)
{
    cJSON *input = helper_tree(arena, str_of(ready));

    for (size_t i = 0; changes != NULL && changes[i].path != NULL; i++)
        change_member(arena, input, &changes[i]);
    return input;
}

struct str helper_summary(struct arena *arena, const struct plan *plan)
{
    struct buffer out = buffer_make(arena, FILE_MAX_BYTES);

    buffer_add(&out, str_of(plan_decision_text(plan->decision)));
    for (size_t i = 0; i < plan->finding_count; i++) {
        buffer_add_format(&out, "\n%s|", plan_code_text(plan->findings[i].code));
        buffer_add(&out, plan->findings[i].message);
    }
    return buffer_text(&out);
}

struct str helper_plan(struct arena *arena, const struct change *changes)
{
    struct plan plan = {0};
    int r = plan_evaluate(helper_input(arena, changes), PLAN_CALLER_SUPPLIED, arena, &plan);

    cr_assert_eq(r, 0);
    cr_assert_eq(plan_admits(&plan), plan.finding_count == 0);
    return helper_summary(arena, &plan);
}

void helper_check_rows(const struct helper_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cleanup_arena struct arena arena = {0};

        cr_expect_str_eq(helper_plan(&arena, rows[i].changes).ptr, rows[i].want, "row %zu: %s", i,
                         rows[i].changes[0].path);
    }
}

struct str helper_file(struct arena *arena, const char *path)
{
    FILE *f = fopen(path, "rbe");
    char *bytes = arena_alloc(arena, FILE_MAX_BYTES, 1);
    size_t n = 0;

    cr_assert_not_null(f, "%s", path);
    cr_assert_not_null(bytes);
    n = fread(bytes, 1, FILE_MAX_BYTES, f);
    cr_assert(n < FILE_MAX_BYTES && !ferror(f), "%s", path);
    (void)fclose(f);
    return (struct str){.ptr = bytes, .len = n};
}

struct str helper_repeat(struct arena *arena, const char *text, size_t count)
{
    struct buffer out = buffer_make(arena, FILE_MAX_BYTES);

    for (size_t i = 0; i < count; i++)
        buffer_add(&out, str_of(text));
    return buffer_text(&out);
}
