/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_PLANNER_HELPER_H
#define TESTS_PLANNER_HELPER_H

/* What tests of the planner share: inputs that differ from a good one in one place, and plans
 * written down as one text to compare. Everything lives in the given arena. */

#include "planner/plan.h"
#include "planner/base/tree.h"

#define HELPER_MAX_CHANGES 4

#define HELPER_DIGEST "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* A member, by its dotted path from the root, and its value as JSON; NULL takes it away. */
struct change {
    const char *path;
    const char *json;
};

/* JSON of our own making to a tree in the arena. A text that is no JSON fails the test. */
cJSON *helper_tree(struct arena *arena, struct str json);

/* An input that plans to "ready", with the changes (ended by a NULL path) made to it. */
cJSON *helper_input(struct arena *arena, const struct change *changes);

/* "decision" and a line "code|message" for each finding. */
struct str helper_summary(struct arena *arena, const struct plan *plan);

/* The same of the input with these changes. */
struct str helper_plan(struct arena *arena, const struct change *changes);

/* A row of a table of findings: the changes, and what the input then plans to. */
struct helper_row {
    struct change changes[HELPER_MAX_CHANGES + 1]; /* ended by {0} */
    const char *want;                              /* as helper_summary() writes */
};

void helper_check_rows(const struct helper_row *rows, size_t count);

#define HELPER_CHECK_ROWS(rows) helper_check_rows(rows, sizeof(rows) / sizeof((rows)[0]))

/* A whole file. */
struct str helper_file(struct arena *arena, const char *path);

/* `count` times the text. */
struct str helper_repeat(struct arena *arena, const char *text, size_t count);

#endif
