/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_WEBHOOK_CASES_WORLD_H
#define TESTS_WEBHOOK_CASES_WORLD_H

/* The world of tests/cases as a snapshot, and files as text. What cannot be made fails the test. */

#include "k8s/snapshot/snapshot.h"
#include "planner/base/arena.h"

/* By a configuration file. evidence and keyring take the place of its folders where given. */
struct snapshot *cases_world(const char *config, const char *evidence, const char *keyring);

/* A whole file, in the arena. */
struct str cases_file(struct arena *arena, const char *path);

#endif
