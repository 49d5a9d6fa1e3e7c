/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_GATE_INTERNAL_H
#define WEBHOOK_GATE_INTERNAL_H

/*
 * internal - the state of one decision while it is made, shared by the files of webhook/gate/;
 * private to this directory.
 *
 * Errors     0, -ENOMEM; gate_read_claims() also -EIO of document_read().
 * Ownership  as gate.h: the arena, or borrowed.
 */

#include "k8s/policy/names.h"
#include "k8s/review/workload.h"
#include "webhook/gate/gate.h"

#define GATE_KEY_SKILL_REF NAMES_PREFIX "skill-ref"
#define GATE_KEY_IMAGE_DIGEST NAMES_PREFIX "image-digest"
#define GATE_KEY_CLASS NAMES_PREFIX "class"
#define GATE_KEY_REQUIREMENTS NAMES_PREFIX "requirements"

#define GATE_MAX_CLASS_BYTES 128
#define GATE_MAX_MESSAGE_BYTES 1024 /* one finding's message */

/* Everything that can be wrong. findings.c has the code, the message and the remedy of each. */
enum gate_problem {
    GATE_NO_ANNOTATION,
    GATE_ANNOTATIONS_REMOVED,
    GATE_ANNOTATIONS_MISPLACED,
    GATE_KEY_UNKNOWN,
    GATE_REQUIREMENTS_INVALID,
    GATE_CLASS_INVALID,
    GATE_CLASS_DIFFERS,
    GATE_FIELD_DIFFERS,
    GATE_FIELD_BROADER,
    GATE_BROKEN_BASELINE,
    GATE_MORE_BROKEN_BASELINES,
    GATE_DOCUMENTS_LEFT_OUT,
    GATE_TOO_FEW_BASELINES,
    GATE_NO_EVIDENCE,
    GATE_EVIDENCE_ENDED,
    GATE_EVIDENCE_AMBIGUOUS,
    GATE_IMAGE_WITHOUT_DIGEST,
    GATE_OWN_IMAGE_WITHOUT_DIGEST,
    GATE_IMAGE_NOT_LISTED,
    GATE_OWN_IMAGE_NOT_RUN,
    GATE_POD_UNUSABLE,
    GATE_PROBLEM_COUNT
};

struct gate_problem_text {
    enum gate_code code;
    const char *message; /* what is wrong; `{}` is replaced by an argument */
    const char *remedy;  /* what to do */
};

/* Findings in the order in which the rules found them. */
struct gate_findings {
    struct gate_finding *items; /* in the arena */
    size_t count;
    size_t capacity;
};

/* Section 1: what the annotations of the pod state. */
struct gate_claims {
    struct str skill_ref;      /* trimmed; absent if not given or blank */
    struct str image_digest;   /* the same */
    struct str class_text;     /* the same; also absent if it breaks the rules of a class */
    const cJSON *requirements; /* an object; NULL if not given or not readable */
};

/* Section 4: the documents for the identity of the pod. */
struct gate_found {
    bool looked;                     /* the pod has exactly one identity */
    bool conflict;                   /* two newest documents differ: none is in use */
    const struct evidence *in_use;   /* NULL: none */
    const struct evidence **expired; /* signed, in scope, for this identity */
    size_t expired_count;
    const struct snapshot_baselines *limits; /* borrowed from the snapshot */
    const struct evidence *const *baselines; /* of the limits: valid and in scope */
    size_t baseline_count;
    bool unsigned_accepted; /* the requirements of the annotation are used without evidence */
};

struct judgement {
    const struct review *review;
    const struct snapshot *snapshot;
    const struct policy *policy;
    struct moment now;
    struct arena *arena;
    struct workload pod; /* of review->object */
    struct workload old; /* of review->old_object; UPDATE only */
    struct gate_claims claims;
    struct gate_found found;
    struct gate_findings findings;
    const bool *sidecars; /* for each of pod.images: a baseline lists it, the workload does not */
    int max_age_days;     /* the smallest of the configuration and of all baselines */
};

/* findings.c */

/* Static. Never NULL. */
const struct gate_problem_text *gate_problem_text(enum gate_problem problem);

/* Adds a finding whose message is written and safe to show. */
int gate_add_finding(struct judgement *j, struct gate_finding finding)
    __attribute__((warn_unused_result));

/* Adds a finding. Its message is cleaned of control characters and cut at GATE_MAX_MESSAGE_BYTES.
 * As many arguments as the texts of the problem have `{}`. */
int gate_add_arguments(struct judgement *j, enum gate_problem problem, struct str place,
                       const struct str *arguments, size_t count)
    __attribute__((warn_unused_result));
#define gate_add(j, problem, place) gate_add_arguments(j, problem, place, NULL, 0)
#define gate_add_with(j, problem, place, ...)                                                      \
    gate_add_arguments(j, problem, place, (const struct str[]){__VA_ARGS__},                       \
                       sizeof((const struct str[]){__VA_ARGS__}) / sizeof(struct str))

/* Sorts into the order of the table of section 6; findings of one code keep their order. */
int gate_order_findings(struct judgement *j) __attribute__((warn_unused_result));

/* annotations.c */

int gate_read_claims(struct judgement *j) __attribute__((warn_unused_result));
/* gate.annotation.missing */
int gate_check_presence(struct judgement *j) __attribute__((warn_unused_result));

/* unchanged.c: section 3, neither an image nor an annotation of the gate differs. */
int gate_is_unchanged(const struct workload *now, const struct workload *before,
                      struct arena *arena, bool *ret_unchanged) __attribute__((warn_unused_result));

/* evidence.c */

int gate_find_evidence(struct judgement *j) __attribute__((warn_unused_result));
/* `<namespace>/<name>` of a document; absent: out of memory. */
struct str gate_document_name(const struct evidence *e, struct arena *arena);

/* input.c, requirements.c, baseline.c: section 5 */

int gate_make_input(struct judgement *j, const cJSON **ret_input)
    __attribute__((warn_unused_result));
/* The object `requirements`; *ret_requirements is NULL if there are none. */
int gate_make_requirements(struct judgement *j, cJSON **ret_requirements)
    __attribute__((warn_unused_result));
/* The object `baseline`; *ret_baseline is NULL if nothing limits the pod. */
int gate_make_baseline(struct judgement *j, cJSON **ret_baseline)
    __attribute__((warn_unused_result));

/* images.c: section 6 */

int gate_check_images(struct judgement *j) __attribute__((warn_unused_result));

/* boundary.c: after the plan; findings that block are added to those in order. */

int gate_read_boundary(struct judgement *j, struct decision *d) __attribute__((warn_unused_result));

/* exemption.c: an exemption that waives every finding; NULL: none. */

const struct evidence *gate_find_exemption(const struct judgement *j, const struct plan *plan);

/* expiry.c */

int gate_note_expiries(const struct judgement *j, struct decision *d)
    __attribute__((warn_unused_result));

#endif
