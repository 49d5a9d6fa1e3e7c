/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_UTIL_CLEAN_H
#define WEBHOOK_UTIL_CLEAN_H

/*
 * clean - makes text safe to display: without control characters and bidirectional controls, and
 * cut between characters only.
 *
 * Pure. No function here allocates or fails.
 */

#include <stddef.h>

#include "planner/base/text.h"

/* In place: replaces each unsafe character with `?`. Invalid UTF-8, or a character that was cut in
 * its middle, ends the text. Returns the new length; does not add a NUL. */
size_t clean_text(char *text, size_t len);

/* The first max_characters of s. For a limit in bytes use str_cut(). */
struct str clean_cut_characters(struct str s, size_t max_characters);

#endif
