/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_PACKET_H
#define PLANNER_PACKET_H

/*
 * packet - the fields of a `runx.hardening.v1` packet, and its writer (hardening-v1, section
 * Packet).
 *
 * Texts are as the packet shows them: trimmed, with secrets replaced.
 *
 * Ownership  texts and lists are borrowed from the plan's arena and its input.
 */

#include "planner/base/list.h"
#include "planner/plan.h"

struct packet {
    enum plan_decision decision;

    struct str ref_form; /* "image_digest", "skill_ref" or "" */
    struct str image_digest;
    struct str skill_ref;
    struct str workload_class;

    struct str profile;
    struct str cwd_policy;
    bool env_given; /* false: null */
    struct str_list env_allowlist;
    bool network;
    struct str_list writable_paths;
    bool require_enforcement;

    struct str source_ref;
    struct str source_digest;
    struct str observed_at;
    enum plan_provenance provenance;

    bool admitted;
    struct str_list reasons;

    struct str_list unsupported_controls;
    struct str risk_reason;
    bool risk_medium; /* false: low */

    const struct plan_finding *findings;
    size_t finding_count;
};

/* The packet as compact JSON; an absent text when out of memory. */
struct str packet_write(const struct packet *packet, struct arena *arena);

#endif
