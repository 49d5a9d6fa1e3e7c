/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys - finds duplicate keys in open objects.
 *
 * The sender of a document chooses its keys, so tables are hashed with a random seed, and slots
 * refer to the text instead of copying it. Tables live in an arena: a failed allocation leaves
 * nothing to free.
 */
#include "k8s/document/keys.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "k8s/document/json_text.h"
#include "k8s/util/siphash.h"

/* A slot is 0 (free), or the offset of a key with some bits of its hash above it. No key begins at
 * offset 0, because a quote comes before it. */
struct keys_table {
    struct keys_table *next; /* in the list of unused tables of this size */
    unsigned bits;           /* it has 1 << bits slots */
    uint32_t count;
    uint32_t slots[];
};

static struct siphash_seed seed;
static bool seeded;
static pthread_once_t seed_once = PTHREAD_ONCE_INIT;

static void seed_get(void)
{
    seeded = siphash_seed_make(&seed) == 0;
}

void keys_init(struct keys *keys, struct str text, size_t max_bytes, struct arena *arena)
{
    keys->text = text;
    keys->arena = arena;
    keys->depth = 0;
    keys->offset_bits = 1;
    while (keys->offset_bits < 32 && max_bytes >> keys->offset_bits != 0)
        keys->offset_bits++;
    memset(keys->spare, 0, sizeof(keys->spare));
}

void keys_open(struct keys *keys)
{
    struct keys_object *object = &keys->objects[keys->depth];

    assert(keys->depth < DOCUMENT_MAX_DEPTH);
    keys->depth++;
    object->count = 0;
    object->table = NULL;
}

static void table_release(struct keys *keys, struct keys_table *table)
{
    table->next = keys->spare[table->bits];
    keys->spare[table->bits] = table;
}

void keys_close(struct keys *keys)
{
    struct keys_object *object = &keys->objects[keys->depth - 1];

    assert(keys->depth > 0);
    keys->depth--;
    if (object->table != NULL)
        table_release(keys, object->table);
}

/* Reads the decoded bytes of a key, one by one. */
struct key_bytes {
    const char *p;
    char escape[JSON_MAX_ESCAPE_BYTES];
    size_t used, count;
};

/* The next byte; -1 at the end. */
static int key_byte(struct key_bytes *b)
{
    if (b->used == b->count && *b->p == '\\') {
        b->p += json_text_unescape(b->p, b->escape, &b->count);
        b->used = 0;
    }
    if (b->used < b->count)
        return (unsigned char)b->escape[b->used++];
    return *b->p == '"' ? -1 : (unsigned char)*b->p++;
}

/* Compares decoded. known: the offset of a key; its closing quote is its end, its length is not
 * kept.
 */
static bool key_equals_at(const struct keys *keys, uint32_t known, struct key key)
{
    struct key_bytes a = {.p = keys->text.ptr + known};
    struct key_bytes b = {.p = keys->text.ptr + key.offset};
    int byte = 0;

    do {
        byte = key_byte(&a);
        if (byte != key_byte(&b))
            return false;
    } while (byte >= 0);
    return true;
}

static bool key_equals(const struct keys *keys, struct key a, struct key b)
{
    if (a.escaped || b.escaped)
        return key_equals_at(keys, a.offset, b);
    return a.bytes == b.bytes &&
           memcmp(keys->text.ptr + a.offset, keys->text.ptr + b.offset, a.bytes) == 0;
}

static uint64_t key_hash(const struct keys *keys, uint32_t offset)
{
    const char *p = keys->text.ptr + offset, *end = keys->text.ptr + keys->text.len;
    struct siphash hash = siphash_make(seed);

    for (;;) {
        const char *stop = json_text_skip_raw(p, end);
        char bytes[JSON_MAX_ESCAPE_BYTES];
        size_t count = 0;

        siphash_add(&hash, (struct str){p, (size_t)(stop - p)});
        if (*stop == '"')
            return siphash_end(&hash);
        p = stop + json_text_unescape(stop, bytes, &count);
        for (size_t i = 0; i < count; i++)
            siphash_byte(&hash, (unsigned char)bytes[i]);
    }
}

