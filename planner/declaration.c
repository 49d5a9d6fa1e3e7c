/* SPDX-License-Identifier: Apache-2.0 */
/*
 * declaration - derives the sandbox declaration and the baseline's ceilings from the input.
 */
#include "planner/declaration.h"

#include <errno.h>

#include "planner/names.h"

const char *declaration_profile_text(enum declaration_profile profile)
{
    switch (profile) {
    case PROFILE_READONLY:
        return "readonly";
    case PROFILE_WORKSPACE_WRITE:
        return "workspace-write";
    case PROFILE_NETWORK:
        return "network";
    case PROFILE_NONE:
        break;
    }
    return "";
}

/* The paths of the entries, each normalised, in the same order. */
static int normalise_paths(const struct input_value *list, struct arena *arena,
                           struct input_entry **ret_paths)
{
    struct input_entry *paths = arena_alloc(arena, list->entry_count, sizeof(*paths));

    if (paths == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < list->entry_count; i++) {
        int r = plan_path_normalise(list->entries[i].text, arena, &paths[i].text);

        if (r < 0)
            return r;
        paths[i].place = list->entries[i].place;
    }
    *ret_paths = paths;
    return 0;
}

/* The entries for which wanted() is true (NULL: all), in bytewise order, equal ones once. */
static int sort_entries(const struct input_entry *entries, size_t count, bool (*wanted)(struct str),
                        struct arena *arena, struct str_list *ret_list)
{
    struct str *items = arena_alloc(arena, count, sizeof(*items));
    size_t kept = 0;

    if (items == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        if (wanted == NULL || wanted(entries[i].text))
            items[kept++] = entries[i].text;
    }
    *ret_list = (struct str_list){.items = items, .count = list_sort_once(items, kept)};
    return 0;
}

static int declare_paths(const struct input *input, struct arena *arena, struct declaration *d)
{
    const struct input_value *list = &input->values[INPUT_WRITABLE_PATHS];
    struct input_entry *paths = NULL;
    int r = normalise_paths(list, arena, &paths);

    if (r < 0)
        return r;
    d->given_paths = paths;
    d->given_path_count = list->entry_count;
    return sort_entries(paths, list->entry_count, NULL, arena, &d->writable_paths);
}

static int declare_baseline_paths(const struct input *input, struct arena *arena,
                                  struct declaration *d)
{
    const struct input_value *list = &input->values[INPUT_BASELINE_ALLOWED_WRITABLE_PATHS];
    struct input_entry *paths = NULL;
    int r = normalise_paths(list, arena, &paths);

    if (r < 0)
        return r;
    d->baseline_paths_given = list->state == INPUT_GIVEN;
    return sort_entries(paths, list->entry_count, NULL, arena, &d->baseline_paths);
}

/* An entry that is not a name is left out: it can be a secret value. */
static int declare_names(const struct input *input, struct arena *arena, struct declaration *d)
{
    const struct input_value *names = &input->values[INPUT_ENV_ALLOWLIST];
    const struct input_value *allowed = &input->values[INPUT_BASELINE_ALLOWED_ENV];
    int r = 0;

    d->env_given = names->state == INPUT_GIVEN;
    d->baseline_env_given = allowed->state == INPUT_GIVEN;
    r = sort_entries(names->entries, names->entry_count, plan_is_env_name, arena,
                     &d->env_allowlist);
    if (r < 0)
        return r;
    return sort_entries(allowed->entries, allowed->entry_count, plan_is_env_name, arena,
                        &d->baseline_env);
}

static void declare_cwd_policy(const struct input *input, struct declaration *d)
{
    static const struct str known[] = {STR_INIT("skill-directory"), STR_INIT("workspace"),
                                       STR_INIT("custom")};
    struct str given = input->values[INPUT_CWD_POLICY].text;

    d->cwd_policy = known[0];
    d->cwd_policy_known = !str_present(given);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (str_equal(given, known[i])) {
            d->cwd_policy = known[i];
            d->cwd_policy_known = true;
        }
    }
}

int declaration_make(const struct input *input, struct arena *arena,
                     struct declaration *ret_declaration)
{
    const struct input_value *enforcement = &input->values[INPUT_REQUIRE_ENFORCEMENT];
    struct declaration d = {
        .network = input->values[INPUT_NETWORK].flag,
        .require_enforcement = enforcement->state != INPUT_GIVEN || enforcement->flag,
    };
    int r = declare_paths(input, arena, &d);

    if (r < 0)
        return r;
    r = declare_baseline_paths(input, arena, &d);
    if (r < 0)
        return r;
    r = declare_names(input, arena, &d);
    if (r < 0)
        return r;
    declare_cwd_policy(input, &d);
    if (d.network)
        d.profile = PROFILE_NETWORK;
    else
        d.profile = d.writable_paths.count > 0 ? PROFILE_WORKSPACE_WRITE : PROFILE_READONLY;
    *ret_declaration = d;
    return 0;
}
