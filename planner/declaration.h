/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_DECLARATION_H
#define PLANNER_DECLARATION_H

/*
 * declaration - what would be handed to Runx, and the ceilings that a baseline sets to it
 * (hardening-v1, sections Paths and names, Declaration and admission).
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
    bool cwd_policy_known; /* false: another value was given, cwd_policy is the default */
    bool env_given;        /* false: no env_allowlist, which is not an empty one */
    struct str_list env_allowlist;
    bool network;
    struct str_list writable_paths;
    bool require_enforcement;

    /* Each path as given, normalised, with its place in the given list. */
    const struct input_entry *given_paths;
    size_t given_path_count;

    /* The baseline's lists; a ceiling only where given. */
    bool baseline_paths_given, baseline_env_given;
    struct str_list baseline_paths, baseline_env;
};

/* 0 or -ENOMEM. */
int declaration_make(const struct input *input, struct arena *arena,
                     struct declaration *ret_declaration)
    __attribute__((warn_unused_result, nonnull));

const char *declaration_profile_text(enum declaration_profile profile);

#endif
