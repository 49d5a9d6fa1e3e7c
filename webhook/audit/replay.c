/* SPDX-License-Identifier: Apache-2.0 */
/* replay - plans a recorded decision again and compares packet, digest and outcome. */

#include "webhook/audit/replay.h"

#include <errno.h>

#include "k8s/util/digest.h"
#include "planner/base/buffer.h"
#include "planner/base/tree.h"
#include "planner/plan.h"
#include "webhook/answer/answer.h"
#include "webhook/audit/event_internal.h"
#include "webhook/audit/replay_diff.h"
#include "webhook/gate/gate.h"

const char *replay_state_text(enum replay_state state)
{
    switch (state) {
    case REPLAY_NO_INPUT:
        return "no input";
    case REPLAY_SAME:
        return "same";
    case REPLAY_SAME_CUT:
        return "same, cut";
    case REPLAY_DIFFERS:
        return "differs";
    case REPLAY_NO_PLAN:
        break;
    }
    return "no plan";
}

static enum plan_provenance recorded_provenance(const cJSON *packet)
{
    const cJSON *source = tree_get(tree_get(packet, "hardening_profile"), "source_evidence");

    return str_equal(tree_get_text(source, "provenance"), STR("signed_configmap"))
               ? PLAN_SIGNED_CONFIGMAP
               : PLAN_CALLER_SUPPLIED;
}

/* *ret_logged is the packet as the log has it: whole, or cut to its limit. */
static int plan_again(const struct event *event, enum plan_provenance provenance,
                      struct arena *arena, struct replay *replay, struct str *ret_logged)
{
    struct plan plan = {0};
    int r = plan_evaluate(event->input_tree, provenance, arena, &plan);

    if (r == 0) {
        replay->packet = plan.packet;
        r = digest_make_text(plan.packet, arena, &replay->sha256);
    }
    if (r == 0)
        r = plan_packet_fit(&plan, ANSWER_MAX_PACKET_BYTES, arena, ret_logged);
    return r;
}

static bool is_same(const struct event *event, const struct replay *replay, struct str logged)
{
    if (str_present(event->packet_sha256) && !str_equal(event->packet_sha256, replay->sha256))
        return false;
    if (!str_present(event->packet))
        return str_present(event->packet_sha256);
    return str_equal(event->packet, logged);
}

/* Whether the recorded outcome follows from the packet: it is the packet's decision, or `blocked`
 * where the decision is ready. Other outcomes do not depend on the plan. */
static bool outcome_follows(const struct event *event)
{
    struct str decision =
        tree_get_text(tree_get(event->packet_tree, "hardening_profile"), "decision");

    if (str_equal(event->outcome, str_of(gate_outcome_text(OUTCOME_BLOCKED))))
        return decision.len == 0 || str_equal(decision, str_of(gate_outcome_text(OUTCOME_READY)));
    return decision.len == 0 || !event_outcome_of_plan(event->outcome) ||
           str_equal(event->outcome, decision);
}

static struct str outcome_diff(const struct event *event, struct arena *arena)
{
    struct str decision =
        tree_get_text(tree_get(event->packet_tree, "hardening_profile"), "decision");

    return arena_format(arena, "-outcome: %.*s\n+decision: %.*s", (int)event->outcome.len,
                        event->outcome.ptr, (int)decision.len, decision.ptr);
}

static int find_difference(const struct event *event, struct str logged, struct arena *arena,
                           struct replay *replay)
{
    const cJSON *again = NULL;
    int r = event_read_inner(logged, arena, &again);

    replay->where = STR("packet-sha256");
    if (r < 0 || event->packet_tree == NULL || again == NULL)
        return r;
    r = replay_first_difference(event->packet_tree, again, arena, &replay->where);
    if (r == 0)
        r = replay_diff(event->packet_tree, again, arena, &replay->diff);
    return r;
}

int replay_event(const struct event *event, struct arena *arena, struct replay *ret_replay)
{
    struct replay replay = {0};
    struct str logged = {0};
    int r = 0;

    *ret_replay = replay;
    if (!str_present(event->packet) && !str_present(event->packet_sha256))
        return 0;
    replay.state = REPLAY_NO_INPUT;
    if (tree_is(event->input_tree, cJSON_Object)) {
        r = plan_again(event, recorded_provenance(event->packet_tree), arena, &replay, &logged);
        /* without a packet the provenance is unknown: the other one is possible too */
        if (r == 0 && event->packet_tree == NULL && !is_same(event, &replay, logged))
            r = plan_again(event, PLAN_SIGNED_CONFIGMAP, arena, &replay, &logged);
        if (r < 0)
            return r;
        replay.state = !is_same(event, &replay, logged) ? REPLAY_DIFFERS
                       : event->packet_truncated        ? REPLAY_SAME_CUT
                                                        : REPLAY_SAME;
    }
    if (replay.state == REPLAY_DIFFERS) {
        r = find_difference(event, logged, arena, &replay);
    } else if (replay.state != REPLAY_NO_INPUT && !outcome_follows(event)) {
        replay.state = REPLAY_DIFFERS;
        replay.where = STR("outcome");
        replay.diff = outcome_diff(event, arena);
        r = str_present(replay.diff) ? 0 : -ENOMEM;
    }
    if (r == 0)
        *ret_replay = replay;
    return r;
}
