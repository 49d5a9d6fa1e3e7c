#ifndef K8S_KEYRING_H
#define K8S_KEYRING_H

/*
 * keyring - public keys by id, and whether one of them made a signature (gate-v1, section 4).
 *
 * Immutable once loaded, counted, shared by threads.
 *
 * Errors     keyring_load(): 0; -EINVAL the keyring is refused (reterr_reason: file, what, what to
 *            do; never a key's content); -ENOMEM; -EIO.
 * Ownership  keyring_unref() drops a count; NULL is allowed.
 */

#include <stdbool.h>
#include <stddef.h>

#include "planner/arena.h"
#include "planner/text.h"

#define KEYRING_MAX_KEYS 256 /* blocks in all files */
#define KEYRING_MAX_FILE_BYTES (256 * 1024)
#define KEYRING_MAX_ID_BYTES 63

struct keyring;

/* What of a refused keyring goes on counting; see keyring_reload(). */
struct keyring_report {
    bool whole;        /* false: the folder was refused as a whole */
    struct str reason; /* why; in the given arena */
};

/* Reads a folder of <key-id>.pem. reterr_reason lives in arena. */
int keyring_load(const char *folder, struct arena *arena, struct keyring **ret_keyring,
                 struct str *reterr_reason) __attribute__((warn_unused_result, nonnull));

/*
 * Reads the folder again. Where it is refused, the new keyring holds the keys that are readable
 * in both the old and the new folder and nothing else; an empty folder means no key at all.
 */
int keyring_reload(const struct keyring *old, const char *folder, struct arena *arena,
                   struct keyring **ret_keyring, struct keyring_report *ret_report)
    __attribute__((warn_unused_result, nonnull));

struct keyring *keyring_ref(const struct keyring *keyring);
void keyring_unref(const struct keyring *keyring);
size_t keyring_key_count(const struct keyring *keyring);

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

#endif
