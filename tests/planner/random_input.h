/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_PLANNER_RANDOM_INPUT_H
#define TESTS_PLANNER_RANDOM_INPUT_H

/* random_input - random inputs of the planner, equal for equal seeds. Most values are valid, so
 * that later rules are reached too; the others are wrong in every way that the contract names. */

#include <stdint.h>

#include "planner/base/tree.h"

cJSON *random_input(struct arena *arena, uint64_t seed);

/* A random number less than `below`. Advances the state. */
uint32_t random_below(uint64_t *state, uint32_t below);

#endif
