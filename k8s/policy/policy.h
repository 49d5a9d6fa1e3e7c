/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_POLICY_POLICY_H
#define K8S_POLICY_POLICY_H

/*
 * policy - the part of the configuration that decisions depend on (gate-v1, section 10); ports and
 * files are not in it.
 *
 * The reader of the configuration fills it. It is part of a snapshot and is not changed afterwards.
 * {0} is not usable: start with policy_defaults().
 *
 * Ownership  texts and lists belong to the creator of the policy and must outlive it.
 * Units      days, seconds.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "k8s/policy/level.h"
#include "planner/base/list.h"
#include "planner/base/text.h"

#define POLICY_OWN_NAMESPACE "sandgate-system"

/* The kinds of signed documents (gate-v1, section 4). 0 is not a kind. */
enum evidence_kind {
    EVIDENCE_UNKNOWN = 0,
    EVIDENCE_REQUIREMENTS, /* SandboxRequirements */
    EVIDENCE_BASELINE,     /* SandboxBaseline */
    EVIDENCE_EXEMPTION,    /* SandboxExemption */
    EVIDENCE_KIND_COUNT
};

struct policy_signers {
    bool keys_named;      /* false: signatures of any key count */
    struct str_list keys; /* key ids */
    unsigned threshold;   /* at least 1 */
};

struct policy {
    /* for the validity of evidence */
    struct policy_signers signers[EVIDENCE_KIND_COUNT];
    struct str_list revoked;  /* digests of documents, sha256:<hex> */
    struct str audience;      /* empty: none */
    struct str own_namespace; /* the namespace of the gate itself, never empty */
    unsigned min_baselines;

    /* for the decision on a request */
    struct levels defaults;
    struct levels floor;
    enum controllers_mode controllers;
    struct str_list exempt_namespaces;
    struct str_list exempt_users;
    struct str_list exempt_runtime_classes;
    bool network_policies; /* a source reads NetworkPolicies even if nobody has given one */
    bool accept_unsigned;  /* false unless the configuration says `unsigned: accept` */
    int max_age_days;
    uint32_t clock_skew_sec;
};

/* The defaults of gate-v1, section 10. Nothing in it must be freed. */
struct policy policy_defaults(void);

#endif
