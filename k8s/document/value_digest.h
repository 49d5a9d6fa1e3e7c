/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_DOCUMENT_VALUE_DIGEST_H
#define K8S_DOCUMENT_VALUE_DIGEST_H

/*
 * value_digest - a keyed digest of a value, made while the value is read, and independent of the
 * order of keys. Private to k8s/document.
 *
 * The value is added to a keyed hash (SipHash-1-3 with 128 bits) as a sequence of words that can be
 * read in one way only: a scalar is its type, the length of its text, and the text as decoded; a
 * list is its items between two marks. An object is the number of its members and the sum of their
 * hashes; each member has a hash of its own, of its name and its value. The sum goes into the hash
 * outside of it, so it is never seen. The key is made at random once for each process: without it,
 * values with equal digests cannot be chosen.
 *
 * Errors     0; -EIO the system gave no random numbers for the key.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "k8s/document/document.h"
#include "k8s/util/siphash.h"
#include "planner/base/text.h"

/* An object that is open. */
struct value_digest_level {
    struct siphash hash; /* of its last member */
    uint64_t sum[2];     /* of the hashes of the members before */
    uint64_t members;
};

struct value_digest {
    struct siphash_seed key;
    size_t objects;                                           /* open */
    struct value_digest_level levels[DOCUMENT_MAX_DEPTH + 1]; /* the first is outside of them */
};

int value_digest_begin(struct value_digest *digest) __attribute__((warn_unused_result));

/* The parts of the value, in the order of the text. is_list: as for the matching call. */
void value_digest_open(struct value_digest *digest, bool is_list);
void value_digest_close(struct value_digest *digest, bool is_list);

/* raw: the name as between the quotes of JSON if escaped, else as it is; NUL is U+FFFD. */
void value_digest_key(struct value_digest *digest, struct str raw, bool escaped);

/* type: cJSON_String or cJSON_Number, with its text; cJSON_True, cJSON_False, cJSON_NULL. */
void value_digest_scalar(struct value_digest *digest, int type, struct str raw, bool escaped);

/* After the last part. */
void value_digest_end(struct value_digest *digest,
                      unsigned char ret_digest[static DOCUMENT_DIGEST_BYTES]);

#endif
