/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_KEYRING_KEYRING_H
#define K8S_KEYRING_KEYRING_H

/*
 * keyring - public keys by id; verifies signatures with them (gate-v1, section 4).
 *
 * Immutable once loaded, reference-counted, shared by threads.
 *
 * The folder holds <key-id>.pem files, also as a mounted Secret or ConfigMap; other names are
 * ignored. Keys are compared by their numbers: the same key twice under one id counts once.
 *
 * Errors     keyring_load(): 0; -EINVAL the keyring is refused (reterr_reason: file, line, cause
 *            and remedy; never the content of a key); -ENOMEM; -EIO; -EMFILE, -ENFILE the system
 *            has no file descriptor left, which says nothing about the folder.
 * Ownership  keyring_unref() drops one reference; NULL is allowed.
 */

#include <stdbool.h>
#include <stddef.h>

#include "planner/base/arena.h"
#include "planner/base/list.h"
#include "planner/base/text.h"

#define KEYRING_MAX_KEYS 256 /* blocks in all files */
#define KEYRING_MAX_FILE_BYTES (256 * 1024)
#define KEYRING_MAX_ID_BYTES 63

struct keyring;

/* The result of keyring_reload(). */
struct keyring_report {
    bool whole;        /* true: all keys of the folder are in use; false: it was refused */
    struct str reason; /* why it was refused; stored in the given arena */
};

/* Reads a folder of <key-id>.pem. reterr_reason lives in arena. */
int keyring_load(const char *folder, struct arena *arena, struct keyring **ret_keyring,
                 struct str *reterr_reason) __attribute__((warn_unused_result, nonnull));

/*
 * Reads the folder again. If it is refused, the new keyring has only the keys that are both in the
 * old keyring and readable in the folder, under the same id: removing a key always works. An empty
 * or missing folder gives an empty keyring. Negative errno (see above) if the state of the folder
 * is unknown: the caller keeps the old keyring until the next attempt.
 */
int keyring_reload(const struct keyring *old, const char *folder, struct arena *arena,
                   struct keyring **ret_keyring, struct keyring_report *ret_report)
    __attribute__((warn_unused_result, nonnull));

/* A keyring of one key, given as SubjectPublicKeyInfo in DER: to verify what was just signed.
 * -EBADMSG: an unsupported kind of key, or key_id is not an id. */
int keyring_of_key(struct str key_id, struct str der, struct keyring **ret_keyring)
    __attribute__((warn_unused_result, nonnull));

struct keyring *keyring_ref(const struct keyring *keyring);
void keyring_unref(const struct keyring *keyring);
size_t keyring_key_count(const struct keyring *keyring);
/* How many different keys can sign one document, at most; only keys with these ids, NULL: all. */
unsigned keyring_most_signers(const struct keyring *keyring, const struct str_list *ids)
    __attribute__((nonnull(1)));

/* Whether id can be the name part of an annotation key: at most 63 characters,
 * [A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])? */
bool keyring_is_id(struct str id);

/* Whether both have the same keys under the same ids. */
bool keyring_equal(const struct keyring *a, const struct keyring *b);

/* The result for one signature annotation. The zero value does not verify. */
enum signature_result {
    SIGNATURE_BAD = 0, /* the id is known, but none of its keys verifies */
    SIGNATURE_GOOD,
    SIGNATURE_UNKNOWN_KEY, /* the keyring does not have the id */
    SIGNATURE_NOT_BASE64,  /* not base64 as section 4 requires */
};

#define KEYRING_IDENTITY_BYTES 32

/*
 * Verifies a signature, as base64 text, of the exact bytes of the document. *ret_identity is a
 * digest of the numbers of the key that verified, so the same key under two ids has one identity;
 * set for SIGNATURE_GOOD only. 0 or -EIO: the crypto library failed.
 */
int keyring_verify(const struct keyring *keyring, struct str key_id, struct str document,
                   struct str signature, enum signature_result *ret_result,
                   unsigned char ret_identity[static KEYRING_IDENTITY_BYTES])
    __attribute__((warn_unused_result, nonnull));

/* Whether the keyring has the key with this identity under this id. */
bool keyring_has(const struct keyring *keyring, struct str key_id,
                 const unsigned char identity[static KEYRING_IDENTITY_BYTES])
    __attribute__((nonnull));

#endif
