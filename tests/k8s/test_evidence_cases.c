/* SPDX-License-Identifier: Apache-2.0 */
/* test_evidence_cases - every row of tests/cases/index.json about signatures. */
#include <criterion/criterion.h>
#include <errno.h>

#include "planner/base/tree.h"
#include "tests/k8s/evidence_helper.h"

#define SIGNATURE_ROWS 55

static struct arena arena;

static void done(void)
{
    arena_release(&arena);
}

TestSuite(evidence_cases, .fini = done);

/* `valid release`, `invalid` or `keyring-refused`. */
static struct str outcome(struct str keyring_folder, struct str input)
{
    struct str path = helper_text(&arena, "%s/cases/%s", TESTS_DIR, keyring_folder.ptr);
    struct policy policy = policy_defaults();
    struct keyring *keyring = NULL;
    struct evidence *evidence = NULL;
    struct evidence_source source = {0};
    struct str reason = {0};
    struct str text = {0};
    int r = keyring_load(path.ptr, &arena, &keyring, &reason);

    if (r == -EINVAL)
        return STR("keyring-refused");
    cr_assert_eq(r, 0);
    path = helper_text(&arena, "%s/cases/%s", TESTS_DIR, input.ptr);
    source = helper_source(&arena, helper_bytes(&arena, path.ptr));
    cr_assert_eq(evidence_make(&source, keyring, &policy, &evidence), 0);
    text = helper_text(&arena, "%s", evidence_state_text(evidence->state));
    for (size_t i = 0; i < evidence->key_ids.count; i++)
        text = helper_text(&arena, "%s %s", text.ptr, evidence->key_ids.items[i].ptr);
    cr_expect_eq(str_present(evidence->reason), evidence->state != EVIDENCE_VALID, "%s", input.ptr);
    evidence_unref(evidence);
    keyring_unref(keyring);
    return text;
}

static bool is_expected(const cJSON *expect, struct str got)
{
    struct str text = tree_get_text(expect, "result");
    const cJSON *id = NULL;

    cJSON_ArrayForEach(id, tree_get(expect, "key_ids")) text =
        helper_text(&arena, "%s %s", text.ptr, id->valuestring);
    return str_equal(text, got);
}

Test(evidence_cases, every_signature_row_comes_out_right)
{
    struct str path = helper_text(&arena, "%s/cases/index.json", TESTS_DIR);
    const cJSON *index = helper_document(&arena, helper_bytes(&arena, path.ptr));
    const cJSON *row = NULL;
    size_t rows = 0;

    cJSON_ArrayForEach(row, index)
    {
        const cJSON *any = tree_get(row, "expect_any");
        const cJSON *expect = NULL;
        struct str got = {0};
        bool right = false;

        if (!str_equal(tree_get_text(row, "how"), STR("signature")))
            continue;
        got = outcome(tree_get_text(row, "keyring"), tree_get_text(row, "input"));
        right = any == NULL && is_expected(tree_get(row, "expect"), got);
        cJSON_ArrayForEach(expect, any) right = right || is_expected(expect, got);
        cr_expect(right, "%s: %s", tree_get_text(row, "input").ptr, got.ptr);
        rows++;
    }
    cr_expect_eq(rows, SIGNATURE_ROWS);
}
