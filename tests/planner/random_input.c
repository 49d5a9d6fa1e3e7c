/* SPDX-License-Identifier: Apache-2.0 */
/* random_input - random inputs of the planner, equal for equal seeds. */
#include "random_input.h"

#include <criterion/criterion.h>

#include "helper.h"
#include "planner/input.h"

#define SELDOM_ONE_IN 6
#define ABSENT_ONE_IN 20
#define UNKNOWN_ONE_IN 16
#define LONG_FILLINGS 600 /* over 4,096 bytes */
#define COUNT(list) ((uint32_t)(sizeof(list) / sizeof((list)[0])))

/* One value in this number has another type, is missing, or is over its limit. */
#define WRONG_ONE_IN 48
/* One text in this number is not the first of its list, which is valid. */
#define OTHER_ONE_IN 4

static const char *const digests[] = {HELPER_DIGEST, " " HELPER_DIGEST "\n", "sha256:00", "x"};
static const char *const skills[] = {"acme/report@1.4.0",
                                     " acme/report@1\n",
                                     "acme/report",
                                     "registry:acme/report@1",
                                     "https://bob:hunter2@git.example/acme/report@1",
                                     ("a/b@" HELPER_DIGEST)};
static const char *const refs[] = {"git:acme/report@3f2a9c1", "https://git.example/x@1",
                                   "https://bob:hunter2@git.example/x", "a b"};
static const char *const moments[] = {
    "2026-03-01T12:00:00Z",     " 2026-03-01T13:00:00+01:00\t",   "2026-02-20T12:00:00.000000001Z",
    "2026-01-30T12:00:00Z",     "2026-01-30T11:59:59.999999999Z", "2026-02-30T00:00:00Z",
    "0001-01-01T00:00:00+23:59"};
static const char *const paths[] = {"tmp/results",
                                    "./tmp//results/",
                                    "tmp",
                                    ".",
                                    "./",
                                    "/",
                                    "/var/tmp",
                                    "~/x",
                                    "..",
                                    "tmp/../x",
                                    "a\\..\\b",
                                    "a(b",
                                    "a;b",
                                    "{{x}}",
                                    "a\x07",
                                    "a\xE2\x80\xAE",
                                    "a<b>&\xE2\x80\xA8",
                                    "\xC3\xA4/\xF0\x9F\x98\x80"};
static const char *const names[] = {"PATH",       "REPORT_FORMAT", " TZ\n",      "A=hunter2",
                                    "RUNX_TOKEN", "runx_api_key",  "1ST",        "A B",
                                    ".x",         "RUNX_CWD",      "X\xD0\x95Y", "$(hunter2)"};
static const char *const policies[] = {"skill-directory", "workspace", "custom", "home", " custom"};
static const char *const classes[] = {"batch job", "\"<&>\"\\\n", "\xC3\xA4", "  "};
static const char *const unknown[] = {"asof", "network", "a=hunter2", "b hunter2", "x.y-z_1"};

uint32_t random_below(uint64_t *state, uint32_t below)
{
    /* splitmix64 */
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return (uint32_t)((z >> 32) % below);
}

static bool one_in(uint64_t *state, uint32_t many)
{
    return random_below(state, many) == 0;
}

static cJSON *make_null(struct arena *arena)
{
    cJSON *node = tree_make_bool(arena, false);

    node->type = cJSON_NULL;
    return node;
}

/* Any small value of any type. */
static cJSON *random_value(struct arena *arena, uint64_t *state)
{
    cJSON *node = NULL;

    switch (random_below(state, 9)) {
    case 0:
        return make_null(arena);
    case 1:
        return tree_make_bool(arena, one_in(state, 2));
    case 2:
        return tree_make_number(arena, random_below(state, 3));
    case 3:
        return tree_make_text(arena, STR(" "));
    case 4:
        return tree_make_text(arena, STR("some text"));
    case 5:
        return tree_make_array(arena);
    case 6:
        return tree_make_object(arena);
    case 7:
        node = tree_make_array(arena);
        cr_assert(tree_add_item(node, random_value(arena, state)));
        return node;
    default:
        node = tree_make_object(arena);
        cr_assert(tree_add_member(node, "a=hunter2", random_value(arena, state)));
        return node;
    }
}

/* The values from which a text or a list is made. */
struct choice {
    const char *const *from; /* the first is valid */
    uint32_t count;
    const char *filling; /* bytes of a text over the limit */
};

