/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_AUDIT_REPLAY_DIFF_H
#define WEBHOOK_AUDIT_REPLAY_DIFF_H

/*
 * replay_diff - the differences between two packets.
 *
 * Errors     0; -ENOMEM.
 * Ownership  texts are in the arena.
 */

#include <cjson/cJSON.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"

/* The path of the first member that differs, in the order of `old`: "a.list[2].code". *ret_path is
 * unchanged if none does. */
int replay_first_difference(const cJSON *old, const cJSON *again, struct arena *arena,
                            struct str *ret_path) __attribute__((warn_unused_result, nonnull));

/* A unified diff with one member or item per line: `-` the recorded packet, `+` the one planned
 * again. *ret_diff is unchanged if they are the same. */
int replay_diff(const cJSON *old, const cJSON *again, struct arena *arena, struct str *ret_diff)
    __attribute__((warn_unused_result, nonnull));

#endif
