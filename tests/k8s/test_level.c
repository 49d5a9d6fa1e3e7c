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
                const struct levels defaults = {(enum level)d, (enum level)d, (enum level)d};
                const struct levels floor = {(enum level)f, (enum level)f, (enum level)f};
                struct str label = str_of(labels[l]);
                struct levels got = levels_resolve(label, label, label, defaults, floor);
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
    const struct levels defaults = {LEVEL_ANNOTATED, LEVEL_NONE, LEVEL_NONE};
    const struct levels floor = {LEVEL_NONE, LEVEL_NONE, LEVEL_NONE};
    struct levels got =
        levels_resolve((struct str){0}, STR("required"), STR("annotated"), defaults, floor);

    cr_assert_eq(got.enforce, LEVEL_ANNOTATED);
    cr_assert_eq(got.warn, LEVEL_REQUIRED);
    cr_assert_eq(got.audit, LEVEL_ANNOTATED);
}
