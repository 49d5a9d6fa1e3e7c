/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_DOCUMENT_KEYS_H
#define K8S_DOCUMENT_KEYS_H

/*
 * keys - the names of all objects that are open, to find one that is given twice.
 *
 * A key is told by where it begins in a text, behind its opening quote (json_text.h): names are
 * neither copied nor decoded, whatever their number. The first few of an object are compared one
 * by one; after that they go into a table of four bytes a slot, by a hash (SipHash-1-3) whose seed
 * nobody outside can know. Tables go from one object to the next.
 *
 * Errors     0; -ENOMEM; -EIO where the system gave no seed.
 * Units      bytes; texts up to 4 GiB.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "k8s/document/document.h"

#define KEYS_SMALL 16 /* compared one by one */
#define KEYS_MIN_TABLE_BITS 5
#define KEYS_QUICK_TABLE_BITS 16 /* up to here a table grows to four times its size */
#define KEYS_MAX_TABLE_BITS 32

struct keys_table;

struct key {
    uint32_t offset;
    uint32_t bytes; /* as it stands in the text */
    bool escaped;
};

struct keys_object {
    uint32_t count;
    struct keys_table *table; /* NULL while there are few */
    struct key small[KEYS_SMALL];
};

struct keys {
    struct str text;     /* borrowed; may move and grow as long as its bytes stay the same */
    unsigned place_bits; /* of a slot: the rest tells hashes apart without looking at the text */
    struct arena *arena; /* borrowed */
    size_t depth;
    struct keys_table *spare[KEYS_MAX_TABLE_BITS + 1]; /* by size */
    struct keys_object objects[DOCUMENT_MAX_DEPTH];
};

/* max_bytes: that the text can ever have. */
void keys_init(struct keys *keys, struct str text, size_t max_bytes, struct arena *arena);

/* An object begins or ends. At most DOCUMENT_MAX_DEPTH are open. */
void keys_open(struct keys *keys);
void keys_close(struct keys *keys);

/* A name of the object opened last. *ret_twice: it has that name already. */
int keys_add(struct keys *keys, struct key key, bool *ret_twice)
    __attribute__((warn_unused_result));

#endif
