/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_DOCUMENT_KEYS_H
#define K8S_DOCUMENT_KEYS_H

/*
 * keys - the keys of all open objects, to find duplicates.
 *
 * A key is its offset in a text, after its opening quote (json_text.h). Keys are neither copied nor
 * decoded, so a document with very many of them needs little memory. The first keys of an object
 * are compared one by one. Further ones go into a hash table of four bytes for a slot (SipHash-1-3,
 * with a seed that is unknown outside). A table that is not used any more serves the next object.
 *
 * Errors     0; -ENOMEM; -EIO the system gave no seed.
 * Units      bytes; texts up to 4 GiB.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "k8s/document/document.h"

#define KEYS_SMALL 16 /* keys of an object that are compared one by one */
#define KEYS_MIN_TABLE_BITS 5
#define KEYS_QUICK_TABLE_BITS 16 /* up to here a table grows to four times its size */
#define KEYS_MAX_TABLE_BITS 32

struct keys_table;

struct key {
    uint32_t offset;
    uint32_t bytes; /* in the text, with escapes */
    bool escaped;
};

struct keys_object {
    uint32_t count;
    struct keys_table *table; /* NULL while there are few */
    struct key small[KEYS_SMALL];
};

struct keys {
    struct str text;      /* borrowed; can be moved and extended while its bytes stay the same */
    unsigned offset_bits; /* of a slot; its other bits are of the hash, so that most slots can be
                           * excluded without reading the text */
    struct arena *arena;  /* borrowed */
    size_t depth;
    struct keys_table *spare[KEYS_MAX_TABLE_BITS + 1]; /* unused tables, by size */
    struct keys_object objects[DOCUMENT_MAX_DEPTH];
};

/* max_bytes: the text will not become longer. */
void keys_init(struct keys *keys, struct str text, size_t max_bytes, struct arena *arena);

/* The start and the end of an object. At most DOCUMENT_MAX_DEPTH are open. */
void keys_open(struct keys *keys);
void keys_close(struct keys *keys);

/* Adds a key of the object opened last. *ret_twice: the object has that key already. */
int keys_add(struct keys *keys, struct key key, bool *ret_twice)
    __attribute__((warn_unused_result));

#endif
