/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_ANSWER_HINT_H
#define WEBHOOK_ANSWER_HINT_H

/*
 * hint - what a user should do about a finding of the planner, as the end of a sentence.
 *
 * Every code has a hint of its own.
 *
 * Threads    any: the texts are static.
 */

#include "planner/plan.h"

/* Never NULL. */
const char *answer_hint(enum plan_code code);

#endif
