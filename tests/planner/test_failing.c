/* SPDX-License-Identifier: Apache-2.0 */
/* test_failing - the nth allocation fails, for every n: the result is an error, no output is
 * written, and no plan admits anything. */
#include <criterion/criterion.h>
#include <errno.h>

#include "helper.h"
#include "planner/advice.h"
#include "planner/base/buffer.h"
#include "random_input.h"

#define SEEDS 40

void *__real_arena_alloc(struct arena *arena, size_t count, size_t size);
void *__wrap_arena_alloc(struct arena *arena, size_t count, size_t size);
char *__wrap_arena_alloc_text(struct arena *arena, size_t count);

static size_t countdown; /* 0: no allocation fails */

void *__wrap_arena_alloc(struct arena *arena, size_t count, size_t size)
{
    if (countdown > 0 && --countdown == 0)
        return NULL;
    return __real_arena_alloc(arena, count, size);
}

char *__wrap_arena_alloc_text(struct arena *arena, size_t count)
{
    return __wrap_arena_alloc(arena, count, 1);
}

/* A function under test: returns 0 or a negative errno, and sets whether it wrote a result. */
struct attempt {
    int result;
    bool written;
};

static struct attempt evaluate(const cJSON *input, struct arena *arena)
{
    struct plan plan = {0};
    int r = plan_evaluate(input, PLAN_CALLER_SUPPLIED, arena, &plan);

    cr_assert(r == 0 || !plan_admits(&plan));
    return (struct attempt){r, str_present(plan.packet)};
}

static struct attempt redact(const cJSON *input, struct arena *arena)
{
    struct str json = {0};
    int r = plan_input_write(input, arena, &json);

    return (struct attempt){r, str_present(json)};
}

static struct attempt advise(const cJSON *input, struct arena *arena)
{
    struct advice advice = {0};
    struct str text = STR("unset");
    int r = advice_make(input, arena, &advice);

    if (r == 0)
        r = advice_text(&advice, arena, &text);
    return (struct attempt){r, !str_equal(text, STR("unset"))};
}

static struct attempt check_requirements(const cJSON *input, struct arena *arena)
{
    struct str problem = STR("unset");
    int r = plan_check_requirements(input, arena, &problem);

    return (struct attempt){r, !str_equal(problem, STR("unset"))};
}

static struct attempt check_baseline(const cJSON *input, struct arena *arena)
{
    struct str problem = STR("unset");
    int r = plan_check_baseline(input, arena, &problem);

    return (struct attempt){r, !str_equal(problem, STR("unset"))};
}

static void sweep(struct attempt (*attempt)(const cJSON *, struct arena *), const cJSON *input)
{
    struct attempt a = {.result = -1};
    size_t nth = 0;

    while (a.result != 0) {
        cleanup_arena struct arena arena = {0};

        countdown = ++nth;
        a = attempt(input, &arena);
        if (a.result != 0)
            cr_assert_eq(a.result, -ENOMEM, "allocation %zu", nth);
        cr_assert_eq(a.written, a.result == 0, "allocation %zu", nth);
        /* there was no nth allocation: all have failed once */
        cr_assert_eq(countdown > 0, a.result == 0, "allocation %zu is not looked at", nth);
    }
    countdown = 0;
    cr_expect_gt(nth, 1);
}

static void sweep_all(struct attempt (*attempt)(const cJSON *, struct arena *))
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        cleanup_arena struct arena arena = {0};

        sweep(attempt, random_input(&arena, seed));
    }
}

Test(failing, a_plan_is_complete_or_an_error)
{
    sweep_all(evaluate);
}

Test(failing, a_redacted_input_is_complete_or_an_error)
{
    sweep_all(redact);
}

Test(failing, an_advice_is_complete_or_an_error)
{
    sweep_all(advise);
}

Test(failing, out_of_memory_does_not_make_an_object_valid)
{
    sweep_all(check_requirements);
    sweep_all(check_baseline);
}

Test(failing, a_packet_fits_or_is_an_error)
{
    cleanup_arena struct arena own = {0};
    const struct change changes[] = {{"workload.class", "7"}, {NULL, NULL}};
    struct plan plan = {0};
    int r = -1;

    cr_assert_eq(plan_evaluate(helper_input(&own, changes), PLAN_CALLER_SUPPLIED, &own, &plan), 0);
    for (size_t nth = 1; r != 0; nth++) {
        cleanup_arena struct arena arena = {0};
        struct str packet = {0};

        countdown = nth;
        r = plan_packet_fit(&plan, buffer_audit_size(plan.packet) - 1, &arena, &packet);
        cr_assert(r == 0 || r == -ENOMEM, "allocation %zu", nth);
        cr_assert_eq(str_present(packet), r == 0, "allocation %zu", nth);
        cr_assert_eq(countdown > 0, r == 0, "allocation %zu is not looked at", nth);
        countdown = 0;
    }
}
