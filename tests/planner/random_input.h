/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_PLANNER_RANDOM_INPUT_H
#define TESTS_PLANNER_RANDOM_INPUT_H

/* Inputs of the planner by chance, the same for the same seed: mostly right, so that rules behind
 * others are reached, and wrong in every way that the contract names. */

#include <stdint.h>

#include "planner/base/tree.h"

cJSON *random_input(struct arena *arena, uint64_t seed);

/* A number below `below`, and the next state. */
uint32_t random_below(uint64_t *state, uint32_t below);

#endif
