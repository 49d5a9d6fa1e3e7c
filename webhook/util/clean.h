/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_UTIL_CLEAN_H
#define WEBHOOK_UTIL_CLEAN_H

/*
 * clean - text as a terminal may show it: no control and no bidirectional-control characters, cut
 * only between characters. Pure; no function here allocates or fails.
 */

#include <stddef.h>

#include "planner/base/text.h"

/* In place: each character that must not be shown becomes `?`; what is no UTF-8, or was cut in a
 * character's middle, ends the text. Returns the new length, and puts no NUL behind it. */
size_t clean_text(char *text, size_t len);

/* The first max_characters of s. For a limit in bytes use str_cut(). */
struct str clean_cut_characters(struct str s, size_t max_characters);

#endif
