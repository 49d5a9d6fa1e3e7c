/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_NAMES_H
#define PLANNER_NAMES_H

/*
 * names - checks of paths, environment names and references (hardening-v1, sections Identity and
 * Paths and names) that only the planner needs. plan.h declares the others.
 */

#include <stdbool.h>

#include "planner/plan.h"

/* Whether path is below base, by its text. plan_path_admitted() also admits base itself, and
 * refuses
 * `..`. */
bool names_path_is_below(struct str path, struct str base);

/* Whether it has a control character, a bidirectional control, one of ( ) " \ ; or invalid UTF-8.
 */
bool names_path_is_unsafe(struct str path);

/* Whether Runx reserves the name, compared in upper case. */
bool names_env_is_reserved(struct str name);

/* [A-Za-z_][A-Za-z0-9_.-]{0,63}: messages show such a name of a field. */
bool names_field_is_plain(struct str name);

#endif
