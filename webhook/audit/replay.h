/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_AUDIT_REPLAY_H
#define WEBHOOK_AUDIT_REPLAY_H

/*
 * replay - a recorded plan made again: its recorded input through the planner of this program, and
 * its packet compared with the recorded one, byte for byte. `provenance` is no part of the input;
 * it is taken from the packet.
 *
 * Errors     0; -ENOMEM; -EIO the crypto library failed.
 * Ownership  results lie in the arena.
 */

#include "planner/base/arena.h"
#include "planner/base/text.h"
#include "webhook/audit/event.h"

#define REPLAY_MAX_DIFF_BYTES ((size_t)32 * 1024)
#define REPLAY_DIFF_CONTEXT 2 /* lines */

enum replay_state {
    REPLAY_NO_PLAN = 0, /* nothing was planned */
    REPLAY_NO_INPUT,    /* it was too large for the log, or cannot be read: nothing to compare */
    REPLAY_SAME,
    REPLAY_SAME_CUT, /* the recorded packet is cut; digest and cut packet are the same */
    REPLAY_DIFFERS,
};

struct replay {
    enum replay_state state;
    struct str packet; /* made again; absent without input */
    struct str sha256; /* of it */
    struct str where;  /* first member that differs: "hardening_profile.decision", or
                        * "packet-sha256" where only that does, "outcome" where the packet is the
                        * same and the recorded outcome is another one than follows from it */
    struct str diff;   /* unified, of both packets with a member a line; absent where it says
                        * nothing */
};

int replay_event(const struct event *event, struct arena *arena, struct replay *ret_replay)
    __attribute__((warn_unused_result, nonnull));

/* "no plan", "no input", "same", "same, cut", "differs" */
const char *replay_state_text(enum replay_state state);

#endif
