/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requirements - combines the signed requirements with those of the annotation (gate-v1, section
 * 5).
 *
 * A pod can narrow what was signed. If it asks for more, the planner refuses it, because the signed
 * requirements are part of the baseline (baseline.c).
 */

#include "webhook/gate/internal.h"

#include <errno.h>

#include "planner/base/tree.h"

/* How a field of the annotation combines with the signed field. */
enum rule {
    RULE_REPLACES = 1, /* the annotation replaces the signed value */
    RULE_SAME,         /* the annotation can only repeat the signed value */
    RULE_NARROWER,     /* cwd_policy: the annotation can only be narrower */
    RULE_CONTROL,      /* the annotation is used only if the signed value is empty */
};

static const struct {
    const char *name;
    enum rule rule;
} fields[] = {
    {"source_ref", RULE_SAME},
    {"source_digest", RULE_SAME},
    {"observed_at", RULE_SAME},
    {"network", RULE_REPLACES},
    {"writable_paths", RULE_REPLACES},
    {"env_allowlist", RULE_REPLACES},
    {"cwd_policy", RULE_NARROWER},
    {"require_enforcement", RULE_REPLACES},
    {"allowed_syscalls", RULE_CONTROL},
    {"allowed_egress_hosts", RULE_CONTROL},
    {"required_capabilities", RULE_CONTROL},
    {"resource_limits", RULE_CONTROL},
};

#define FIELD_COUNT (sizeof(fields) / sizeof(fields[0]))

static bool is_known(struct str name)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (str_equal(name, str_of(fields[i].name)))
            return true;
    }
    return false;
}

static bool is_blank(const cJSON *node)
{
    return tree_is(node, cJSON_String) && str_trim(tree_text(node)).len == 0;
}

/* Whether the value of a control field asks for no control (hardening-v1, section 1). */
static bool is_empty(const cJSON *node)
{
    if (tree_is(node, cJSON_Array) || tree_is(node, cJSON_Object))
        return node->child == NULL;
    return node == NULL || tree_is(node, cJSON_NULL) || tree_is(node, cJSON_False) ||
           is_blank(node);
}

/* The value of a field; NULL if it is absent, null or a blank text. */
static const cJSON *value_of(const cJSON *object, const char *name)
{
    const cJSON *node = tree_get(object, name);

    return is_blank(node) ? NULL : node;
}

/* Whether both are the same text, trimmed. Other types never are. */
static bool is_same(const cJSON *a, const cJSON *b)
{
    return tree_is(a, cJSON_String) && tree_is(b, cJSON_String) &&
           str_equal(str_trim(tree_text(a)), str_trim(tree_text(b)));
}

/* 1 is the narrowest policy; 0: not a policy. */
static int breadth(const cJSON *node)
{
    static const char *const policies[] = {"skill-directory", "workspace", "custom"};

    if (node == NULL || tree_is(node, cJSON_NULL) || is_blank(node))
        return 1;
    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
        if (str_equal(str_trim(tree_text(node)), str_of(policies[i])))
            return (int)i + 1;
    }
    return 0;
}

static bool is_narrower(const cJSON *asked, const cJSON *signed_one)
{
    return breadth(asked) != 0 && breadth(asked) <= breadth(signed_one);
}

/* Chooses the value to use; NULL if neither is given. */
static int choose(struct judgement *j, size_t i, const cJSON *signed_one, const cJSON *asked,
                  const cJSON **ret_node)
{
    bool use_signed = asked == NULL;
    int r = 0;

    switch (fields[i].rule) {
    case RULE_SAME:
        use_signed = true;
        if (asked != NULL && !is_same(asked, signed_one))
            r = gate_add(j, GATE_FIELD_DIFFERS, str_of(fields[i].name));
        break;
    case RULE_NARROWER:
        if (asked != NULL && !is_same(asked, signed_one) && !is_narrower(asked, signed_one)) {
            use_signed = true;
            r = gate_add(j, GATE_FIELD_BROADER, str_of(fields[i].name));
        }
        break;
    case RULE_CONTROL:
        use_signed = use_signed || !is_empty(signed_one);
        break;
    case RULE_REPLACES:
        break;
    }
    *ret_node = use_signed ? signed_one : asked;
    return r;
}

/* Unknown fields are copied with any value, so that the planner reports them. */
static int copy_unknown(struct judgement *j, cJSON *made)
{
    const cJSON *member = NULL;

    cJSON_ArrayForEach(member, j->claims.requirements)
    {
        if (!is_known(tree_key(member)) &&
            !tree_add_member(made, member->string, tree_borrow(j->arena, member)))
            return -ENOMEM;
    }
    return 0;
}

static int compose(struct judgement *j, cJSON *made)
{
    const cJSON *signed_ones = j->found.in_use->requirements;

    for (size_t i = 0; i < FIELD_COUNT; i++) {
        const cJSON *node = NULL;
        int r = choose(j, i, tree_member(signed_ones, fields[i].name),
                       value_of(j->claims.requirements, fields[i].name), &node);

        if (r < 0)
            return r;
        if (node != NULL && !tree_add_member(made, fields[i].name, tree_borrow(j->arena, node)))
            return -ENOMEM;
    }
    return copy_unknown(j, made);
}

int gate_make_requirements(struct judgement *j, cJSON **ret_requirements)
{
    cJSON *made = NULL;
    int r = 0;

    if (j->found.in_use == NULL && !j->found.unsigned_accepted) {
        *ret_requirements = NULL;
        return 0;
    }
    if (j->found.in_use == NULL) {
        made = tree_borrow(j->arena, j->claims.requirements);
    } else {
        made = tree_make_object(j->arena);
        r = made != NULL ? compose(j, made) : -ENOMEM;
    }
    if (r < 0 || made == NULL)
        return -ENOMEM;
    *ret_requirements = made;
    return 0;
}
