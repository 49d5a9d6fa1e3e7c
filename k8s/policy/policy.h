/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_POLICY_POLICY_H
#define K8S_POLICY_POLICY_H

/*
 * policy - what the configuration says about decisions (gate-v1, section 10), without a word on
 * ports and files. Filled by the reader of the configuration, part of a snapshot, never changed
 * afterwards. {0} is not usable: policy_defaults() gives the contract's defaults.
 *
 * Ownership  texts and lists belong to whoever made the policy and must outlive it.
 * Units      days, seconds.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "k8s/policy/level.h"
#include "planner/base/list.h"
#include "planner/base/text.h"

#define POLICY_OWN_NAMESPACE "sandgate-system"

/* The kinds of signed documents (section 4). 0 is none. */
enum evidence_kind {
    EVIDENCE_UNKNOWN = 0,
    EVIDENCE_REQUIREMENTS, /* SandboxRequirements */
    EVIDENCE_BASELINE,     /* SandboxBaseline */
    EVIDENCE_EXEMPTION,    /* SandboxExemption */
    EVIDENCE_KIND_COUNT
};

struct policy_signers {
    bool keys_named;      /* false: any key counts */
    struct str_list keys; /* key ids */
    unsigned threshold;   /* at least 1 */
};

struct policy {
    /* which evidence is valid */
    struct policy_signers signers[EVIDENCE_KIND_COUNT];
    struct str_list revoked;  /* sha256:<hex> of documents */
    struct str audience;      /* empty: none */
    struct str own_namespace; /* the gate's own, never empty */
    unsigned min_baselines;

    /* how a request is judged */
    struct levels defaults;
    struct levels floor;
    enum controllers_mode controllers;
    struct str_list exempt_namespaces;
    struct str_list exempt_users;
    struct str_list exempt_runtime_classes;
    bool accept_unsigned; /* false unless the configuration says `unsigned: accept` */
    int max_age_days;
    uint32_t clock_skew_sec;
};

/* The defaults of section 10; nothing in it needs to be freed. */
struct policy policy_defaults(void);

#endif
