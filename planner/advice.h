/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_ADVICE_H
#define PLANNER_ADVICE_H

/*
 * advice - how to change an input that is not ready: the nearest narrower requirements that the
 * ceilings admit.
 *
 * Pure; only the planner's input is used. Advice never widens the requirements: it removes items,
 * or replaces a path by paths below it. Narrowing does not help against findings about identity,
 * time, provenance, a stale source or one with credentials, and an invalid baseline: then the
 * result is the finding. Advice is planned before it is given: an input that follows it is `ready`.
 *
 * Errors     0; -EINVAL the input is not an object; -ENOMEM. On failure no result is written.
 * Ownership  everything is stored in the arena or borrowed from the input.
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
    ADVICE_NONE, /* no narrower requirements are ready; see obstacle */
};

enum advice_verb {
    ADVICE_DROP_FIELD = 1, /* remove the field, also from a signed document: its default holds */
    ADVICE_SET_FIELD,      /* `instead` is its value as JSON */
    ADVICE_DROP_ITEM,
    ADVICE_REPLACE_ITEM, /* `instead` lists the replacements, joined by ", " */
};

struct advice_step {
    enum advice_verb verb;
    struct str field; /* of the requirements, as messages show it */
    size_t place;     /* of the item in the given list, from 0 */
    struct str item;  /* as given, trimmed; absent where it must not be shown: it can be a secret */
    struct str instead;
};

struct advice {
    enum advice_state state;
    const struct advice_step *steps; /* ADVICE_GIVEN */
    size_t step_count;
    const cJSON *input; /* ADVICE_GIVEN: the input after the steps */
    const struct plan_finding
        *obstacle; /* ADVICE_NONE: the first finding that narrowing does not remove */
};

int advice_make(const cJSON *input, struct arena *arena, struct advice *ret_advice)
    __attribute__((warn_unused_result, nonnull));

/* All steps, joined by "; ". Absent unless the state is ADVICE_GIVEN. */
int advice_text(const struct advice *advice, struct arena *arena, struct str *ret_text)
    __attribute__((warn_unused_result, nonnull));

#endif
