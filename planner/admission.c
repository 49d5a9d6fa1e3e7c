/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admission - predicts what Runx's admission answers to a declaration.
 */
#include "planner/admission.h"

#include <assert.h>
#include <errno.h>

#include "planner/base/buffer.h"
#include "planner/names.h"

#define REASON_MAX_BYTES ((size_t)(PLAN_MAX_ITEMS + 1) * (PLAN_MAX_TEXT_BYTES + 2))

/* Adds a reason: the sentence and after it, joined by commas, the items of the list for which
 * refused() is true. Adds nothing where there are none. */
static int refuse_listed(struct admission *admission, struct arena *arena, struct str sentence,
                         struct str_list list, bool (*refused)(struct str))
{
    struct buffer reason = buffer_make(arena, REASON_MAX_BYTES);
    size_t count = 0;

    for (size_t i = 0; i < list.count; i++) {
        if (!refused(list.items[i]))
            continue;
        buffer_add(&reason, count++ == 0 ? sentence : STR(", "));
        buffer_add(&reason, list.items[i]);
    }
    if (count == 0)
        return 0;
    assert(admission->reason_count < ADMISSION_MAX_REASONS);
    admission->reasons[admission->reason_count] = buffer_text(&reason);
    return str_present(admission->reasons[admission->reason_count++]) ? 0 : -ENOMEM;
}

int admission_judge(const struct declaration *declaration, struct arena *arena,
                    struct admission *ret_admission)
{
    struct admission admission = {0};
    int r =
        refuse_listed(&admission, arena,
                      STR("sandbox env_allowlist contains reserved runx environment variable(s): "),
                      declaration->env_allowlist, names_env_is_reserved);

    if (r < 0)
        return r;
    if (declaration->profile == PROFILE_WORKSPACE_WRITE) {
        r = refuse_listed(&admission, arena,
                          STR("workspace-write sandbox has unsafe writable path(s): "),
                          declaration->writable_paths, plan_path_has_parent);
        if (r < 0)
            return r;
    }
    if (declaration->profile == PROFILE_NETWORK && declaration->writable_paths.count > 0)
        admission.reasons[admission.reason_count++] =
            STR("network sandbox cannot declare writable paths; use unrestricted-local-dev for "
                "combined local write and network access");
    if (admission.reason_count == 0) {
        struct str text = arena_format(arena, "sandbox profile '%s' admitted",
                                       declaration_profile_text(declaration->profile));

        if (!str_present(text))
            return -ENOMEM;
        admission.reasons[admission.reason_count++] = text;
        admission.allowed = true;
    }
    *ret_admission = admission;
    return 0;
}
