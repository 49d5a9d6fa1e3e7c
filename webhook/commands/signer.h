/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_COMMANDS_SIGNER_H
#define WEBHOOK_COMMANDS_SIGNER_H

/*
 * signer - a private key that signs evidence (gate-v1, section 4): Ed25519, ECDSA P-256 with
 * SHA-256 and P-384 with SHA-384, RSA of 2,048 bits or more with SHA-256 (PKCS#1 v1.5; a key of
 * the type RSA-PSS makes PSS with a salt of 32 bytes).
 *
 * Errors     0; -EBADMSG: the key cannot be read, or is of another type; -EACCES: it is encrypted,
 *            and the passphrase is missing or wrong. *reterr_what, a static text, says what to do.
 *            -EIO: the crypto library failed; -ENOMEM.
 * Ownership  signer_free(NULL) is allowed. Key and passphrase are not copied anywhere else; the
 *            caller wipes the text of both.
 */

#include <stdbool.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"

#define SIGNER_MAX_KEY_BYTES ((size_t)64 * 1024)

struct signer;

/* Whether a PEM text is an encrypted PKCS#8 key. */
bool signer_needs_passphrase(struct str pem);

/* passphrase: terminated by NUL, or NULL. */
int signer_read(struct str pem, const char *passphrase, struct signer **ret_signer,
                const char **reterr_what) __attribute__((warn_unused_result, nonnull(3, 4)));
void signer_free(struct signer *signer);
static inline void signer_free_pointer(struct signer **signer)
{
    signer_free(*signer);
}
#define cleanup_signer __attribute__((cleanup(signer_free_pointer)))

/* The bytes of the signature. They are verified with the public key before they are returned. */
int signer_sign(const struct signer *signer, struct str document, struct arena *arena,
                struct str *ret_signature, const char **reterr_what)
    __attribute__((warn_unused_result, nonnull));

/* The public key: a SubjectPublicKeyInfo in DER. */
struct str signer_public_der(const struct signer *signer);

#endif
