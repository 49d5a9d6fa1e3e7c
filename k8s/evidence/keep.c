/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdint.h>

#include "k8s/evidence/internal.h"
#include "planner/base/tree.h"

/* One copying. Out of memory is remembered, so that a series of copies is checked once. */
struct keeper {
    struct arena *arena;
    bool failed;
};

static struct str keep_text(struct keeper *keeper, struct str s)
{
    const char *copy = NULL;

    if (!str_present(s))
        return s;
    copy = arena_copy(keeper->arena, s);
    keeper->failed |= copy == NULL;
    return (struct str){.ptr = copy, .len = copy != NULL ? s.len : 0};
}

static struct str_list keep_list(struct keeper *keeper, struct str_list list)
{
    struct str *items = NULL;

    if (list.count == 0)
        return (struct str_list){0};
    items = arena_alloc(keeper->arena, list.count, sizeof(*items));
    if (items == NULL) {
        keeper->failed = true;
        return (struct str_list){0};
    }
    for (size_t i = 0; i < list.count; i++)
        items[i] = keep_text(keeper, list.items[i]);
    return (struct str_list){.items = items, .count = list.count};
}

/* The fields of requirements and baselines: their names need not be copied ten thousand times. */
static const char *const field_names[] = {
    "source_ref",      "source_digest",          "observed_at", "network",
    "writable_paths",  "env_allowlist",          "cwd_policy",  "require_enforcement",
    "network_allowed", "allowed_writable_paths", "allowed_env",
};

static char *keep_name(struct keeper *keeper, struct str name)
{
    char *copy = NULL;

    for (size_t i = 0; i < sizeof(field_names) / sizeof(field_names[0]); i++) {
        if (str_equal(name, str_of(field_names[i])))
            return (char *)(uintptr_t)field_names[i]; /* cJSON's names are not const; ours are never
                                                       * changed */
    }
    copy = arena_copy(keeper->arena, name);
    keeper->failed |= copy == NULL;
    return copy;
}

static cJSON *keep_node(struct keeper *keeper, const cJSON *from)
{
    cJSON *node = tree_borrow(keeper->arena, from);

    if (node == NULL) {
        keeper->failed = true;
        return NULL;
    }
    if (from->string != NULL)
        node->string = keep_name(keeper, tree_key(from));
    if (from->valuestring != NULL) {
        node->valuestring = arena_copy(keeper->arena, str_of(from->valuestring));
        keeper->failed |= node->valuestring == NULL;
    }
    node->type = from->type & 0xff; /* nothing of it is borrowed any more */
    node->child = NULL;
    return node;
}

/* A whole tree, level by level: its depth is bounded by its reader. */
static cJSON *keep_tree(struct keeper *keeper, const cJSON *from)
{
    cJSON *node = from != NULL ? keep_node(keeper, from) : NULL;
    cJSON *last = NULL;
    const cJSON *child = NULL;

    if (node == NULL)
        return NULL;
    cJSON_ArrayForEach(child, from)
    {
        cJSON *copy = keep_tree(keeper, child);

        if (copy == NULL)
            return NULL;
        copy->prev = last;
        if (last == NULL)
            node->child = copy;
        else
            last->next = copy;
        last = copy;
    }
    if (node->child != NULL)
        node->child->prev = last; /* as cJSON has it: the first knows the last */
    return node;
}

static void *keep_bytes(struct keeper *keeper, const void *from, size_t count, size_t size)
{
    void *copy = count > 0 ? arena_alloc(keeper->arena, count, size) : NULL;

    if (copy == NULL) {
        keeper->failed |= count > 0;
        return NULL;
    }
    return memcpy(copy, from, count * size);
}

static struct evidence *keep_in(struct arena *arena, const struct evidence *facts)
{
    struct keeper keeper = {.arena = arena};
    struct evidence *kept = keep_bytes(&keeper, facts, 1, sizeof(*facts));

    if (kept == NULL)
        return NULL;
    kept->namespace_name = keep_text(&keeper, facts->namespace_name);
    kept->name = keep_text(&keeper, facts->name);
    kept->digest = keep_text(&keeper, facts->digest);
    kept->key_ids = keep_list(&keeper, facts->key_ids);
    kept->key_identities = keep_bytes(&keeper, facts->key_identities, facts->key_ids.count,
                                      sizeof(*facts->key_identities));
    kept->reason = keep_text(&keeper, facts->reason);
    kept->expires_at_text = keep_text(&keeper, facts->expires_at_text);
    kept->namespaces = keep_list(&keeper, facts->namespaces);
    kept->images = keep_list(&keeper, facts->images);
    kept->skill_ref = keep_text(&keeper, facts->skill_ref);
    kept->image_digest = keep_text(&keeper, facts->image_digest);
    kept->class_text = keep_text(&keeper, facts->class_text);
    kept->requirements = keep_tree(&keeper, facts->requirements);
    kept->baseline = keep_tree(&keeper, facts->baseline);
    kept->match.namespaces = keep_list(&keeper, facts->match.namespaces);
    kept->match.skill_refs = keep_list(&keeper, facts->match.skill_refs);
    kept->match.image_digests = keep_list(&keeper, facts->match.image_digests);
    kept->match.users = keep_list(&keeper, facts->match.users);
    kept->match.service_accounts = keep_list(&keeper, facts->match.service_accounts);
    kept->exemption_reason = keep_text(&keeper, facts->exemption_reason);
    kept->findings = keep_list(&keeper, facts->findings);
    return keeper.failed ? NULL : kept;
}

int evidence_keep(const struct evidence *facts, struct evidence **ret_evidence)
{
    cleanup_arena struct arena trial = {0};
    struct arena arena = {0};
    struct evidence *kept = keep_in(&trial, facts);

    if (kept == NULL)
        return -ENOMEM;
    /* once more into one block of just that size: there may be 100,000 of these */
    arena_expect(&arena, arena_used_bytes(&trial));
    kept = keep_in(&arena, facts);
    if (kept == NULL) {
        arena_release(&arena);
        return -ENOMEM;
    }
    refcount_init(&kept->count);
    kept->arena = arena;
    *ret_evidence = kept;
    return 0;
}
