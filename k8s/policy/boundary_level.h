/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_POLICY_BOUNDARY_LEVEL_H
#define K8S_POLICY_BOUNDARY_LEVEL_H

/*
 * boundary_level - what follows from reading a pod's own spec, and the controls that it is read for
 * (boundary-v1, sections 2 and 4). Pure; nothing allocates or fails.
 */

#include <stdbool.h>

#include "planner/base/text.h"

/* In ascending order. 0 is not a level: a level must be set before it is compared. */
enum boundary_level {
    BOUNDARY_LEVEL_UNSET = 0,
    BOUNDARY_LEVEL_NONE,   /* the spec is not read */
    BOUNDARY_LEVEL_RECORD, /* the audit annotation */
    BOUNDARY_LEVEL_WARN,   /* and warnings */
    BOUNDARY_LEVEL_BLOCK,  /* what contradicts the declaration blocks */
};

/* Exactly one of the four words. False leaves *ret_level unchanged. */
bool boundary_level_read(struct str s, enum boundary_level *ret_level);

/* Static text, never NULL; "unset" for a value that is not a level. */
const char *boundary_level_text(enum boundary_level level);

/* The level of a namespace: its label, or the default where it has none; not below the floor. A
 * label that cannot be read counts as `block`. The default and the floor must be set. */
enum boundary_level boundary_level_resolve(struct str label, enum boundary_level standard,
                                           enum boundary_level floor);

/* In the order of section 2. X(name, text) */
#define BOUNDARY_CONTROLS(X)                                                                       \
    X(ENVIRONMENT, "environment")                                                                  \
    X(FILESYSTEM, "filesystem")                                                                    \
    X(NETWORK, "network")                                                                          \
    X(EGRESS, "egress")                                                                            \
    X(SYSCALLS, "syscalls")                                                                        \
    X(CAPABILITIES, "capabilities")                                                                \
    X(RESOURCES, "resources")                                                                      \
    X(ISOLATION, "isolation")

enum boundary_control {
#define X(name, text) BOUNDARY_##name,
    BOUNDARY_CONTROLS(X)
#undef X
        BOUNDARY_CONTROL_COUNT
};

/* A set of controls: one bit for each. */
static inline unsigned boundary_control_bit(enum boundary_control control)
{
    return 1U << control;
}

/* Compared exactly. False leaves *ret_control unchanged. */
bool boundary_control_read(struct str s, enum boundary_control *ret_control);

/* Static text, never NULL; "" for a value that is not a control. */
const char *boundary_control_text(enum boundary_control control);

#endif
