/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_AUDIT_REPLAY_DIFF_H
#define WEBHOOK_AUDIT_REPLAY_DIFF_H

/*
 * replay_diff - how two packets differ.
 *
 * Errors     0; -ENOMEM.
 * Ownership  texts lie in the arena.
 */

#include <cjson/cJSON.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"

/* The first member, in the order of `old`, that differs, with its path: "a.list[2].code". *ret_path
 * stays as it is where none does. */
int replay_first_difference(const cJSON *old, const cJSON *again, struct arena *arena,
                            struct str *ret_path) __attribute__((warn_unused_result, nonnull));

/* Unified, `-` what was recorded, `+` what was made again; a member or item a line. Absent where
 * they are the same. */
int replay_diff(const cJSON *old, const cJSON *again, struct arena *arena, struct str *ret_diff)
    __attribute__((warn_unused_result, nonnull));

#endif
