/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_KEYRING_KEYRING_H
#define K8S_KEYRING_KEYRING_H

/*
 * keyring - public keys by id, and whether one of them made a signature (gate-v1, section 4).
 *
 * Immutable once loaded, counted, shared by threads.
 *
 * The folder holds <key-id>.pem files, also as a mounted Secret or ConfigMap; other names are
 * ignored. A key is its numbers: the same key given twice under one id is one.
 *
 * Errors     keyring_load(): 0; -EINVAL the keyring is refused (reterr_reason: file, line, what,
 *            what to do; never a key's content); -ENOMEM; -EIO; -EMFILE, -ENFILE where the system
 *            has no descriptor left, which says nothing about the folder.
 * Ownership  keyring_unref() drops a count; NULL is allowed.
 */

#include <stdbool.h>
#include <stddef.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"

#define KEYRING_MAX_KEYS 256 /* blocks in all files */
#define KEYRING_MAX_FILE_BYTES (256 * 1024)
#define KEYRING_MAX_ID_BYTES 63

struct keyring;

/* Whether a folder that was read again was refused; see keyring_reload(). */
struct keyring_report {
    bool whole;        /* true: all of the folder counts; false: it was refused */
    struct str reason; /* why it was refused; in the given arena */
};

/* Reads a folder of <key-id>.pem. reterr_reason lives in arena. */
int keyring_load(const char *folder, struct arena *arena, struct keyring **ret_keyring,
                 struct str *reterr_reason) __attribute__((warn_unused_result, nonnull));

/*
 * Reads the folder again. Where it is refused, the new keyring holds the keys that are readable
 * in both the old keyring and the folder, under the same id, and nothing else; an empty folder, or
 * none, means no key at all. Negative errno (see above) where nothing can be said about the
 * folder: the old keyring stands until the next attempt.
 */
int keyring_reload(const struct keyring *old, const char *folder, struct arena *arena,
                   struct keyring **ret_keyring, struct keyring_report *ret_report)
    __attribute__((warn_unused_result, nonnull));

/* A keyring of one key, a SubjectPublicKeyInfo in DER: for who verifies what was just signed.
 * -EBADMSG: another kind of key, or no id. */
int keyring_of_key(struct str key_id, struct str der, struct keyring **ret_keyring)
    __attribute__((warn_unused_result, nonnull));

struct keyring *keyring_ref(const struct keyring *keyring);
void keyring_unref(const struct keyring *keyring);
size_t keyring_key_count(const struct keyring *keyring);

/* A key id as an annotation's name allows it: at most 63 characters,
 * [A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])? */
bool keyring_is_id(struct str id);

/* The same ids with the same keys. */
bool keyring_equal(const struct keyring *a, const struct keyring *b);

/* The outcome of one signature annotation. 0 is "no". */
enum signature_result {
    SIGNATURE_BAD = 0, /* a key of that id exists, none of its blocks verifies */
    SIGNATURE_GOOD,
    SIGNATURE_UNKNOWN_KEY, /* the keyring has no such id */
    SIGNATURE_NOT_BASE64,  /* text that cannot be decoded as section 4 asks */
};

/*
 * Verifies base64 text against the document's exact bytes. *ret_identity is a digest of the key
 * that verified (by its numbers, so that the same key under two ids is one): set on GOOD only.
 */
#define KEYRING_IDENTITY_BYTES 32
int keyring_verify(const struct keyring *keyring, struct str key_id, struct str document,
                   struct str signature, enum signature_result *ret_result,
                   unsigned char ret_identity[static KEYRING_IDENTITY_BYTES])
    __attribute__((warn_unused_result, nonnull));

/* Whether that key, under that id, is still there. */
bool keyring_has(const struct keyring *keyring, struct str key_id,
                 const unsigned char identity[static KEYRING_IDENTITY_BYTES])
    __attribute__((nonnull));

#endif
