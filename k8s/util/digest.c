/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest - SHA-256 by GnuTLS.
 */
#include "k8s/util/digest.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

int digest_make(struct str bytes, unsigned char ret_digest[static DIGEST_BYTES])
{
    unsigned char digest[DIGEST_BYTES] = {0};

    if (gnutls_hash_fast(GNUTLS_DIG_SHA256, bytes.len > 0 ? bytes.ptr : "", bytes.len, digest) < 0)
        return -EIO;
    memcpy(ret_digest, digest, sizeof(digest));
    return 0;
}

int digest_make_text(struct str bytes, struct arena *arena, struct str *ret_text)
{
    const struct str prefix = STR("sha256:");
    unsigned char digest[DIGEST_BYTES] = {0};
    const gnutls_datum_t data = {.data = digest, .size = sizeof(digest)};
    size_t hex_bytes = DIGEST_TEXT_BYTES + 1 - prefix.len; /* with NUL */
    int r = digest_make(bytes, digest);
    char *text = NULL;

    if (r < 0)
        return r;
    text = arena_alloc(arena, DIGEST_TEXT_BYTES + 1, 1);
    if (text == NULL)
        return -ENOMEM;
    memcpy(text, prefix.ptr, prefix.len);
    if (gnutls_hex_encode(&data, text + prefix.len, &hex_bytes) < 0)
        return -EIO;
    *ret_text = (struct str){.ptr = text, .len = DIGEST_TEXT_BYTES};
    return 0;
}
