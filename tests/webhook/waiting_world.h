/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_WEBHOOK_WAITING_WORLD_H
#define TESTS_WEBHOOK_WAITING_WORLD_H

/*
 * waiting_world - snapshots for tests of waiting requests: `payments` judges managed pods, `trial`
 * warns of all pods; there is evidence for acme/app@1.0.0. An error ends the program.
 */

#include "k8s/snapshot/snapshot.h"
#include "planner/base/arena.h"
#include "planner/base/moment.h"

#define WAITING_HEX "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

struct moment waiting_moment(const char *text);
/* The texts are in the arena. */
struct snapshot *waiting_snapshot(struct arena *arena, bool with_namespace, bool with_evidence);

#endif
