/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_ADVICE_H
#define PLANNER_ADVICE_H

/*
 * advice - what would be ready in place of an input that is not: the nearest narrower requirements
 * that the ceilings admit.
 *
 * Pure, and made of the planner's input alone. An advice never widens: it takes out, or puts what
 * lies beneath in place. What narrowing cannot mend (identity, time, provenance, a stale or secret
 * source, a broken baseline) gets no advice, but the finding that stands in the way. Advice is
 * planned before it is given, so that whoever follows it meets `ready`.
 *
 * Errors     0; -EINVAL the input is no object; -ENOMEM. On failure no result is written.
 * Ownership  everything lies in the arena or is borrowed from the input.
 * Threads    any number, each with its own arena.
 */

#include <cjson/cJSON.h>
#include <stddef.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"
#include "planner/plan.h"

enum advice_state {
    ADVICE_UNKNOWN = 0,
    ADVICE_NEEDLESS, /* the input is ready as it is */
    ADVICE_GIVEN,
    ADVICE_NONE, /* no narrower requirements are ready: obstacle says why */
};

enum advice_verb {
    ADVICE_DROP_FIELD = 1, /* the field goes, also from what was signed; its default holds */
    ADVICE_SET_FIELD,      /* `instead` is its value as JSON */
    ADVICE_DROP_ITEM,
    ADVICE_REPLACE_ITEM, /* `instead` lists what may stand in its place, joined by ", " */
};

struct advice_step {
    enum advice_verb verb;
    struct str field; /* of the requirements, as a message may show it */
    size_t place;     /* of the item in the given list, from 0 */
    struct str item;  /* as given, trimmed; absent where it may not be shown (it may be a secret) */
    struct str instead;
};

struct advice {
    enum advice_state state;
    const struct advice_step *steps; /* ADVICE_GIVEN */
    size_t step_count;
    const cJSON *input;                  /* ADVICE_GIVEN: with the steps done */
    const struct plan_finding *obstacle; /* ADVICE_NONE: the first that no narrowing takes away */
};

int advice_make(const cJSON *input, struct arena *arena, struct advice *ret_advice)
    __attribute__((warn_unused_result, nonnull));

/* All steps, joined by "; ". Absent unless advice is given. */
int advice_text(const struct advice *advice, struct arena *arena, struct str *ret_text)
    __attribute__((warn_unused_result, nonnull));

/* "take cache out of writable_paths": part of a sentence, without its end. Texts from the input
 * stand in it as they are. */
int advice_step_text(const struct advice_step *step, struct arena *arena, struct str *ret_text)
    __attribute__((warn_unused_result, nonnull));

#endif