static cJSON *random_text(struct arena *arena, uint64_t *state, const struct choice *choice)
{
    if (!one_in(state, OTHER_ONE_IN))
        return tree_make_text(arena, str_of(choice->from[0]));
    if (one_in(state, WRONG_ONE_IN))
        return tree_make_text(arena, helper_repeat(arena, choice->filling, LONG_FILLINGS));
    return tree_make_text(arena, str_of(choice->from[random_below(state, choice->count)]));
}

static cJSON *random_list(struct arena *arena, uint64_t *state, const struct choice *choice)
{
    cJSON *list = tree_make_array(arena);
    uint32_t items =
        one_in(state, WRONG_ONE_IN) ? random_below(state, 120) : random_below(state, 4);

    for (uint32_t i = 0; i < items; i++) {
        cJSON *item = one_in(state, WRONG_ONE_IN) ? random_value(arena, state)
                                                  : random_text(arena, state, choice);

        cr_assert(tree_add_item(list, item));
    }
    return list;
}

static cJSON *random_days(struct arena *arena, uint64_t *state)
{
    static const double days[] = {30, 31, 3650, 0, -1, 3651, 1.5, 1e300, 29};

    return tree_make_number(arena, days[one_in(state, 2) ? 0 : random_below(state, COUNT(days))]);
}

static cJSON *random_object(struct arena *arena, uint64_t *state,
                            const struct input_object *object);

static cJSON *random_field(struct arena *arena, uint64_t *state, enum input_field field)
{
    static const struct choice choices[INPUT_FIELD_COUNT] = {
        [INPUT_AS_OF] = {moments, COUNT(moments), "long text "},
        [INPUT_IMAGE_DIGEST] = {digests, COUNT(digests), "long text "},
        [INPUT_SKILL_REF] = {skills, COUNT(skills), "https://hunter2@"},
        [INPUT_CLASS] = {classes, COUNT(classes), "long text "},
        [INPUT_SOURCE_REF] = {refs, COUNT(refs), "https://hunter2@"},
        [INPUT_SOURCE_DIGEST] = {digests, COUNT(digests), "long text "},
        [INPUT_OBSERVED_AT] = {moments, COUNT(moments), "long text "},
        [INPUT_WRITABLE_PATHS] = {paths, COUNT(paths), "long text "},
        [INPUT_ENV_ALLOWLIST] = {names, COUNT(names), "hunter2="},
        [INPUT_CWD_POLICY] = {policies, COUNT(policies), "long text "},
        [INPUT_BASELINE_ALLOWED_WRITABLE_PATHS] = {paths, COUNT(paths), "long text "},
        [INPUT_BASELINE_ALLOWED_ENV] = {names, COUNT(names), "hunter2="},
    };

    if (one_in(state, WRONG_ONE_IN))
        return random_value(arena, state);
    switch (input_kind(field)) {
    case INPUT_KIND_OBJECT:
        return random_object(arena, state, input_object_of(field));
    case INPUT_KIND_TEXT:
    case INPUT_KIND_REFERENCE:
        return random_text(arena, state, &choices[field]);
    case INPUT_KIND_BOOL:
        return tree_make_bool(arena, one_in(state, 3));
    case INPUT_KIND_DAYS:
        return random_days(arena, state);
    case INPUT_KIND_LIST:
    case INPUT_KIND_NAMES:
        return random_list(arena, state, &choices[field]);
    case INPUT_KIND_CONTROL:
        return one_in(state, 6) ? random_value(arena, state) : tree_make_array(arena);
    case INPUT_KIND_NONE:
        break;
    }
    return NULL;
}

static cJSON *random_object(struct arena *arena, uint64_t *state, const struct input_object *object)
{
    cJSON *node = tree_make_object(arena);

    for (enum input_field field = object->first; field < object->end; field++) {
        /* seldom two identities, since they hide other findings */
        bool seldom = field == INPUT_IMAGE_DIGEST || field == INPUT_MAX_AGE_DAYS ||
                      input_kind(field) == INPUT_KIND_CONTROL;

        if (seldom ? !one_in(state, SELDOM_ONE_IN) : one_in(state, ABSENT_ONE_IN))
            continue;
        cr_assert(tree_add_member(node, input_name(field), random_field(arena, state, field)));
    }
    for (uint32_t i = 0; one_in(state, UNKNOWN_ONE_IN) && i < COUNT(unknown); i++) {
        if (input_find(object, str_of(unknown[i])) == INPUT_FIELD_COUNT)
            cr_assert(tree_add_member(node, unknown[i], random_value(arena, state)));
    }
    return node;
}

cJSON *random_input(struct arena *arena, uint64_t seed)
{
    return random_object(arena, &seed, &input_root);
}
