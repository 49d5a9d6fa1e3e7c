/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/policy/level.h"

bool level_read(struct str s, enum level *ret_level)
{
    for (int l = LEVEL_NONE; l <= LEVEL_REQUIRED; l++) {
        if (str_present(s) && str_equal(s, str_of(level_text((enum level)l)))) {
            *ret_level = (enum level)l;
            return true;
        }
    }
    return false;
}

const char *level_text(enum level level)
{
    switch (level) {
    case LEVEL_NONE:
        return "none";
    case LEVEL_ANNOTATED:
        return "annotated";
    case LEVEL_REQUIRED:
        return "required";
    case LEVEL_UNSET:
        break;
    }
    return "unset";
}

static enum level resolve(struct str label, enum level unreadable, enum level standard,
                          enum level floor)
{
    enum level level = standard;

    if (str_present(label) && !level_read(label, &level))
        level = unreadable;
    return level > floor ? level : floor;
}

struct levels levels_resolve(struct str enforce, struct str warn, struct str audit,
                             struct levels defaults, struct levels floor)
{
    return (struct levels){
        .enforce = resolve(enforce, LEVEL_REQUIRED, defaults.enforce, floor.enforce),
        .warn = resolve(warn, LEVEL_NONE, defaults.warn, floor.warn),
        .audit = resolve(audit, LEVEL_NONE, defaults.audit, floor.audit),
    };
}
