/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_KEYRING_SIGNATURE_H
#define K8S_KEYRING_SIGNATURE_H

/*
 * signature - one public key, and whether it made a signature (gate-v1, section 4).
 *
 * Kinds of keys and signatures, and no others:
 *   Ed25519                        pure, 64 bytes
 *   ECDSA P-256 with SHA-256,      strict DER: one spelling for each pair of numbers
 *         P-384 with SHA-384
 *   RSA of 2,048 bits or more,     SHA-256; PKCS#1 v1.5 or PSS (MGF1 with SHA-256, salt of 32
 *         RSA-PSS                  bytes); a key of the type RSA-PSS makes PSS only
 *
 * Errors     -EBADMSG the key cannot be read or is of another kind (*reterr_what, static text, says
 *            what is wrong and what to do), -EIO the crypto library failed. A signature that does
 *            not verify is no error.
 * Threads    a key is not changed by verifying; any number of threads may use it.
 */

#include <stdbool.h>
#include <stddef.h>

#include "planner/base/text.h"

#define SIGNATURE_MIN_RSA_BITS 2048
#define SIGNATURE_MAX_BYTES 4096 /* an RSA key of 32,768 bits would fill it */
#define SIGNATURE_PSS_SALT_BYTES 32
#define SIGNATURE_IDENTITY_BYTES 32

struct signature_key;

/* der: a SubjectPublicKeyInfo, and nothing behind it. */
int signature_key_read(struct str der, struct signature_key **ret_key, const char **reterr_what)
    __attribute__((warn_unused_result, nonnull));
void signature_key_free(struct signature_key *key);

/* SHA-256 over kind and numbers of the key, the same for RSA and RSA-PSS keys of one modulus. */
const unsigned char *signature_key_identity(const struct signature_key *key)
    __attribute__((nonnull));

int signature_verify(const struct signature_key *key, struct str document, struct str signature,
                     bool *ret_good) __attribute__((warn_unused_result, nonnull));

#endif
