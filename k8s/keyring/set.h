/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_KEYRING_SET_H
#define K8S_KEYRING_SET_H

/* set - what a keyring is made of; private to keyring*.c. */

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
    size_t key_room;
};

struct keyring *keyring_new(void);

/* Takes the key over on success; one that is already there under that id is dropped. */
int keyring_add(struct keyring *keyring, struct str id, struct signature_key *key)
    __attribute__((warn_unused_result));

/* Takes away what `other` does not have as well. */
void keyring_keep_common(struct keyring *keyring, const struct keyring *other);

#endif
