/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_POLICY_LEVEL_H
#define K8S_POLICY_LEVEL_H

/* level - what a namespace asks for (gate-v1, section 2). */

#include <stdbool.h>

#include "planner/base/text.h"

/* 0 is no level: it must be set before it is compared. In ascending order of strictness. */
enum level {
    LEVEL_UNSET = 0,
    LEVEL_NONE,      /* nothing is judged */
    LEVEL_ANNOTATED, /* managed pods are */
    LEVEL_REQUIRED,  /* every pod is */
};

enum controllers_mode {
    CONTROLLERS_WARN = 0, /* `warn`, the default; never lets a pod through, only controllers */
    CONTROLLERS_NONE,
    CONTROLLERS_ENFORCE,
};

struct levels {
    enum level enforce;
    enum level warn;
    enum level audit;
};

/* `none`, `annotated`, `required`, exactly; false leaves *ret_level alone. */
bool level_read(struct str s, enum level *ret_level);

/* Static text, never NULL. */
const char *level_text(enum level level);

/*
 * The levels of a namespace: each label's value (absent: not there), else the default; a value
 * that cannot be read counts as required for enforce, as none for warn and audit; then none is
 * lower than the floor.
 */
struct levels levels_resolve(struct str enforce, struct str warn, struct str audit,
                             struct levels defaults, struct levels floor);

#endif
