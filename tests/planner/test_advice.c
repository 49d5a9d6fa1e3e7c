/* SPDX-License-Identifier: Apache-2.0 */
/* test_advice - the advice for an input that is not ready. Each row has the whole text; the last
 * test checks properties for random inputs. */
#include <criterion/criterion.h>
#include <errno.h>

#include "helper.h"
#include "planner/advice.h"
#include "planner/base/buffer.h"
#include "planner/names.h"
#include "planner/packet.h"
#include "random_input.h"

#define SEEDS 20000

/* "ready", "none: MESSAGE", or the steps. */
static struct str advice_of(struct arena *arena, const cJSON *input)
{
    struct buffer b = buffer_make(arena, 1 << 20);
    struct advice advice = {0};
    struct str text = {0};

    cr_assert_eq(advice_make(input, arena, &advice), 0);
    if (advice.state == ADVICE_NEEDLESS)
        return STR("ready");
    if (advice.state == ADVICE_NONE) {
        cr_assert_not_null(advice.obstacle);
        buffer_add(&b, STR("none: "));
        buffer_add(&b, advice.obstacle->message);
        return buffer_text(&b);
    }
    cr_assert_eq(advice.state, ADVICE_GIVEN);
    cr_assert_eq(advice_text(&advice, arena, &text), 0);
    return text;
}

static void check(const struct helper_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cleanup_arena struct arena arena = {0};
        struct str text = advice_of(&arena, helper_input(&arena, rows[i].changes));

        cr_expect(str_equal(text, str_of(rows[i].want)), "row %zu: %.*s\nnot: %s", i, (int)text.len,
                  text.ptr, rows[i].want);
    }
}

#define CHECK(rows) check(rows, sizeof(rows) / sizeof((rows)[0]))
#define SIGNED " (if a signed document sets it, sign that again without it)"
#define REQUIRED "workload.requirements."

Test(advice, ready_input_needs_no_advice)
{
    static const struct helper_row rows[] = {{{{0}}, "ready"}};

    CHECK(rows);
}

Test(advice, items_outside_of_the_ceilings_are_removed)
{
    static const struct helper_row rows[] = {
        {{{REQUIRED "writable_paths", "[\"tmp/results\", \"cache\"]"},
          {"baseline", "{\"allowed_writable_paths\": [\"tmp\"]}"}},
         "take cache out of writable_paths"},
        {{{REQUIRED "env_allowlist", "[\"LANG\", \"TERM\"]"},
          {"baseline", "{\"allowed_env\": [\"LANG\"]}"}},
         "take TERM out of env_allowlist"},
        {{{REQUIRED "env_allowlist", "[\"RUNX_API_TOKEN\", \"LANG\"]"}},
         "take RUNX_API_TOKEN out of env_allowlist"},
        {{{REQUIRED "writable_paths", "[\"/etc\", \"a/../b\", \"x;y\", \"{{w}}\", \"ok\"]"}},
         "take /etc out of writable_paths; take a/../b out of writable_paths; "
         "take x;y out of writable_paths; take {{w}} out of writable_paths"},
        {{{REQUIRED "writable_paths", "[\"ok\", 7, \" \"]"}},
         "take entry 2 out of writable_paths; take entry 3 out of writable_paths"},
    };

    CHECK(rows);
}

Test(advice, a_path_is_replaced_by_the_admitted_paths_below_it)
{
    static const struct helper_row rows[] = {
        {{{REQUIRED "writable_paths", "[\"data\"]"},
          {"baseline", "{\"allowed_writable_paths\": [\"data/out\", \"data/in\", \"database\"]}"}},
         "in writable_paths write data/in, data/out instead of data"},
        {{{REQUIRED "writable_paths", "[\".\"]"},
          {"baseline", "{\"allowed_writable_paths\": [\"/srv\", \"tmp\", \"a/../b\"]}"}},
         "in writable_paths write tmp instead of ."},
    };

    CHECK(rows);
}

Test(advice, possible_secrets_are_named_by_place_only)
{
    static const struct helper_row rows[] = {
        {{{REQUIRED "env_allowlist", "[\"LANG\", \"TOKEN=hunter2\"]"}},
         "take entry 2 out of env_allowlist"},
        {{{REQUIRED "hunter2 is a name", "1"}}, "leave ? out"},
    };

    CHECK(rows);
}