static struct keys_table *table_make(struct keys *keys, unsigned bits)
{
    size_t bytes = sizeof(uint32_t) << bits;
    struct keys_table *table = keys->spare[bits];

    if (table != NULL) {
        keys->spare[bits] = table->next;
        memset(table->slots, 0, bytes);
        table->count = 0;
        return table;
    }
    table = arena_alloc(keys->arena, 1, sizeof(*table) + bytes);
    if (table != NULL)
        table->bits = bits;
    return table;
}

/* True where the table has the key already; otherwise adds it. The table must have a free slot. */
static bool table_add(struct keys *keys, struct keys_table *table, struct key key)
{
    uint64_t hash = key_hash(keys, key.offset);
    uint32_t mask = (uint32_t)((UINT64_C(1) << table->bits) - 1);
    uint32_t offset_mask = (uint32_t)((UINT64_C(1) << keys->offset_bits) - 1);
    /* the slot is chosen by the low half of the hash, these bits are from the high half */
    uint32_t mark = (uint32_t)(hash >> 32) & ~offset_mask;
    uint32_t i = (uint32_t)hash & mask;

    for (; table->slots[i] != 0; i = (i + 1) & mask) {
        if ((table->slots[i] & ~offset_mask) == mark &&
            key_equals_at(keys, table->slots[i] & offset_mask, key))
            return true;
    }
    assert(key.offset != 0 && (key.offset & ~offset_mask) == 0);
    table->slots[i] = mark | key.offset;
    table->count++;
    return false;
}

/* Moves the keys of an object, which are all different, to a table of that size. */
static int object_move(struct keys *keys, struct keys_object *object, unsigned bits)
{
    uint32_t offset_mask = (uint32_t)((UINT64_C(1) << keys->offset_bits) - 1);
    struct keys_table *old = object->table;
    struct keys_table *table = bits <= KEYS_MAX_TABLE_BITS ? table_make(keys, bits) : NULL;

    if (table == NULL)
        return -ENOMEM;
    if (old == NULL) {
        for (size_t i = 0; i < object->count; i++)
            (void)table_add(keys, table, object->small[i]);
    } else {
        for (size_t i = 0; i < (size_t)1 << old->bits; i++) {
            if (old->slots[i] != 0)
                (void)table_add(keys, table, (struct key){.offset = old->slots[i] & offset_mask});
        }
        table_release(keys, old);
    }
    object->table = table;
    return 0;
}

static int object_reserve(struct keys *keys, struct keys_object *object)
{
    if (object->table == NULL) {
        (void)pthread_once(&seed_once, seed_get);
        return seeded ? object_move(keys, object, KEYS_MIN_TABLE_BITS) : -EIO;
    }
    /* up to seven eighths of the slots are used, which is dense: a document can have millions of
     * keys */
    if ((uint64_t)object->table->count + 1 <= (UINT64_C(7) << object->table->bits) / 8)
        return 0;
    return object_move(keys, object,
                       object->table->bits + (object->table->bits < KEYS_QUICK_TABLE_BITS ? 2 : 1));
}

int keys_add(struct keys *keys, struct key key, bool *ret_twice)
{
    struct keys_object *object = &keys->objects[keys->depth - 1];
    int r = 0;

    assert(keys->depth > 0);
    if (object->table == NULL) {
        for (size_t i = 0; i < object->count; i++) {
            if (key_equals(keys, object->small[i], key)) {
                *ret_twice = true;
                return 0;
            }
        }
        if (object->count < KEYS_SMALL) {
            object->small[object->count++] = key;
            *ret_twice = false;
            return 0;
        }
    }
    r = object_reserve(keys, object);
    if (r == 0)
        *ret_twice = table_add(keys, object->table, key);
    return r;
}
