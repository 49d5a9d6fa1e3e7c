/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_DECLARATION_H
#define PLANNER_DECLARATION_H

/*
 * declaration - the sandbox declaration that Runx would get, and the ceilings that a baseline sets
 * for it (hardening-v1, sections Paths and names, Declaration and admission).
 *
 * Lists are normalised, in bytewise order, equal entries once.
 */

#include "planner/base/list.h"
#include "planner/input.h"

enum declaration_profile {
    PROFILE_NONE = 0,
    PROFILE_READONLY,
    PROFILE_WORKSPACE_WRITE,
    PROFILE_NETWORK,
};

struct declaration {
    enum declaration_profile profile;
    struct str cwd_policy;
    bool cwd_policy_known; /* false: the input has an unknown value; cwd_policy is the default then
                            */
    bool env_given;        /* false: env_allowlist is absent, which differs from empty */
    struct str_list env_allowlist;
    bool network;
    struct str_list writable_paths;
    bool require_enforcement;

    /* Each path of the input in its order, normalised, with its index there. */
    const struct input_entry *given_paths;
    size_t given_path_count;

    /* The lists of the baseline. A list that is not given sets no ceiling. */
    bool baseline_paths_given, baseline_env_given;
    struct str_list baseline_paths, baseline_env;
};

/* 0 or -ENOMEM. */
int declaration_make(const struct input *input, struct arena *arena,
                     struct declaration *ret_declaration)
    __attribute__((warn_unused_result, nonnull));

/* Static text, never NULL; "" for PROFILE_NONE. */
const char *declaration_profile_text(enum declaration_profile profile);

#endif
