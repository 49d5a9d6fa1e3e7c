/* SPDX-License-Identifier: Apache-2.0 */
/* test_random - properties that hold for every input, checked with many random inputs. The redacted
 * text is read by the strict reader, as `replay` does. */
#include <criterion/criterion.h>

#include "helper.h"
#include "k8s/document/document.h"
#include "planner/base/buffer.h"
#include "planner/packet.h"
#include "random_input.h"

#define SEEDS 4000

static struct plan planned(struct arena *arena, const cJSON *input)
{
    struct plan plan = {0};

    cr_assert_eq(plan_evaluate(input, PLAN_CALLER_SUPPLIED, arena, &plan), 0);
    return plan;
}

static cJSON *read_back(struct arena *arena, struct str json)
{
    const struct document_options options = {.syntax = DOCUMENT_JSON, .rules = DOCUMENT_OWN};
    struct document_error error = {0};
    cJSON *tree = NULL;

    cr_assert_eq(document_read(json, &options, arena, &tree, &error), 0, "%zu:%zu: %s in %s",
                 error.line, error.column, error.what, json.ptr);
    return tree;
}

Test(random, ready_has_no_finding_and_is_admitted)
{
    size_t ready = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        cleanup_arena struct arena arena = {0};
        struct plan plan = planned(&arena, random_input(&arena, seed));

        cr_assert_eq(plan_admits(&plan), plan.finding_count == 0 && plan.fields->admitted);
        cr_assert_eq(plan_admits(&plan), str_contains(plan.packet, STR("\"status\":\"pass\"")));
        ready += plan_admits(&plan) ? 1 : 0;
    }
    cr_expect(ready > SEEDS / 100 && ready < SEEDS / 2, "%zu ready: chance has lost its balance",
              ready);
}

Test(random, findings_are_sorted_and_unique)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        cleanup_arena struct arena arena = {0};
        struct plan plan = planned(&arena, random_input(&arena, seed));

        for (size_t i = 1; i < plan.finding_count; i++) {
            const struct plan_finding *a = &plan.findings[i - 1], *b = &plan.findings[i];

            cr_assert(a->code < b->code ||
                      (a->code == b->code && str_compare(a->message, b->message) < 0));
        }
    }
}

Test(random, the_same_input_gives_the_same_bytes)
{
    for (uint64_t seed = 0; seed < SEEDS / 8; seed++) {
        cleanup_arena struct arena arena = {0};
        const cJSON *input = random_input(&arena, seed);

        cr_assert(str_equal(planned(&arena, input).packet, planned(&arena, input).packet));
    }
}

Test(random, the_redacted_input_plans_to_the_same_packet)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        cleanup_arena struct arena arena = {0};
        const cJSON *input = random_input(&arena, seed);
        struct str redacted = {0}, again = {0};
        const cJSON *tree = NULL;

        cr_assert_eq(plan_input_write(input, &arena, &redacted), 0);
        tree = read_back(&arena, redacted);
        cr_assert_str_eq(planned(&arena, tree).packet.ptr, planned(&arena, input).packet.ptr,
                         "seed %zu: %s", (size_t)seed, redacted.ptr);
        cr_assert(!str_contains(redacted, STR("hunter2")), "seed %zu: %s", (size_t)seed,
                  redacted.ptr);
        cr_assert_eq(plan_input_write(tree, &arena, &again), 0);
        cr_assert_str_eq(again.ptr, redacted.ptr, "seed %zu", (size_t)seed);
    }
}

Test(random, a_shortened_packet_fits_and_is_still_a_packet)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        cleanup_arena struct arena arena = {0};
        struct plan plan = planned(&arena, random_input(&arena, seed));
        uint64_t state = seed;
        size_t max = 4096 + random_below(&state, 16384);
        struct str packet = {0};
        const cJSON *profile = NULL;

        cr_assert_eq(plan_packet_fit(&plan, max, &arena, &packet), 0, "seed %zu", (size_t)seed);
        cr_assert_leq(buffer_audit_size(packet), max);
        cr_assert_eq(packet.ptr == plan.packet.ptr, buffer_audit_size(plan.packet) <= max);
        profile = tree_get(read_back(&arena, packet), "hardening_profile");
        cr_assert(str_equal(tree_get_text(profile, "schema"), STR("runx.hardening.v1")));
        cr_assert(str_equal(tree_get_text(profile, "decision"),
                            str_of(plan_decision_text(plan.decision))));
        cr_assert(tree_is(tree_get(tree_get(profile, "validation"), "findings"), cJSON_Array));
    }
}
