/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotations - reads and checks the annotations of a pod (gate-v1, section 1).
 */

#include "webhook/gate/internal.h"

#include <errno.h>

#include "k8s/document/document.h"
#include "k8s/policy/names.h"
#include "planner/base/tree.h"
#include "webhook/util/nearest.h"

static const char *const known_keys[] = {
    GATE_KEY_SKILL_REF,
    GATE_KEY_IMAGE_DIGEST,
    GATE_KEY_CLASS,
    GATE_KEY_REQUIREMENTS,
};

#define KNOWN_KEY_COUNT (sizeof(known_keys) / sizeof(known_keys[0]))

/* The most similar known key, compared without regard to case; the first known key if the key is
 * too long to compare. */
static const char *nearest_key(struct str key)
{
    char lower[NEAREST_MAX_BYTES];
    const char *nearest = NULL;

    if (key.len <= sizeof(lower)) {
        for (size_t i = 0; i < key.len; i++)
            lower[i] = text_lower(key.ptr[i]);
        nearest = nearest_within((struct str){.ptr = lower, .len = key.len}, known_keys,
                                 KNOWN_KEY_COUNT, NEAREST_MAX_BYTES);
    }
    return nearest != NULL ? nearest : known_keys[0];
}

static bool is_known(struct str key)
{
    for (size_t i = 0; i < KNOWN_KEY_COUNT; i++) {
        if (str_equal(key, str_of(known_keys[i])))
            return true;
    }
    return false;
}

static int check_keys(struct judgement *j)
{
    const cJSON *entry = NULL;

    cJSON_ArrayForEach(entry, j->pod.annotations)
    {
        struct str key = tree_key(entry);
        int r = 0;

        if (!workload_is_our_key(key) || is_known(key))
            continue;
        r = gate_add_with(j, GATE_KEY_UNKNOWN, key, str_of(nearest_key(key)));
        if (r < 0)
            return r;
    }
    return 0;
}

/* Trimmed; absent if not given or blank. */
static struct str read_value(const struct judgement *j, const char *key)
{
    struct str value = str_trim(tree_get_text(j->pod.annotations, key));

    return value.len > 0 ? value : (struct str){0};
}

static bool is_valid_class(struct str s)
{
    if (s.len > GATE_MAX_CLASS_BYTES)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];

        if (c < ' ' || c > '~' || c == '<' || c == '>' || c == '&')
            return false;
    }
    return true;
}

static int read_class(struct judgement *j)
{
    struct str value = read_value(j, GATE_KEY_CLASS);
    struct str limit = {0};

    if (is_valid_class(value)) {
        j->claims.class_text = value;
        return 0;
    }
    limit = arena_format(j->arena, "%d", GATE_MAX_CLASS_BYTES);
    return str_present(limit) ? gate_add_with(j, GATE_CLASS_INVALID, STR("class"), limit) : -ENOMEM;
}

static int add_invalid(struct judgement *j, size_t line, size_t column, const char *what)
{
    struct str place = arena_format(j->arena, GATE_KEY_REQUIREMENTS ":%zu:%zu", line, column);

    if (!str_present(place))
        return -ENOMEM;
    return gate_add_with(j, GATE_REQUIREMENTS_INVALID, place, str_of(what));
}

static int read_requirements(struct judgement *j)
{
    static const struct document_options options = {.syntax = DOCUMENT_EITHER,
                                                    .rules = DOCUMENT_OWN};
    struct str text = tree_get_text(j->pod.annotations, GATE_KEY_REQUIREMENTS);
    struct document_error error = {.line = 1, .column = 1, .what = "too many values"};
    cJSON *tree = NULL;
    int r = 0;

    if (str_trim(text).len == 0)
        return 0;
    r = document_read(text, &options, j->arena, &tree, &error);
    if (r == -EBADMSG || r == -E2BIG)
        return add_invalid(j, error.line, error.column, error.what);
    if (r < 0)
        return r;
    if (tree_is(tree, cJSON_NULL))
        return 0;
    if (!tree_is(tree, cJSON_Object)) {
        (void)document_place(text, tree, false, &error.line, &error.column);
        return add_invalid(j, error.line, error.column, "must be an object");
    }
    j->claims.requirements = tree;
    return 0;
}

int gate_read_claims(struct judgement *j)
{
    int r = check_keys(j);

    if (r < 0)
        return r;
    j->claims.skill_ref = read_value(j, GATE_KEY_SKILL_REF);
    j->claims.image_digest = read_value(j, GATE_KEY_IMAGE_DIGEST);
    r = read_class(j);
    if (r < 0)
        return r;
    return read_requirements(j);
}

int gate_check_presence(struct judgement *j)
{
    const struct str nowhere = {0};

    if (j->pod.carries_our_key)
        return 0;
    if (j->pod.own_managed)
        return gate_add_with(j, GATE_ANNOTATIONS_MISPLACED, nowhere, str_of(j->pod.root));
    if (j->old.carries_our_key)
        return gate_add(j, GATE_ANNOTATIONS_REMOVED, nowhere);
    return gate_add_with(j, GATE_NO_ANNOTATION, nowhere, str_of(j->pod.root));
}
