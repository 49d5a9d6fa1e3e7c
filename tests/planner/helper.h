/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_PLANNER_HELPER_H
#define TESTS_PLANNER_HELPER_H

/* helper - for tests of the planner: inputs that differ from a valid one in one place, and plans as
 * one text to compare. All results are allocated in the given arena. */

#include "planner/plan.h"
#include "planner/base/tree.h"

#define HELPER_MAX_CHANGES 4

#define HELPER_DIGEST "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* A member by its dotted path from the root, and its new value as JSON; NULL removes it. */
struct change {
    const char *path;
    const char *json;
};

/* Reads trusted JSON into a tree in the arena. Invalid JSON fails the test. */
cJSON *helper_tree(struct arena *arena, struct str json);

/* An input whose plan is "ready", with these changes. The list ends with a NULL path. */
cJSON *helper_input(struct arena *arena, const struct change *changes);

/* "decision" and a line "code|message" for each finding. */
struct str helper_summary(struct arena *arena, const struct plan *plan);

/* The summary of the plan of helper_input() with these changes. */
struct str helper_plan(struct arena *arena, const struct change *changes);

/* A row of a table of findings: the changes, and the expected plan. */
struct helper_row {
    struct change changes[HELPER_MAX_CHANGES + 1]; /* ends with {0} */
    const char *want;                              /* as helper_summary() writes */
};

void helper_check_rows(const struct helper_row *rows, size_t count);

#define HELPER_CHECK_ROWS(rows) helper_check_rows(rows, sizeof(rows) / sizeof((rows)[0]))

/* The contents of a file. */
struct str helper_file(struct arena *arena, const char *path);

/* The text, repeated `count` times. */
struct str helper_repeat(struct arena *arena, const char *text, size_t count);

#endif
