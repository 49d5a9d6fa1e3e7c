/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input - makes the input of the planner (gate-v1, section 5). Signed documents and annotations are
 * not changed: the input borrows their values.
 */

#include "webhook/gate/internal.h"

#include <errno.h>

#include "planner/base/tree.h"

static bool add_text(cJSON *object, const char *key, struct str s, struct arena *arena)
{
    return !str_present(s) || tree_add_member(object, key, tree_make_text(arena, s));
}

/* The class of the annotation or the signed one. If they differ, the signed one. */
static int choose_class(struct judgement *j, struct str *ret_class)
{
    struct str said = j->claims.class_text;
    struct str signed_one = j->found.in_use != NULL ? j->found.in_use->class_text : (struct str){0};

    *ret_class = str_present(signed_one) ? signed_one : said;
    if (!str_present(said) || !str_present(signed_one) || str_equal(said, signed_one))
        return 0;
    return gate_add(j, GATE_CLASS_DIFFERS, STR("class"));
}

static int make_workload(struct judgement *j, const cJSON *requirements, cJSON **ret_workload)
{
    cJSON *workload = tree_make_object(j->arena);
    struct str class_text = {0};
    int r = choose_class(j, &class_text);

    if (r < 0)
        return r;
    if (workload == NULL || !add_text(workload, "image_digest", j->claims.image_digest, j->arena) ||
        !add_text(workload, "skill_ref", j->claims.skill_ref, j->arena) ||
        !add_text(workload, "class", class_text, j->arena))
        return -ENOMEM;
    if (requirements != NULL &&
        !tree_add_member(workload, "requirements", tree_borrow(j->arena, requirements)))
        return -ENOMEM;
    *ret_workload = workload;
    return 0;
}

/* Now, in whole seconds. If observed_at is later, by no more than the allowed clock skew, then
 * observed_at: a small difference of clocks must not make evidence look future-dated. */
static struct str choose_as_of(struct judgement *j, const cJSON *requirements,
                               char ret_text[static MOMENT_TEXT_BYTES])
{
    struct moment as_of = {.sec = j->now.sec, .nsec = 0};
    struct moment last = moment_add_seconds(as_of, (int64_t)j->policy->clock_skew_sec);
    struct str observed_at = str_trim(tree_get_text(requirements, "observed_at"));
    struct moment observed = {0};

    if (moment_read(observed_at, &observed) && moment_compare(observed, as_of) > 0 &&
        moment_compare(observed, last) <= 0)
        return observed_at;
    moment_write(as_of, ret_text);
    return str_of(ret_text);
}

static int smallest_max_age(const struct judgement *j)
{
    int days = j->found.limits->max_age_days;

    return days > 0 && days < j->policy->max_age_days ? days : j->policy->max_age_days;
}

int gate_make_input(struct judgement *j, const cJSON **ret_input)
{
    char as_of[MOMENT_TEXT_BYTES] = "";
    cJSON *input = tree_make_object(j->arena);
    cJSON *workload = NULL, *requirements = NULL, *baseline = NULL;
    int r = gate_make_requirements(j, &requirements);

    if (r == 0)
        r = make_workload(j, requirements, &workload);
    if (r == 0)
        r = gate_make_baseline(j, &baseline);
    if (r < 0)
        return r;
    j->max_age_days = smallest_max_age(j);
    if (input == NULL || !tree_add_member(input, "workload", workload) ||
        !add_text(input, "as_of", choose_as_of(j, requirements, as_of), j->arena) ||
        !tree_add_member(input, "max_age_days",
                         tree_make_number(j->arena, (double)j->max_age_days)))
        return -ENOMEM;
    if (baseline != NULL && !tree_add_member(input, "baseline", baseline))
        return -ENOMEM;
    *ret_input = input;
    return 0;
}
