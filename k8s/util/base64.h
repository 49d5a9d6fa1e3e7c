/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_UTIL_BASE64_H
#define K8S_UTIL_BASE64_H

/*
 * base64 - RFC 4648 with the standard alphabet, in canonical form (gate-v1, section 4).
 *
 * Blanks (U+0009 to U+000D, U+0020) are ignored at any position. Refused are all other characters
 * outside of the alphabet, missing or surplus padding, text after the padding, and unused bits that
 * are not zero: apart from blanks, there is one text for given bytes.
 *
 * Units      bytes.
 */

#include <stddef.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"

/* 0; -EBADMSG the text is not base64; -E2BIG it holds more than max_bytes, and what follows was not
 * checked. An empty text holds no bytes. ret_bytes must have max_bytes; it is undefined after an
 * error. */
int base64_decode(struct str text, size_t max_bytes, unsigned char *ret_bytes, size_t *ret_len)
    __attribute__((warn_unused_result, nonnull));

/* One line with padding. 0 or -ENOMEM. */
int base64_encode(struct str bytes, struct arena *arena, struct str *ret_text)
    __attribute__((warn_unused_result, nonnull));

#endif
