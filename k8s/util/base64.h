/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_UTIL_BASE64_H
#define K8S_UTIL_BASE64_H

/*
 * base64 - RFC 4648, standard alphabet, one text for one run of bytes (gate-v1, section 4).
 *
 * Blanks (U+0009 to U+000D, U+0020) are ignored wherever they stand. Everything else that is not
 * of the alphabet, missing or surplus padding, text behind the padding, and unused bits that are
 * not zero are refused: GnuTLS's own reader lets some of that pass.
 *
 * Units      bytes.
 */

#include <stddef.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"

/* 0; -EBADMSG the text is not base64; -E2BIG it is so far, but holds more than max_bytes. An empty
 * text holds no bytes. */
int base64_decode(struct str text, size_t max_bytes, unsigned char *ret_bytes, size_t *ret_len)
    __attribute__((warn_unused_result, nonnull));

/* One line with padding. */
int base64_encode(struct str bytes, struct arena *arena, struct str *ret_text)
    __attribute__((warn_unused_result, nonnull));

#endif
