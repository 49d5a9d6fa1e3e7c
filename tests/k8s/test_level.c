/* SPDX-License-Identifier: Apache-2.0 */
/* test_level - levels by label, default and floor (gate-v1, section 2). */
#include "k8s/policy/level.h"

#include <criterion/criterion.h>

/* The words of section 2 only: in another case, with blanks, or empty, a word is not a level. */
Test(level, only_three_exact_words_are_levels)
{
    static const struct {
        const char *text;
        enum level level; /* 0: rejected */
    } rows[] = {
        {"none", LEVEL_NONE},
        {"annotated", LEVEL_ANNOTATED},
        {"required", LEVEL_REQUIRED},
        {"", 0},
        {"None", 0},
        {" none", 0},
        {"required ", 0},
        {"requiredx", 0},
        {"require", 0},
        {"unset", 0},
        {"off", 0},
        {NULL, 0},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        enum level level = LEVEL_UNSET;

        cr_assert_eq(level_read(str_of(rows[i].text), &level), rows[i].level != 0, "%s",
                     rows[i].text);
        cr_assert_eq(level, rows[i].level, "%s", rows[i].text);
        if (rows[i].level != 0)
            cr_assert_str_eq(level_text(rows[i].level), rows[i].text);
    }
}

/* All combinations of label, default and floor, for each of the three levels. */
Test(level, level_for_each_label_default_and_floor)
{
    static const char *const labels[] = {NULL, "none", "annotated", "required", "", "yes"};

    for (size_t l = 0; l < sizeof(labels) / sizeof(labels[0]); l++) {
        for (int d = LEVEL_NONE; d <= LEVEL_REQUIRED; d++) {
            for (int f = LEVEL_NONE; f <= LEVEL_REQUIRED; f++) {
                const struct levels defaults = {(enum level)d, (enum level)d, (enum level)d,
                                                BOUNDARY_LEVEL_NONE};
                const struct levels floor = {(enum level)f, (enum level)f, (enum level)f,
                                             BOUNDARY_LEVEL_NONE};
                struct str label = str_of(labels[l]);
                struct levels got = levels_resolve(
                    &(struct level_labels){.enforce = label, .warn = label, .audit = label},
                    defaults, floor);
                int enforce = l == 0 ? d : l <= 3 ? (int)l : LEVEL_REQUIRED;
                int other = l == 0 ? d : l <= 3 ? (int)l : LEVEL_NONE;

                cr_assert_eq((int)got.enforce, enforce > f ? enforce : f);
                cr_assert_eq((int)got.warn, other > f ? other : f);
                cr_assert_eq((int)got.audit, other > f ? other : f);
            }
        }
    }
}

Test(level, enforce_warn_and_audit_are_independent)
{
    const struct levels defaults = {LEVEL_ANNOTATED, LEVEL_NONE, LEVEL_NONE, BOUNDARY_LEVEL_RECORD};
    const struct levels floor = {LEVEL_NONE, LEVEL_NONE, LEVEL_NONE, BOUNDARY_LEVEL_NONE};
    struct levels got =
        levels_resolve(&(struct level_labels){.warn = STR("required"), .audit = STR("annotated")},
                       defaults, floor);

    cr_assert_eq(got.enforce, LEVEL_ANNOTATED);
    cr_assert_eq(got.warn, LEVEL_REQUIRED);
    cr_assert_eq(got.audit, LEVEL_ANNOTATED);
    cr_assert_eq(got.boundary, BOUNDARY_LEVEL_RECORD);
}

Test(level, boundary_for_each_label_default_and_floor)
{
    static const char *const labels[] = {NULL, "none", "record", "warn", "block", "", "Block"};
    const int none = BOUNDARY_LEVEL_NONE, block = BOUNDARY_LEVEL_BLOCK;

    for (size_t l = 0; l < sizeof(labels) / sizeof(labels[0]); l++) {
        for (int d = none; d <= block; d++) {
            for (int f = none; f <= block; f++) {
                int wanted = l == 0 ? d : l <= 4 ? (int)l : block;

                cr_assert_eq((int)boundary_level_resolve(str_of(labels[l]), (enum boundary_level)d,
                                                         (enum boundary_level)f),
                             wanted > f ? wanted : f, "%zu %d %d", l, d, f);
            }
        }
        if (l >= 1 && l <= 4)
            cr_assert_str_eq(boundary_level_text((enum boundary_level)l), labels[l]);
    }
    cr_assert_str_eq(boundary_level_text(BOUNDARY_LEVEL_UNSET), "unset");
}

Test(level, controls_are_read_exactly)
{
    static const char *const names[] = {"environment", "filesystem",   "network",   "egress",
                                        "syscalls",    "capabilities", "resources", "isolation"};
    enum boundary_control control = BOUNDARY_EGRESS;

    cr_assert_eq((int)BOUNDARY_CONTROL_COUNT, 8);
    for (int i = 0; i < 8; i++) {
        cr_assert(boundary_control_read(str_of(names[i]), &control));
        cr_assert_eq((int)control, i);
        cr_assert_str_eq(boundary_control_text(control), names[i]);
    }
    cr_assert_not(boundary_control_read(STR("Network"), &control));
    cr_assert_not(boundary_control_read(STR(""), &control));
    cr_assert_eq((int)control, 7, "unchanged");
    cr_assert_str_eq(boundary_control_text(BOUNDARY_CONTROL_COUNT), "");
}
