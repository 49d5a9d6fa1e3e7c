/* SPDX-License-Identifier: Apache-2.0 */
/* test_golden - every golden pair of the contract gives its packet byte for byte, also if it is
 * planned from its redacted input. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>

#include "helper.h"

#define GOLDEN_PAIRS                                                                               \
    101 /* the number of pairs in the contract, so that a missing file is noticed */

static struct str planned(struct arena *arena, const cJSON *input)
{
    struct plan plan = {0};

    cr_assert_eq(plan_evaluate(input, PLAN_CALLER_SUPPLIED, arena, &plan), 0);
    return plan.packet;
}

static void check_pair(const char *path)
{
    cleanup_arena struct arena arena = {0};
    cJSON *pair = helper_tree(&arena, helper_file(&arena, path));
    const cJSON *input = tree_get(pair, "input");
    char *want = cJSON_PrintUnformatted(tree_get(pair, "packet"));
    struct str redacted = {0};

    cr_assert_not_null(want);
    cr_expect_str_eq(planned(&arena, input).ptr, want, "%s", path);
    cr_assert_eq(plan_input_write(input, &arena, &redacted), 0);
    cr_expect_str_eq(planned(&arena, helper_tree(&arena, redacted)).ptr, want, "%s, redacted",
                     path);
    cr_expect(!str_contains(redacted, STR("hunter2")), "%s shows a secret", path);
    cJSON_free(want);
}

Test(golden, every_pair_is_met_byte_for_byte)
{
    DIR *dir = opendir(TESTS_DIR "/golden");
    size_t count = 0;

    cr_assert_not_null(dir);
    for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        char path[4096];
        int n = snprintf(path, sizeof(path), TESTS_DIR "/golden/%s", entry->d_name);

        cr_assert(n > 0 && (size_t)n < sizeof(path));
        if (entry->d_name[0] == '.')
            continue;
        check_pair(path);
        count++;
    }
    (void)closedir(dir);
    cr_assert_eq(count, GOLDEN_PAIRS);
}
