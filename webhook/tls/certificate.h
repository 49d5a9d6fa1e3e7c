/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_TLS_CERTIFICATE_H
#define WEBHOOK_TLS_CERTIFICATE_H

/*
 * certificate - makes a CA and serving certificates, and says what stands in a certificate. ECDSA
 * P-256 with SHA-256 throughout.
 *
 * Errors     0; -EBADMSG a CA that is no CA, or not with that key; -EIO the crypto library failed;
 *            -ENOMEM.
 * Ownership  texts lie in the given arena: who makes or reads keys wipes it, arena_wipe().
 * Units      seconds since 1970, days of 86,400 seconds.
 * Threads    any.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "planner/base/list.h"
#include "planner/base/arena.h"
#include "planner/base/text.h"

#define CERTIFICATE_BACKDATE_SEC 300 /* for clocks that are behind ours */
#define CERTIFICATE_MAX_NAMES 16
#define CERTIFICATE_MAX_BUNDLE 16
#define CERTIFICATE_MAX_BYTES ((size_t)64 * 1024) /* of a text that is read */
#define CERTIFICATE_ID_BYTES 32

struct certificate_id {
    unsigned char bytes[CERTIFICATE_ID_BYTES]; /* SHA-256 of its DER */
};

/* A certificate and its private key, both PEM. */
struct certificate_pair {
    struct str certificate;
    struct str key;
};

/* What stands in a certificate. */
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
    bool flawed;
};

/* A CA for serving certificates and nothing else, valid for so many days from now on. */
int certificate_make_ca(int64_t now_sec, uint32_t days, struct arena *arena,
                        struct certificate_pair *ret_ca)
    __attribute__((warn_unused_result, nonnull));

/* A serving certificate; it ends no later than the CA does. */
int certificate_make_serving(const struct certificate_pair *ca, const struct str_list *names,
                             int64_t now_sec, uint32_t days, struct arena *arena,
                             struct certificate_pair *ret_serving)
    __attribute__((warn_unused_result, nonnull));

/* The certificates of a text, each once, in order. What is none is passed over: flawed says so, and
 * where there were more than can be kept. */
int certificate_read_bundle(struct str pem, struct arena *arena,
                            struct certificate_bundle *ret_bundle)
    __attribute__((warn_unused_result, nonnull));

/* Whether the key is the certificate's. False for what cannot be read. */
bool certificate_has_key(struct str certificate_pem, struct str key_pem);

/* Whether the CA's key made the certificate, with dates left aside. */
bool certificate_is_signed(struct str certificate_pem, struct str ca_pem);

static inline bool certificate_same(const struct certificate_id *a, const struct certificate_id *b)
{
    return memcmp(a->bytes, b->bytes, CERTIFICATE_ID_BYTES) == 0;
}

/* NULL where it is not in. */
const struct certificate *certificate_find(const struct certificate_bundle *bundle,
                                           const struct certificate_id *id);

#endif
