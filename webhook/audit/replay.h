/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_AUDIT_REPLAY_H
#define WEBHOOK_AUDIT_REPLAY_H

/*
 * replay - plans a recorded input again with the planner of this program, and compares the packet
 * with the recorded one, byte for byte. `provenance` is not part of the input; it is taken from the
 * packet.
 *
 * Errors     0; -ENOMEM; -EIO: the crypto library failed.
 * Ownership  results are in the arena.
 */

#include "planner/base/arena.h"
#include "planner/base/text.h"
#include "webhook/audit/event.h"

#define REPLAY_MAX_DIFF_BYTES ((size_t)32 * 1024)
#define REPLAY_DIFF_CONTEXT 2 /* lines */

enum replay_state {
    REPLAY_NO_PLAN = 0, /* nothing was planned */
    REPLAY_NO_INPUT,    /* too large for the log, or cannot be read: nothing to compare */
    REPLAY_SAME,
    REPLAY_SAME_CUT, /* the recorded packet is cut; the digest and the cut packet are the same */
    REPLAY_DIFFERS,
};

struct replay {
    enum replay_state state;
    struct str packet; /* planned again; absent without input */
    struct str sha256; /* of it */
    struct str where;  /* first member that differs, as "hardening_profile.decision";
                        * "packet-sha256": only the digest differs; "outcome": the packet is the
                        * same, but the recorded outcome does not follow from it */
    struct str diff;   /* unified diff of both packets, one member per line; absent if empty */
};

int replay_event(const struct event *event, struct arena *arena, struct replay *ret_replay)
    __attribute__((warn_unused_result, nonnull));

/* "no plan", "no input", "same", "same, cut", "differs" */
const char *replay_state_text(enum replay_state state);

#endif
