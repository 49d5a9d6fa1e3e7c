/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyring - keys by id: looks them up, adds them, verifies a signature.
 *
 * load.c fills a keyring from files, pem.c finds the key blocks in them, signature.c knows the
 * kinds of keys.
 */
#include "k8s/keyring/keyring.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "k8s/keyring/set.h"
#include "k8s/util/base64.h"
#include "planner/base/array.h"

_Static_assert(KEYRING_IDENTITY_BYTES == SIGNATURE_IDENTITY_BYTES, "both are one digest");

struct keyring *keyring_new(void)
{
    struct keyring *keyring = calloc(1, sizeof(*keyring));

    if (keyring != NULL)
        refcount_init(&keyring->count);
    return keyring;
}

struct keyring *keyring_ref(const struct keyring *keyring)
{
    struct keyring *shared = (struct keyring *)(uintptr_t)keyring;

    refcount_take(&shared->count);
    return shared;
}

void keyring_unref(const struct keyring *keyring)
{
    struct keyring *shared = (struct keyring *)(uintptr_t)keyring;

    if (shared == NULL || !refcount_drop(&shared->count))
        return;
    for (size_t i = 0; i < shared->key_count; i++)
        signature_key_free(shared->keys[i].key);
    free(shared->keys);
    free(shared);
}

size_t keyring_key_count(const struct keyring *keyring)
{
    return keyring->key_count;
}

bool keyring_is_id(struct str id)
{
    if (id.len == 0 || id.len > KEYRING_MAX_ID_BYTES)
        return false;
    for (size_t i = 0; i < id.len; i++) {
        bool inner = i > 0 && i + 1 < id.len;
        char c = id.ptr[i];

        if (!text_is_alnum(c) && !(inner && (c == '-' || c == '_' || c == '.')))
            return false;
    }
    return true;
}

/* The two parts by which keys are sorted. */
struct sought {
    struct str id;
    const unsigned char *identity;
};

static int compare_key(const void *sought, const void *entry)
{
    const struct sought *left = sought;
    const struct keyring_key *right = entry;
    int r = str_compare(left->id, str_of(right->id));

    return r != 0 ? r
                  : memcmp(left->identity, signature_key_identity(right->key),
                           SIGNATURE_IDENTITY_BYTES);
}

bool keyring_has(const struct keyring *keyring, struct str key_id,
                 const unsigned char identity[static KEYRING_IDENTITY_BYTES])
{
    const struct sought sought = {.id = key_id, .identity = identity};

    return keyring->key_count > 0 && bsearch(&sought, keyring->keys, keyring->key_count,
                                             sizeof(*keyring->keys), compare_key) != NULL;
}

static bool has_key(const struct keyring *keyring, const struct keyring_key *key)
{
    return keyring_has(keyring, str_of(key->id), signature_key_identity(key->key));
}

bool keyring_equal(const struct keyring *a, const struct keyring *b)
{
    if (a->key_count != b->key_count)
        return false;
    for (size_t i = 0; i < a->key_count; i++) {
        if (!has_key(b, &a->keys[i]))
            return false;
    }
    return true;
}

int keyring_add(struct keyring *keyring, struct str id, struct signature_key *key)
{
    const struct sought sought = {.id = id, .identity = signature_key_identity(key)};
    struct keyring_key entry = {.key = key};
    size_t at = 0;
    int r = 0;

    assert(id.len <= KEYRING_MAX_ID_BYTES);
    if (keyring_has(keyring, id, sought.identity)) {
        signature_key_free(key);
        return 0;
    }
    r = array_grow(&keyring->keys, &keyring->key_capacity, keyring->key_count + 1,
                   sizeof(*keyring->keys), SIZE_MAX); /* load.c limits the number of keys */
    if (r < 0)
        return r;
    while (at < keyring->key_count && compare_key(&sought, &keyring->keys[at]) > 0)
        at++;
    memcpy(entry.id, id.ptr, id.len);
    memmove(&keyring->keys[at + 1], &keyring->keys[at],
            (keyring->key_count - at) * sizeof(*keyring->keys));
    keyring->keys[at] = entry;
    keyring->key_count++;
    return 0;
}

void keyring_keep_common(struct keyring *keyring, const struct keyring *other)
{
    size_t kept = 0;

    for (size_t i = 0; i < keyring->key_count; i++) {
        if (has_key(other, &keyring->keys[i]))
            keyring->keys[kept++] = keyring->keys[i];
        else
            signature_key_free(keyring->keys[i].key);
    }
    keyring->key_count = kept;
}

int keyring_verify(const struct keyring *keyring, struct str key_id, struct str document,
                   struct str signature, enum signature_result *ret_result,
                   unsigned char ret_identity[static KEYRING_IDENTITY_BYTES])
{
    unsigned char bytes[SIGNATURE_MAX_BYTES];
    size_t len = 0;
    int r = base64_decode(signature, sizeof(bytes), bytes, &len);
    enum signature_result result = SIGNATURE_UNKNOWN_KEY;

    for (size_t i = 0; i < keyring->key_count; i++) {
        const struct signature_key *key = keyring->keys[i].key;
        const struct str raw = {.ptr = (const char *)bytes, .len = len};
        bool good = false;

        if (!str_equal(str_of(keyring->keys[i].id), key_id))
            continue;
        /* text of whitespace only decodes to nothing; that is not a signature either */
        if (r == -EBADMSG || (r == 0 && len == 0)) {
            result = SIGNATURE_NOT_BASE64;
            break;
        }
        if (r == 0 && signature_verify(key, document, raw, &good) < 0)
            return -EIO;
        if (good) {
            memcpy(ret_identity, signature_key_identity(key), KEYRING_IDENTITY_BYTES);
            *ret_result = SIGNATURE_GOOD;
            return 0;
        }
        result = SIGNATURE_BAD;
    }
    *ret_result = result;
    return 0;
}

int keyring_of_key(struct str key_id, struct str der, struct keyring **ret_keyring)
{
    struct keyring *keyring = NULL;
    struct signature_key *key = NULL;
    const char *ignored = NULL;
    int r = keyring_is_id(key_id) ? signature_key_read(der, &key, &ignored) : -EBADMSG;

    if (r < 0)
        return r;
    keyring = keyring_new();
    r = keyring != NULL ? keyring_add(keyring, key_id, key) : -ENOMEM;
    if (r < 0) {
        signature_key_free(key);
        keyring_unref(keyring);
        return r;
    }
    *ret_keyring = keyring;
    return 0;
}
