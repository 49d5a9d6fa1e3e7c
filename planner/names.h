/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_NAMES_H
#define PLANNER_NAMES_H

/*
 * names - what paths, environment names and references look like (hardening-v1, sections Identity
 * and Paths and names). Beside what plan.h offers to everybody, what only the planner needs.
 */

#include <stdbool.h>

#include "planner/plan.h"

/* A segment that is `..`, split at `/` and at `\`. */
bool names_path_has_parent(struct str path);

/* Beneath base by its text: the rule of plan_path_admitted() but equality and `..`. */
bool names_path_is_beneath(struct str path, struct str base);

/* A control or bidirectional-control character, one of ( ) " \ ; or what is no UTF-8. */
bool names_path_is_unsafe(struct str path);

/* Upper-cased, a name that Runx keeps for itself. */
bool names_env_is_reserved(struct str name);

/* [A-Za-z_][A-Za-z0-9_.-]{0,63}: the name of a field that a message may show. */
bool names_field_is_plain(struct str name);

#endif
