/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signers - how many different keys can sign one document, at most.
 *
 * A document has one signature for each key id, a key id can have several keys, and one key can
 * have several ids. So this is the largest matching of ids with keys, found by augmenting paths:
 * with at most KEYRING_MAX_KEYS keys that is cheap.
 */
#include <assert.h>
#include <string.h>

#include "k8s/keyring/keyring.h"
#include "k8s/keyring/set.h"
#include "planner/base/list.h"

struct matching {
    const struct keyring *keyring;
    size_t number[KEYRING_MAX_KEYS]; /* of each key: the first key with the same numbers */
    size_t owner[KEYRING_MAX_KEYS];  /* by number: the first key of the id that has it */
    bool taken[KEYRING_MAX_KEYS];    /* by number: whether it has an owner */
    bool tried[KEYRING_MAX_KEYS];    /* by number: in this search */
};

static bool is_same_key(const struct keyring *keyring, size_t a, size_t b)
{
    return memcmp(signature_key_identity(keyring->keys[a].key),
                  signature_key_identity(keyring->keys[b].key), SIGNATURE_IDENTITY_BYTES) == 0;
}

static bool is_same_id(const struct keyring *keyring, size_t a, size_t b)
{
    return strcmp(keyring->keys[a].id, keyring->keys[b].id) == 0;
}

/* Gives the id whose keys begin at `first` one of its keys, if necessary by giving the id that has
 * it another one. The depth is at most the number of ids. */
static bool match(struct matching *m, size_t first)
{
    for (size_t i = first; i < m->keyring->key_count && is_same_id(m->keyring, first, i); i++) {
        size_t n = m->number[i];

        if (m->tried[n])
            continue;
        m->tried[n] = true;
        if (m->taken[n] && !match(m, m->owner[n]))
            continue;
        m->taken[n] = true;
        m->owner[n] = first;
        return true;
    }
    return false;
}

unsigned keyring_most_signers(const struct keyring *keyring, const struct str_list *ids)
{
    struct matching m = {.keyring = keyring};
    unsigned count = 0;

    assert(keyring->key_count <= KEYRING_MAX_KEYS);
    for (size_t i = 0; i < keyring->key_count; i++) {
        while (!is_same_key(keyring, m.number[i], i))
            m.number[i]++;
    }
    for (size_t i = 0; i < keyring->key_count; i++) {
        bool is_first = i == 0 || !is_same_id(keyring, i - 1, i);

        if (!is_first || (ids != NULL && !str_list_has(*ids, str_of(keyring->keys[i].id))))
            continue;
        memset(m.tried, 0, sizeof(m.tried));
        count += match(&m, i);
    }
    return count;
}
