/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_GATE_GATE_H
#define WEBHOOK_GATE_GATE_H

/*
 * gate - the one function that decides (gate-v1, sections 1 to 7): review, snapshot and moment in,
 * decision out. Nothing else in the program says "allowed".
 *
 * Pure: no clock, no file, no socket, no log. Any number of threads, each with its own arena.
 *
 * Errors     0; -EBADMSG a review that section 3 answers with 400 (reterr_what); -ENOMEM;
 *            -EINVAL a broken invariant; -EIO no random numbers to read a document with.
 *            On failure there is no decision, and the caller must not admit.
 * Ownership  everything lies in the arena or is borrowed from review and snapshot.
 */

#include <stdbool.h>
#include <stddef.h>

#include "k8s/review/review.h"
#include "k8s/snapshot/snapshot.h"
#include "planner/base/arena.h"
#include "planner/base/moment.h"
#include "planner/plan.h"

#define GATE_CODES(X)                                                                              \
    X(ANNOTATION_MISSING, "gate.annotation.missing")                                               \
    X(ANNOTATION_UNKNOWN, "gate.annotation.unknown")                                               \
    X(ANNOTATION_INVALID, "gate.annotation.invalid")                                               \
    X(ANNOTATION_CONFLICT, "gate.annotation.conflict")                                             \
    X(BASELINE_INVALID, "gate.baseline.invalid")                                                   \
    X(BASELINE_MISSING, "gate.baseline.missing")                                                   \
    X(EVIDENCE_MISSING, "gate.evidence.missing")                                                   \
    X(EVIDENCE_EXPIRED, "gate.evidence.expired")                                                   \
    X(EVIDENCE_CONFLICT, "gate.evidence.conflict")                                                 \
    X(IMAGE_UNPINNED, "gate.image.unpinned")                                                       \
    X(IMAGE_UNLISTED, "gate.image.unlisted")                                                       \
    X(REVIEW_UNUSABLE, "gate.review.unusable")

enum gate_code {
#define X(name, text) GATE_CODE_##name,
    GATE_CODES(X)
#undef X
        GATE_CODE_COUNT
};

/* 0 is no outcome. */
enum gate_outcome {
    OUTCOME_UNDECIDED = 0,
    OUTCOME_READY,
    OUTCOME_NEEDS_MORE_EVIDENCE,
    OUTCOME_REFUSED,
    OUTCOME_UNSUPPORTED_RUNTIME_SHAPE,
    OUTCOME_BLOCKED,
    OUTCOME_EXEMPT,
    OUTCOME_UNUSABLE,
    OUTCOME_UNMANAGED,
    OUTCOME_UNCHANGED,
    OUTCOME_NOT_EVALUATED,
};

struct gate_finding {
    enum gate_code code;
    struct str message; /* one sentence: what is wrong and what to do; no control characters */
    struct str place;   /* absent where the table of section 6 has none */
};

/* The user is warned when a document in use ends within this time, both ends included. */
#define GATE_EXPIRY_WARNING_SEC (72 * 3600)

/* Evidence and an exemption can both be in use. */
#define GATE_MAX_EXPIRIES 2

/* A document in use that ends within GATE_EXPIRY_WARNING_SEC. */
struct gate_expiry {
    struct moment at;
    const char *kind; /* "evidence" or "exemption", static */
    struct str name;  /* `<namespace>/<name>` */
};

/* Why a request would be allowed or denied, and all that the answer and the records need. */
struct decision {
    bool allowed; /* set by gate_decide() alone */
    enum gate_outcome outcome;
    struct levels levels;    /* LEVEL_UNSET where they were not looked at */
    bool judged;             /* section 3's last row */
    bool would_deny_enforce; /* a controller in mode warn: what its pods will meet */
    bool violates_warn;      /* section 2 */
    bool violates_audit;
    const struct gate_finding *findings; /* in the order of section 6's table */
    size_t finding_count;
    bool planned;
    struct plan plan;        /* where planned */
    const cJSON *plan_input; /* where planned: the planner's input as given to it */
    enum plan_provenance provenance;
    const struct evidence *evidence;  /* in use; NULL where none */
    const struct evidence *exemption; /* in use; NULL where none */
    bool exempt_by_configuration;
    struct gate_expiry expiries[GATE_MAX_EXPIRIES];
    size_t expiry_count;
    struct str error;   /* `enforce=<value>,…`; absent where all labels could be read */
    struct str subject; /* `<namespace>/<kind>/<name>` */

    /* what a source that learns of things late has to ask for before this is final (section 4) */
    bool namespace_unseen; /* levels were looked at, and the snapshot has no such Namespace */
    bool evidence_missed;  /* an identity was looked for, and no evidence of it is in use */
};

int gate_decide(const struct review *review, const struct snapshot *snapshot, struct moment now,
                struct arena *arena, struct decision *ret_decision, const char **reterr_what)
    __attribute__((warn_unused_result, nonnull));

/* Static texts, never NULL. A hint is what to do about findings of this code in general, for
 * reports; the message of a finding says it for the one pod. */
const char *gate_code_text(enum gate_code code);
const char *gate_code_hint(enum gate_code code);
const char *gate_outcome_text(enum gate_outcome outcome);

#endif
