/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_POLICY_LEVEL_H
#define K8S_POLICY_LEVEL_H

/* level - how strictly a namespace is judged (gate-v1, section 2). Pure; nothing allocates or
 * fails. */

#include <stdbool.h>

#include "k8s/policy/boundary_level.h"
#include "planner/base/text.h"

/* In ascending order of strictness. 0 is not a level: a level must be set before it is compared. */
enum level {
    LEVEL_UNSET = 0,
    LEVEL_NONE,      /* no pod is judged */
    LEVEL_ANNOTATED, /* managed pods are judged */
    LEVEL_REQUIRED,  /* every pod is judged */
};

enum controllers_mode {
    CONTROLLERS_WARN = 0, /* `warn`, the default. Only denials of controllers become warnings, never
                             those of pods. */
    CONTROLLERS_NONE,
    CONTROLLERS_ENFORCE,
};

struct levels {
    enum level enforce;
    enum level warn;
    enum level audit;
    enum boundary_level boundary; /* makes no request judged that the others do not */
};

/* The values of a Namespace's labels, unparsed; absent if it does not have the label. */
struct level_labels {
    struct str enforce;
    struct str warn;
    struct str audit;
    struct str boundary;
};

/* Exactly `none`, `annotated` or `required`. False leaves *ret_level unchanged. */
bool level_read(struct str s, enum level *ret_level);

/* Static text, never NULL; "unset" for a value that is not a level. */
const char *level_text(enum level level);

/*
 * The levels of a namespace: the value of each label, or the default where the label is absent. An
 * unknown value counts as `required` for enforce, as `none` for warn and audit, and as `block` for
 * boundary. Then each level is raised to the floor. The levels of defaults and floor must be set.
 */
struct levels levels_resolve(const struct level_labels *labels, struct levels defaults,
                             struct levels floor) __attribute__((nonnull));

#endif
