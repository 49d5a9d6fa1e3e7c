/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_TLS_CERTIFICATE_H
#define WEBHOOK_TLS_CERTIFICATE_H

/*
 * certificate - makes a CA and serving certificates, and reads certificates. Keys are ECDSA P-256,
 * signatures use SHA-256.
 *
 * Errors     0; -EBADMSG the CA is not a CA, or does not belong to the key; -EIO the crypto library
 *            failed; -ENOMEM.
 * Ownership  texts are in the given arena. A caller that makes or reads keys wipes it:
 *            arena_wipe().
 * Units      seconds since 1970, days of 86,400 seconds.
 * Threads    any.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "planner/base/arena.h"
#include "planner/base/list.h"
#include "planner/base/text.h"

#define CERTIFICATE_BACKDATE_SEC 300 /* for clients whose clock is slow */
#define CERTIFICATE_MAX_NAMES 16
#define CERTIFICATE_MAX_BUNDLE 16
#define CERTIFICATE_MAX_BYTES ((size_t)64 * 1024) /* of a text to be read */
#define CERTIFICATE_ID_BYTES 32

struct certificate_id {
    unsigned char bytes[CERTIFICATE_ID_BYTES]; /* SHA-256 of its DER */
};

/* A certificate and its private key, both PEM. */
struct certificate_pair {
    struct str certificate;
    struct str key;
};

/* The content of a certificate. */
struct certificate {
    struct str pem;
    struct certificate_id id;
    int64_t from_sec;
    int64_t to_sec;
    bool is_ca;
    struct str_list names; /* DNS names, at most CERTIFICATE_MAX_NAMES */
};

struct certificate_bundle {
    struct certificate items[CERTIFICATE_MAX_BUNDLE];
    size_t count;
    bool flawed; /* not all of the text could be used */
};

/* A CA for serving certificates only, valid for so many days. */
int certificate_make_ca(int64_t now_sec, uint32_t days, struct arena *arena,
                        struct certificate_pair *ret_ca)
    __attribute__((warn_unused_result, nonnull));

/* A serving certificate; it expires no later than the CA. */
int certificate_make_serving(const struct certificate_pair *ca, const struct str_list *names,
                             int64_t now_sec, uint32_t days, struct arena *arena,
                             struct certificate_pair *ret_serving)
    __attribute__((warn_unused_result, nonnull));

/* The certificates of a text, each once, in order. Sets flawed where the text is empty or too
 * large, where a part is not a certificate or is a duplicate, and where there are more than
 * CERTIFICATE_MAX_BUNDLE; these are skipped. */
int certificate_read_bundle(struct str pem, struct arena *arena,
                            struct certificate_bundle *ret_bundle)
    __attribute__((warn_unused_result, nonnull));

/* Copies both texts. 0, -ENOMEM. */
int certificate_pair_copy(const struct certificate_pair *pair, struct arena *arena,
                          struct certificate_pair *ret_copy)
    __attribute__((warn_unused_result, nonnull));

/* Whether the key belongs to the certificate. False where one of them cannot be read. */
bool certificate_has_key(struct str certificate_pem, struct str key_pem);

/* Whether the CA signed the certificate; dates are ignored. */
bool certificate_is_signed(struct str certificate_pem, struct str ca_pem);

static inline bool certificate_same(const struct certificate_id *a, const struct certificate_id *b)
{
    return memcmp(a->bytes, b->bytes, CERTIFICATE_ID_BYTES) == 0;
}

/* NULL where it is not in the bundle. */
const struct certificate *certificate_find(const struct certificate_bundle *bundle,
                                           const struct certificate_id *id);

#endif
