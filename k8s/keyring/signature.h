/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_KEYRING_SIGNATURE_H
#define K8S_KEYRING_SIGNATURE_H

/*
 * signature - one public key; verifies signatures with it (gate-v1, section 4).
 *
 * Supported keys and signatures:
 *   Ed25519                        pure, 64 bytes
 *   ECDSA P-256 with SHA-256,      strict DER: one encoding for each pair of numbers
 *         P-384 with SHA-384
 *   RSA of 2,048 bits or more,     SHA-256; PKCS#1 v1.5 or PSS (MGF1 with SHA-256, salt of 32
 *         RSA-PSS                  bytes); a key of type RSA-PSS: PSS only
 * Refused are keys for which anybody can sign: RSA exponents that are even, below 3 or over
 * 256 bits, Ed25519 points of small order. The modulus is not examined.
 *
 * Errors     -EBADMSG the key cannot be read or is of an unsupported kind (*reterr_what: static
 *            text with the cause and the remedy), -EIO the crypto library failed, -ENOMEM. A
 *            signature that does not verify is a result, not an error.
 * Threads    verifying does not change a key; any number of threads can use it at once.
 */

#include <stdbool.h>
#include <stddef.h>

#include "planner/base/text.h"

#define SIGNATURE_MIN_RSA_BITS 2048
#define SIGNATURE_MAX_BYTES 4096 /* as long as a signature by an RSA key of 32,768 bits */
#define SIGNATURE_PSS_SALT_BYTES 32
#define SIGNATURE_IDENTITY_BYTES 32

struct signature_key;

/* der: a SubjectPublicKeyInfo without trailing bytes. */
int signature_key_read(struct str der, struct signature_key **ret_key, const char **reterr_what)
    __attribute__((warn_unused_result, nonnull));
void signature_key_free(struct signature_key *key);

/* SHA-256 of the kind and the numbers of the key; equal for RSA and RSA-PSS keys with the same
 * numbers. SIGNATURE_IDENTITY_BYTES, valid as long as the key. */
const unsigned char *signature_key_identity(const struct signature_key *key)
    __attribute__((nonnull));

int signature_verify(const struct signature_key *key, struct str document, struct str signature,
                     bool *ret_good) __attribute__((warn_unused_result, nonnull));

#endif
