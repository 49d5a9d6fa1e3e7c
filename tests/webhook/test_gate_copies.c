/* SPDX-License-Identifier: Apache-2.0 */
/* test_gate_copies - section 4: equal documents, and more documents than have a record. */

#include <criterion/criterion.h>

#include "helper.h"

#define BASELINE "{\"kind\":\"SandboxBaseline\",\"baseline\":{}}"

/* What is only counted blocks as well: many broken documents must not lift the ceiling. */
Test(gate_copies, broken_baselines_over_the_limit_block)
{
    enum { COUNT = SNAPSHOT_MAX_INVALID_PER_NAMESPACE + 3 };
    cleanup_arena struct arena arena = {0};
    const struct policy policy = policy_defaults();
    struct helper_document *documents =
        arena_alloc(&arena, COUNT + 1, sizeof(struct helper_document));
    const struct helper_review review = {.object = HELPER_GOOD_POD};
    struct snapshot *snapshot = NULL;
    struct exchange e = {0};
    size_t listed = 0;

    cr_assert_not_null(documents);
    for (int i = 0; i < COUNT; i++)
        documents[i] = (struct helper_document){"payments", arena_format(&arena, "b%04d", i).ptr,
                                                BASELINE, 0, "it has no signature"};
    snapshot = helper_snapshot(&arena, &policy, NULL, documents);
    e = helper_exchange(&arena, snapshot, &review);
    for (size_t i = 0; i < e.decision.finding_count; i++)
        listed += e.decision.findings[i].code == GATE_CODE_BASELINE_INVALID;
    cr_expect_eq(listed, SNAPSHOT_MAX_INVALID_PER_NAMESPACE + 1);
    cr_expect(str_contains(
        helper_summary(&arena, &e.decision),
        STR("\ngate.baseline.invalid|payments/b0999|this baseline is not valid, so its ceiling is "
            "not known: it has no signature; sign it again, or delete it"
            "\ngate.baseline.invalid|payments/*|3 more baselines of this namespace are not valid, "
            "so their ceilings are not known; sign them again, or delete them\n")));
    snapshot_unref(snapshot);
}

/* A baseline can be among the documents that the program does not hold: it must not be missed, in
 * the namespace of the pod and in the gate's own. */
Test(gate_copies, documents_over_the_limit_block)
{
    static const char *const places[] = {"payments", "sandgate-system", "other"};

    for (size_t i = 0; i < 3; i++) {
        cleanup_arena struct arena arena = {0};
        const struct policy policy = policy_defaults();
        const struct snapshot_rest rest = {.namespace_name = str_of(places[i]), .valid = 4};
        const struct helper_review review = {.object = HELPER_GOOD_POD};
        struct snapshot_builder *builder = NULL;
        struct snapshot *snapshot = NULL;
        struct exchange e = {0};

        cr_assert_eq(snapshot_builder_new(&policy, (struct snapshot_keep){0}, &builder), 0);
        cr_assert_eq(snapshot_builder_add_rest(builder, &rest), 0);
        cr_assert_eq(snapshot_builder_finish(builder, &snapshot), 0);
        e = helper_exchange(&arena, snapshot, &review);
        cr_expect_eq(
            str_contains(helper_summary(&arena, &e.decision),
                         arena_format(&arena,
                                      "\ngate.baseline.invalid|%s/*|4 signed documents of this "
                                      "namespace are over its limit, and a baseline can be among "
                                      "them; delete documents that are not used any more\n",
                                      places[i])),
            i < 2);
        snapshot_unref(snapshot);
    }
}

/* Each copy of a baseline is one of `minBaselines`. */
Test(gate_copies, minimum_of_baselines_counts_objects)
{
    cleanup_arena struct arena arena = {0};
    struct policy policy = policy_defaults();
    static const struct helper_document documents[] = {{"sandgate-system", "a", BASELINE, 0, NULL},
                                                       {"sandgate-system", "b", BASELINE, 0, NULL},
                                                       {"payments", "c", BASELINE, 0, NULL},
                                                       {0}};
    const struct helper_review review = {.object = HELPER_GOOD_POD};

    for (unsigned min = 2; min <= 3; min++) {
        struct snapshot *snapshot = NULL;
        struct exchange e = {0};
        bool missing = false;

        policy.min_baselines = min;
        snapshot = helper_snapshot(&arena, &policy, NULL, documents);
        e = helper_exchange(&arena, snapshot, &review);
        missing = str_contains(helper_summary(&arena, &e.decision), STR("gate.baseline.missing"));
        cr_expect_eq(missing, min == 3);
        snapshot_unref(snapshot);
    }
}

/* Of copies in both namespaces the first by `<namespace>/<name>` as one text is named, whichever
 * namespace it is in; a copy elsewhere is not. */
Test(gate_copies, of_copies_the_first_is_named)
{
#define NAMED(wanted, ...)                                                                         \
    {                                                                                              \
        wanted,                                                                                    \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
    static const struct {
        const char *wanted;
        const char *places[4];
    } rows[] = {
        NAMED("sandgate/x", "sandgate/x"),
        NAMED("sandgate-system/z", "sandgate/a", "sandgate-system/z"),
        NAMED("sandgate/b", "sandgate/c", "sandgate/b", "other/a"),
        NAMED("sandgate-system/y", "sandgate/c", "sandgate-system/z", "sandgate-system/y", "a/a"),
    };
    const struct policy policy = policy_defaults();

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cleanup_arena struct arena arena = {0};
        const struct helper_review review = {.object = HELPER_GOOD_POD,
                                             .namespace_name = "sandgate"};
        struct helper_document documents[5] = {{0}};
        struct snapshot *snapshot = NULL;
        struct exchange e = {0};

        for (size_t j = 0; j < 4 && rows[i].places[j] != NULL; j++) {
            char *name = arena_copy(&arena, str_of(rows[i].places[j]));
            char *slash = name != NULL ? strchr(name, '/') : NULL;

            cr_assert_not_null(slash);
            *slash = '\0';
            documents[j] = (struct helper_document){
                .namespace_name = name,
                .name = slash + 1,
                .json = "{\"kind\":\"SandboxRequirements\",\"workload\":{\"skill_ref\":"
                        "\"acme/app@1.0.0\"},\"requirements\":{" HELPER_REQUIREMENTS
                        "},\"images\":[\"sha256:" HELPER_HEX_A "\"]}",
            };
        }
        snapshot = helper_snapshot(&arena, &policy, NULL, documents);
        e = helper_exchange(&arena, snapshot, &review);
        cr_expect(str_starts_with(helper_annotation(&arena, &e, "evidence"),
                                  arena_format(&arena, "%s ", rows[i].wanted)),
                  "row %zu: %s", i, helper_annotation(&arena, &e, "evidence").ptr);
        snapshot_unref(snapshot);
    }
}
