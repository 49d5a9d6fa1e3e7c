/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* tdestroy() */
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
        *first = entry->before = entry->after = entry;
        return;
    }
    entry->before = (*first)->before;
    entry->after = *first;
    entry->before->after = entry;
    entry->after->before = entry;
}

static void ring_remove(struct reflector_entry **first, struct reflector_entry *entry)
{
    entry->before->after = entry->after;
    entry->after->before = entry->before;
    if (*first == entry)
        *first = entry->after != entry ? entry->after : NULL;
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

/* Whether what is known is as new as what comes, or newer. */
static bool is_known(struct reflector_entry *entry, struct str version,
                     struct reflector_change change)
{
    bool same = has_version(entry, version);

    switch (change.source) {
    case REFLECTOR_BY_LIST:
        entry->round = change.round;
        if (entry->ahead && entry->changed > change.since)
            return true; /* the merge began behind the list */
        entry->ahead = false;
        return same && !change.again;
    case REFLECTOR_BY_WATCH:
        if (!entry->ahead)
            return same;
        entry->ahead = !same; /* what comes before that version is older */
        return true;
    case REFLECTOR_BY_MERGE:
    default:
        return same || entry->changed > change.since;
    }
}

/* Whether the watch dropped it since a merge began. */
static bool is_dropped_since(const struct reflector_known *known,
                             const struct reflector_object *object, uint64_t since)
{
    const struct reflector_entry *tomb = find(&known->tomb_tree, object);

    return tomb != NULL && tomb->changed > since;
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

/* Remembers that it was dropped, as long as a merge may bring it again. */
static void bury(struct reflector_known *known, struct reflector_entry *entry)
{
    struct reflector_entry *const *node = NULL;
    struct reflector_entry *older = NULL;

    if (known->merge_count > 0 && known->tomb_count < REFLECTOR_MAX_TOMBS)
        node = tsearch(entry, &known->tomb_tree, order_entries);
    if (node == NULL) {
        if (known->merge_count > 0)
            known->tombs_lost = entry->changed;
        free(entry);
        return;
    }
    if (*node != entry) {
        older = *node;
        older->changed = entry->changed;
        free(entry);
        return;
    }
    ring_add(&known->first_tomb, entry);
    known->tomb_count++;
}

static void drop_entry(struct reflector_known *known, const struct reflector_sink *sink,
                       struct reflector_entry *entry)
{
    sink->drop(sink->context, entry->value);
    entry->value = NULL;
    (void)tdelete(entry, &known->tree, order_entries);
    ring_remove(&known->first, entry);
    known->count--;
    entry->changed = ++known->changes;
    bury(known, entry);
}

void reflector_known_drop(struct reflector_known *known, const struct reflector_sink *sink,
                          const struct reflector_object *object)
{
    struct reflector_entry *entry = find(&known->tree, object);

    if (entry == NULL)
        return;
    /* a merge has seen what came behind this end */
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
        struct reflector_entry *after = entry->after;

        if (entry->round != list.round && !(entry->ahead && entry->changed > list.since))
            drop_entry(known, sink, entry);
        entry = after;
    }
}

static void keep_entry(void *entry)
{
    (void)entry; /* the trees only borrow */
}

static void ring_free(struct reflector_entry **first)
{
    while (*first != NULL) {
        struct reflector_entry *entry = *first;

        ring_remove(first, entry);
        free(entry);
    }
}

static void tombs_done(struct reflector_known *known)
{
    tdestroy(known->tomb_tree, keep_entry);
    known->tomb_tree = NULL;
    known->tomb_count = 0;
    known->tombs_lost = 0;
    ring_free(&known->first_tomb);
}

void reflector_known_done(struct reflector_known *known, const struct reflector_sink *sink)
{
    struct reflector_entry *entry = known->first;

    for (size_t i = 0; i < known->count; i++, entry = entry->after)
        sink->drop(sink->context, entry->value);
    tdestroy(known->tree, keep_entry);
    known->tree = NULL;
    known->count = 0;
    ring_free(&known->first);
    tombs_done(known);
}

void reflector_known_open(struct reflector_known *known)
{
    known->merge_count++;
}

void reflector_known_close(struct reflector_known *known)
{
    known->merge_count--;
    if (known->merge_count == 0)
        tombs_done(known);
}