Test(advice, fields_that_are_never_admitted_are_removed)
{
    static const struct helper_row rows[] = {
        {{{REQUIRED "network", "true"}, {"baseline", "{\"network_allowed\": false}"}},
         "write network: false"},
        {{{REQUIRED "network", "true"}, {REQUIRED "writable_paths", "[\"out\"]"}},
         "write network: false"},
        {{{REQUIRED "network", "\"yes\""}}, "write network: false"},
        {{{REQUIRED "require_enforcement", "false"},
          {"baseline", "{\"require_enforcement\": true}"}},
         "write require_enforcement: true"},
        {{{REQUIRED "allowed_syscalls", "[\"read\"]"},
          {REQUIRED "resource_limits", "{\"cpu\": 1}"}},
         "leave allowed_syscalls out" SIGNED "; leave resource_limits out" SIGNED},
        {{{REQUIRED "cwd_policy", "\"root\""}}, "leave cwd_policy out" SIGNED},
        {{{REQUIRED "writeable_paths", "[\"x\"]"}}, "leave writeable_paths out"},
        {{{REQUIRED "env_allowlist", "\"LANG\""}}, "write env_allowlist: []"},
    };

    CHECK(rows);
}

Test(advice, findings_that_narrowing_cannot_remove_are_named)
{
    static const struct helper_row rows[] = {
        {{{REQUIRED "source_digest", NULL}},
         "none: requirements require source_ref and source_digest"},
        {{{REQUIRED "observed_at", "\"2020-01-01T00:00:00Z\""},
          {REQUIRED "network", "true"},
          {"baseline", "{\"network_allowed\": false}"}},
         "none: requirements are stale or future-dated"},
        {{{"workload.requirements", NULL}}, "none: observed_at is required"},
        {{{"workload", "7"}}, "none: workload must be an object"},
        {{{"baseline", "{\"network\": true}"}}, "none: baseline.network is not a known field"},
    };

    CHECK(rows);
}

Test(advice, no_advice_for_an_input_that_is_not_an_object)
{
    cleanup_arena struct arena arena = {0};
    struct advice advice = {0};

    cr_assert_eq(advice_make(helper_tree(&arena, STR("[]")), &arena, &advice), -EINVAL);
    cr_assert_eq(advice.state, ADVICE_UNKNOWN);
}

/* Whether the first plan admits no more than the second: every path is at or below one of its
 * paths, every name is one of its names, and so on. A pod can narrow signed requirements in this
 * way. */
static void assert_narrower(const struct packet *a, const struct packet *b, size_t seed)
{
    cr_assert(!a->network || b->network, "seed %zu", seed);
    cr_assert(a->require_enforcement || !b->require_enforcement, "seed %zu", seed);
    cr_assert(a->env_given || !b->env_given, "seed %zu", seed);
    for (size_t i = 0; i < a->env_allowlist.count; i++)
        cr_assert(str_list_has(b->env_allowlist, a->env_allowlist.items[i]), "seed %zu", seed);
    for (size_t i = 0; i < a->writable_paths.count; i++) {
        bool admitted = false;

        for (size_t k = 0; k < b->writable_paths.count; k++)
            admitted |= plan_path_admitted(a->writable_paths.items[i], b->writable_paths.items[k]);
        cr_assert(admitted, "seed %zu: %s", seed, a->writable_paths.items[i].ptr);
    }
}

Test(advice, followed_advice_is_ready_and_never_admits_more)
{
    size_t given = 0, none = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        cleanup_arena struct arena arena = {0};
        const cJSON *input = random_input(&arena, seed);
        struct plan before = {0}, after = {0};
        struct advice advice = {0};

        cr_assert_eq(advice_make(input, &arena, &advice), 0);
        cr_assert_eq(plan_evaluate(input, PLAN_CALLER_SUPPLIED, &arena, &before), 0);
        cr_assert_eq(advice.state == ADVICE_NEEDLESS, plan_admits(&before));
        none += advice.state == ADVICE_NONE;
        if (advice.state != ADVICE_GIVEN)
            continue;
        given++;
        cr_assert_gt(advice.step_count, 0);
        cr_assert_eq(plan_evaluate(advice.input, PLAN_CALLER_SUPPLIED, &arena, &after), 0);
        cr_assert(plan_admits(&after), "seed %zu: %s", (size_t)seed, after.packet.ptr);
        assert_narrower(after.fields, before.fields, seed);
        cr_assert(!str_contains(advice_of(&arena, input), STR("hunter2")), "seed %zu",
                  (size_t)seed);
    }
    cr_expect(given > SEEDS / 50 && none > SEEDS / 50, "%zu given, %zu none", given, none);
}
