/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_UTIL_DIGEST_H
#define K8S_UTIL_DIGEST_H

/*
 * digest - SHA-256 of bytes, raw and as text.
 *
 * Errors     0; -EIO GnuTLS failed; -ENOMEM.
 */

#include "planner/base/arena.h"
#include "planner/base/text.h"

#define DIGEST_BYTES 32
#define DIGEST_TEXT_BYTES (sizeof("sha256:") - 1 + 2 * DIGEST_BYTES) /* without NUL */

int digest_make(struct str bytes, unsigned char ret_digest[static DIGEST_BYTES])
    __attribute__((warn_unused_result, nonnull));

/* `sha256:` and 64 lower-case hex digits. */
int digest_make_text(struct str bytes, struct arena *arena, struct str *ret_text)
    __attribute__((warn_unused_result, nonnull));

#endif
