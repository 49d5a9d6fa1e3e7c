/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy - the final form of evidence: one block of memory that holds it and all that it refers to.
 * Of a document that was read before, the block holds only what is its own.
 *
 * A cluster can have 100,000 of these records, so their size matters (tests/bench/README.md has the
 * bound): one allocation each, and no copies of well-known names.
 */
#include <errno.h>
#include <stdint.h>

#include "k8s/evidence/internal.h"
#include "planner/base/tree.h"

/* A series of copies. Remembers that memory was short, so that the series is checked once. */
struct copier {
    struct arena *arena;
    bool failed;
};

static struct str copy_text(struct copier *copier, struct str s)
{
    const char *copy = NULL;

    if (!str_present(s))
        return s;
    copy = arena_copy(copier->arena, s);
    copier->failed |= copy == NULL;
    return (struct str){.ptr = copy, .len = copy != NULL ? s.len : 0};
}

static struct str_list copy_list(struct copier *copier, struct str_list list)
{
    struct str *items = NULL;

    if (list.count == 0)
        return (struct str_list){0};
    items = arena_alloc(copier->arena, list.count, sizeof(*items));
    if (items == NULL) {
        copier->failed = true;
        return (struct str_list){0};
    }
    for (size_t i = 0; i < list.count; i++)
        items[i] = copy_text(copier, list.items[i]);
    return (struct str_list){.items = items, .count = list.count};
}

/* The fields of requirements and baselines: their names are shared instead of copied. */
static const char *const field_names[] = {
    "source_ref",      "source_digest",          "observed_at", "network",
    "writable_paths",  "env_allowlist",          "cwd_policy",  "require_enforcement",
    "network_allowed", "allowed_writable_paths", "allowed_env",
};

static char *copy_name(struct copier *copier, struct str name)
{
    char *copy = NULL;

    for (size_t i = 0; i < sizeof(field_names) / sizeof(field_names[0]); i++) {
        if (str_equal(name, str_of(field_names[i])))
            return (char *)(uintptr_t)field_names[i]; /* cJSON does not change it */
    }
    copy = arena_copy(copier->arena, name);
    copier->failed |= copy == NULL;
    return copy;
}

static cJSON *copy_node(struct copier *copier, const cJSON *from)
{
    cJSON *node = tree_borrow(copier->arena, from);

    if (node == NULL) {
        copier->failed = true;
        return NULL;
    }
    if (from->string != NULL)
        node->string = copy_name(copier, tree_key(from));
    if (from->valuestring != NULL) {
        node->valuestring = arena_copy(copier->arena, str_of(from->valuestring));
        copier->failed |= node->valuestring == NULL;
    }
    node->type = from->type & 0xff; /* without the flags for borrowed members */
    node->child = NULL;
    return node;
}

/* Copies a tree by recursion: the reader limits its depth. */
static cJSON *copy_tree(struct copier *copier, const cJSON *from)
{
    cJSON *node = from != NULL ? copy_node(copier, from) : NULL;
    cJSON *last = NULL;
    const cJSON *child = NULL;

    if (node == NULL)
        return NULL;
    cJSON_ArrayForEach(child, from)
    {
        cJSON *copy = copy_tree(copier, child);

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
        node->child->prev = last; /* as cJSON does: the first child links to the last */
    return node;
}

static void *copy_bytes(struct copier *copier, const void *from, size_t count, size_t size)
{
    void *copy = count > 0 ? arena_alloc(copier->arena, count, size) : NULL;

    if (copy == NULL) {
        copier->failed |= count > 0;
        return NULL;
    }
    return memcpy(copy, from, count * size);
}

/* What belongs to the object. */
static struct evidence *copy_record(struct copier *copier, const struct evidence *facts)
{
    struct evidence *copy = copy_bytes(copier, facts, 1, sizeof(*facts));

    if (copy == NULL)
        return NULL;
    copy->namespace_name = copy_text(copier, facts->namespace_name);
    copy->name = copy_text(copier, facts->name);
    copy->key_ids = copy_list(copier, facts->key_ids);
    copy->key_identities = copy_bytes(copier, facts->key_identities, facts->key_ids.count,
                                      sizeof(*facts->key_identities));
    copy->reason = copy_text(copier, facts->reason);
    return copy;
}

/* What follows from the bytes of the document. */
static void copy_content(struct copier *copier, const struct evidence *facts, struct evidence *copy)
{
    copy->digest = copy_text(copier, facts->digest);
    copy->audiences = copy_list(copier, facts->audiences);
    copy->expires_at_text = copy_text(copier, facts->expires_at_text);
    copy->namespaces = copy_list(copier, facts->namespaces);
    copy->images = copy_list(copier, facts->images);
    copy->skill_ref = copy_text(copier, facts->skill_ref);
    copy->image_digest = copy_text(copier, facts->image_digest);
    copy->class_text = copy_text(copier, facts->class_text);
    copy->requirements = copy_tree(copier, facts->requirements);
    copy->baseline = copy_tree(copier, facts->baseline);
    copy->boundary_mounts = copy_tree(copier, facts->boundary_mounts);
    copy->match.namespaces = copy_list(copier, facts->match.namespaces);
    copy->match.skill_refs = copy_list(copier, facts->match.skill_refs);
    copy->match.image_digests = copy_list(copier, facts->match.image_digests);
    copy->match.users = copy_list(copier, facts->match.users);
    copy->match.service_accounts = copy_list(copier, facts->match.service_accounts);
    copy->exemption_reason = copy_text(copier, facts->exemption_reason);
    copy->findings = copy_list(copier, facts->findings);
}

static struct evidence *copy_into(struct arena *arena, const struct evidence *facts,
                                  const struct evidence *owner)
{
    struct copier copier = {.arena = arena};
    struct evidence *copy = copy_record(&copier, facts);

    if (copy != NULL && owner == NULL)
        copy_content(&copier, facts, copy);
    return copier.failed ? NULL : copy;
}

int evidence_copy(const struct evidence *facts, const struct evidence *owner,
                  struct evidence **ret_evidence)
{
    cleanup_arena struct arena trial = {0};
    struct arena arena = {0};
    struct evidence *copy = copy_into(&trial, facts, owner);

    if (copy == NULL)
        return -ENOMEM;
    /* the first copy found the size; the second one is a single block of that size */
    arena_expect(&arena, arena_used_bytes(&trial));
    copy = copy_into(&arena, facts, owner);
    if (copy == NULL) {
        arena_release(&arena);
        return -ENOMEM;
    }
    refcount_init(&copy->count);
    copy->owner = (struct evidence *)(uintptr_t)owner;
    if (copy->owner != NULL)
        refcount_take(&copy->owner->count);
    copy->memory = arena.last; /* nothing is added to the arena: its other members are not needed */
    *ret_evidence = copy;
    return 0;
}
