/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known - the known objects, and the rules by which a list, the watch and a merge change them.
 *
 * Versions cannot be ordered, only compared for equality. So the order of changes is taken from a
 * count of changes: what the watch changed after a merge began is newer than its content. A list
 * and a merge never overlap (merge.c), so a list wins over each merge before it: where the merge is
 * newer, the watch that follows the list brings that version again. The other way round, the watch
 * would begin behind the version that it is expected to reach, and the object would never change
 * again.
 */
#define _GNU_SOURCE /* tdestroy() */
#include <assert.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>

#include "k8s/reflector/internal.h"

static int order_entries(const void *a, const void *b)
{
    const struct reflector_entry *left = a;
    const struct reflector_entry *right = b;
    int r = str_compare(left->namespace_name, right->namespace_name);

    return r != 0 ? r : str_compare(left->name, right->name);
}

static struct reflector_entry *find(void *const *tree, const struct reflector_object *object)
{
    const struct reflector_entry key = {.namespace_name = object->namespace_name,
                                        .name = object->name};
    struct reflector_entry *const *node = tfind(&key, tree, order_entries);

    return node != NULL ? *node : NULL;
}

static void ring_add(struct reflector_entry **first, struct reflector_entry *entry)
{
    if (*first == NULL) {
        *first = entry->previous = entry->next = entry;
        return;
    }
    entry->previous = (*first)->previous;
    entry->next = *first;
    entry->previous->next = entry;
    entry->next->previous = entry;
}

static void ring_remove(struct reflector_entry **first, struct reflector_entry *entry)
{
    assert(*first != NULL && entry->next->previous == entry && entry->previous->next == entry);
    entry->previous->next = entry->next;
    entry->next->previous = entry->previous;
    if (*first == entry)
        *first = entry->next != entry ? entry->next : NULL;
}

static struct reflector_entry *entry_new(const struct reflector_object *object)
{
    size_t namespace_len = object->namespace_name.len;
    size_t name_len = object->name.len;
    struct reflector_entry *entry = calloc(1, sizeof(*entry) + namespace_len + name_len);

    if (entry == NULL)
        return NULL;
    if (namespace_len > 0)
        memcpy(entry->texts, object->namespace_name.ptr, namespace_len);
    memcpy(entry->texts + namespace_len, object->name.ptr, name_len);
    entry->namespace_name = (struct str){.ptr = entry->texts, .len = namespace_len};
    entry->name = (struct str){.ptr = entry->texts + namespace_len, .len = name_len};
    return entry;
}

static bool has_version(const struct reflector_entry *entry, struct str version)
{
    return str_equal((struct str){.ptr = entry->version, .len = entry->version_len}, version);
}

/* Whether the known state is at least as new as the change. Also notes that the change was seen. */
static bool is_known(struct reflector_entry *entry, struct str version,
                     struct reflector_change change)
{
    bool same = has_version(entry, version);

    switch (change.source) {
    case REFLECTOR_BY_LIST:
        entry->round = change.round;
        entry->ahead = false;
        return same && !change.again;
    case REFLECTOR_BY_WATCH:
        if (!entry->ahead)
            return same;
        entry->ahead = !same; /* until the watch reaches that version, its events are older */
        return true;
    case REFLECTOR_BY_MERGE:
    default:
        return same || entry->changed > change.since;
    }
}

/* Whether the watch dropped the object since the merge began. */
static bool is_dropped_since(const struct reflector_known *known,
                             const struct reflector_object *object, uint64_t since)
{
    const struct reflector_entry *tombstone = find(&known->tombstone_tree, object);

    return tombstone != NULL && tombstone->changed > since;
}

static int put_new(struct reflector_known *known, struct reflector_entry *entry)
{
    if (tsearch(entry, &known->tree, order_entries) == NULL)
        return -ENOMEM;
    ring_add(&known->first, entry);
    known->count++;
    return 0;
}

