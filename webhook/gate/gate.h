/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_GATE_GATE_H
#define WEBHOOK_GATE_GATE_H

/*
 * gate - the one function that decides (gate-v1, sections 1 to 7): from a review, a snapshot and a
 * moment it makes a decision. No other code in the program sets "allowed".
 *
 * Pure: no clock, no file, no socket, no log.
 *
 * Errors     0; -EBADMSG a review that section 3 answers with 400 (reterr_what); -ENOMEM;
 *            -EINVAL a broken invariant; -EIO no random numbers for the hash table of a document.
 *            On failure there is no decision, and the caller must not admit.
 * Ownership  everything is in the arena or borrowed from review and snapshot.
 * Threads    any number, each with its own arena.
 */

#include <stdbool.h>
#include <stddef.h>

#include "k8s/boundary/boundary.h"
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
        GATE_CODE_BOUNDARY, /* the first of BOUNDARY_CODES, which follow in their order */
    GATE_CODE_COUNT = GATE_CODE_BOUNDARY + BOUNDARY_CODE_COUNT
};

/* 0 is not an outcome, so that a decision that was not made admits nothing. */
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
    OUTCOME_LEFT_UNDECIDED, /* gate_undecided() */
};

struct gate_finding {
    enum gate_code code;
    struct str message; /* `what is wrong; what to do`, without control characters */
    struct str place;   /* absent if the table of section 6 has none for this code */
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

/* The decision with its reasons, and everything that the response and the records need. */
struct decision {
    bool allowed; /* set by gate_decide() and gate_undecided() alone */
    enum gate_outcome outcome;
    struct levels levels;    /* LEVEL_UNSET if they were not needed */
    bool judged;             /* the last row of section 3 applies */
    bool would_deny_enforce; /* a controller in mode warn: its pods will be denied */
    bool violates_warn;      /* section 2 */
    bool violates_audit;
    const struct gate_finding *findings; /* in the order of section 6's table */
    size_t finding_count;
    size_t finding_more; /* further ones that block, of codes that have very many; only counted */
    bool planned;
    struct plan plan;   /* if planned */
    bool boundary_read; /* the pod's own spec was read beside the plan (boundary-v1) */
    struct boundary boundary;
    unsigned boundary_hold;  /* the controls that baselines hold: boundary_control_bit() */
    const cJSON *plan_input; /* if planned: the input that the planner got */
    enum plan_provenance provenance;
    const struct evidence *evidence;  /* in use; NULL: none */
    const struct evidence *exemption; /* in use; NULL: none */
    bool exempt_by_configuration;
    struct gate_expiry expiries[GATE_MAX_EXPIRIES];
    size_t expiry_count;
    struct str error;   /* `enforce=<value>,…`; absent if all labels are valid */
    struct str subject; /* `<namespace>/<kind>/<name>`, and `<generateName>*` without a name */
    struct str title;   /* the same in messages: with `<generateName>*` wherever there is one */

    /* a watched cluster may be ahead of the snapshot: if one of these is set, the caller must ask
     * the API server before the decision is final (section 4) */
    bool namespace_unseen; /* levels were needed, and the snapshot does not have the Namespace */
    bool evidence_missed;  /* there is an identity, and no evidence for it is in use */

    /* nothing can deny this request: it is a controller that is only warned about, or no level of
     * enforce judges it, by the labels of a Namespace that the snapshot has */
    bool cannot_deny;
};

int gate_decide(const struct review *review, const struct snapshot *snapshot, struct moment now,
                struct arena *arena, struct decision *ret_decision, const char **reterr_what)
    __attribute__((warn_unused_result, nonnull));

/* Allows a request without an answer, where the snapshot is too old to decide and nothing could
 * have denied it. Of `seen`, subject, levels and error are kept. -EINVAL where something could. */
int gate_undecided(const struct decision *seen, struct decision *ret_decision)
    __attribute__((warn_unused_result, nonnull));

/* Whether a finding of decision->boundary blocks; it is one of decision->findings then. */
bool gate_boundary_blocks(const struct decision *decision, const struct boundary_finding *finding)
    __attribute__((nonnull));

static inline enum gate_code gate_code_of_boundary(enum boundary_code code)
{
    return (enum gate_code)((int)GATE_CODE_BOUNDARY + (int)code);
}

/* Static texts, never NULL. A hint is what to do about findings of this code in general, for
 * reports; the message of a finding says it for the one pod. */
const char *gate_code_text(enum gate_code code);
const char *gate_code_hint(enum gate_code code);
const char *gate_outcome_text(enum gate_outcome outcome);

#endif
