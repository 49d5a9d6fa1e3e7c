/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_WEBHOOK_CASES_WORLD_H
#define TESTS_WEBHOOK_CASES_WORLD_H

/* cases_world - the evidence of tests/cases as a snapshot, and files as text. An error fails the
 * test. */

#include "k8s/snapshot/snapshot.h"
#include "planner/base/arena.h"

/* A snapshot for a configuration file. evidence and keyring replace its directories if not NULL. */
struct snapshot *cases_world(const char *config, const char *evidence, const char *keyring);

/* The contents of a file, in the arena. */
struct str cases_file(struct arena *arena, const char *path);

#endif