int reflector_known_put(struct reflector_known *known, const struct reflector_sink *sink,
                        const struct reflector_object *object, struct reflector_change change)
{
    struct reflector_entry *entry = find(&known->tree, object);
    bool is_new = entry == NULL;
    int r = 0;

    if (object->resource_version.len > REFLECTOR_MAX_VERSION_BYTES)
        return -EBADMSG;
    if (is_new && change.source == REFLECTOR_BY_MERGE &&
        is_dropped_since(known, object, change.since))
        return 0;
    if (!is_new && is_known(entry, object->resource_version, change))
        return 0;
    if (is_new)
        entry = entry_new(object);
    if (entry == NULL)
        return -ENOMEM;
    r = sink->put(sink->context, object, &entry->value);
    if (r == 0 && is_new) {
        r = put_new(known, entry);
        if (r < 0)
            sink->drop(sink->context, entry->value);
    }
    if (r < 0) {
        if (is_new)
            free(entry);
        return r;
    }
    entry->changed = ++known->changes;
    entry->round = change.source == REFLECTOR_BY_LIST ? change.round : entry->round;
    entry->ahead = change.source == REFLECTOR_BY_MERGE;
    entry->version_len = (unsigned char)object->resource_version.len;
    if (entry->version_len > 0)
        memcpy(entry->version, object->resource_version.ptr, entry->version_len);
    return 0;
}

/* Remembers a dropped object while a merge is open, so that the merge does not bring it back. */
static void add_tombstone(struct reflector_known *known, struct reflector_entry *entry)
{
    struct reflector_entry *const *node = NULL;
    struct reflector_entry *older = NULL;

    if (known->merge_count > 0 && known->tombstone_count < REFLECTOR_MAX_TOMBSTONES)
        node = tsearch(entry, &known->tombstone_tree, order_entries);
    if (node == NULL) {
        if (known->merge_count > 0)
            known->tombstones_lost = entry->changed;
        free(entry);
        return;
    }
    if (*node != entry) {
        older = *node;
        older->changed = entry->changed;
        free(entry);
        return;
    }
    ring_add(&known->first_tombstone, entry);
    known->tombstone_count++;
}

static void drop_entry(struct reflector_known *known, const struct reflector_sink *sink,
                       struct reflector_entry *entry)
{
    sink->drop(sink->context, entry->value);
    entry->value = NULL;
    (void)tdelete(entry, &known->tree, order_entries);
    ring_remove(&known->first, entry);
    assert(known->count > 0);
    known->count--;
    entry->changed = ++known->changes;
    add_tombstone(known, entry);
}

void reflector_known_drop(struct reflector_known *known, const struct reflector_sink *sink,
                          const struct reflector_object *object)
{
    struct reflector_entry *entry = find(&known->tree, object);

    if (entry == NULL)
        return;
    /* the merge has read an object that was created after this deletion */
    if (entry->ahead && !has_version(entry, object->resource_version))
        return;
    drop_entry(known, sink, entry);
}

void reflector_known_sweep(struct reflector_known *known, const struct reflector_sink *sink,
                           struct reflector_change list)
{
    struct reflector_entry *entry = known->first;
    size_t count = known->count;

    for (size_t i = 0; i < count; i++) {
        struct reflector_entry *next = entry->next;

        if (entry->round != list.round)
            drop_entry(known, sink, entry);
        entry = next;
    }
}

static void keep_entry(void *entry)
{
    (void)entry; /* the trees do not own their entries */
}

static void ring_free(struct reflector_entry **first)
{
    while (*first != NULL) {
        struct reflector_entry *entry = *first;

        ring_remove(first, entry);
        free(entry);
    }
}

static void free_tombstones(struct reflector_known *known)
{
    tdestroy(known->tombstone_tree, keep_entry);
    known->tombstone_tree = NULL;
    known->tombstone_count = 0;
    known->tombstones_lost = 0;
    ring_free(&known->first_tombstone);
}

void reflector_known_done(struct reflector_known *known, const struct reflector_sink *sink)
{
    struct reflector_entry *entry = known->first;

    for (size_t i = 0; i < known->count; i++, entry = entry->next)
        sink->drop(sink->context, entry->value);
    tdestroy(known->tree, keep_entry);
    known->tree = NULL;
    known->count = 0;
    ring_free(&known->first);
    free_tombstones(known);
}

void reflector_known_open(struct reflector_known *known)
{
    known->merge_count++;
}

void reflector_known_close(struct reflector_known *known)
{
    assert(known->merge_count > 0);
    known->merge_count--;
    if (known->merge_count == 0)
        free_tombstones(known);
}
