/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_KEYRING_SET_H
#define K8S_KEYRING_SET_H

/* set - the members of a keyring; for the files of this directory only. */

#include "k8s/keyring/keyring.h"
#include "k8s/keyring/signature.h"
#include "k8s/util/refcount.h"

struct keyring_key {
    char id[KEYRING_MAX_ID_BYTES + 1];
    struct signature_key *key; /* owned */
};

struct keyring {
    struct refcount count;
    struct keyring_key *keys; /* owned; by id, then by identity */
    size_t key_count;
    size_t key_capacity;
};

struct keyring *keyring_new(void);

/* Takes ownership of the key on success; frees it if the keyring has it under that id already.
 * id must be valid: keyring_is_id(). */
int keyring_add(struct keyring *keyring, struct str id, struct signature_key *key)
    __attribute__((warn_unused_result));

/* Removes the keys that `other` does not have under the same id. */
void keyring_keep_common(struct keyring *keyring, const struct keyring *other);

#endif
