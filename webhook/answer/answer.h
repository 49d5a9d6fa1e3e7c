/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_ANSWER_ANSWER_H
#define WEBHOOK_ANSWER_ANSWER_H

/*
 * answer - writes a decision as an AdmissionReview (gate-v1, section 7), with message, warnings and
 * audit annotations within their limits; and HTTP errors as bodies of kind Status (section 8).
 *
 * Pure.
 *
 * Errors     0; -ENOMEM; -EIO if the crypto library failed to hash the packet.
 * Ownership  results are in the arena or borrowed from the decision.
 * Threads    any number, each with its own arena.
 */

#include "planner/base/arena.h"
#include "planner/base/text.h"
#include "webhook/gate/gate.h"

#define ANSWER_MAX_MESSAGE_BYTES 2048
#define ANSWER_MAX_WARNINGS 8
#define ANSWER_MAX_WARNING_CHARS 256
/* Of audit annotations, as buffer_audit_size() counts them. */
#define ANSWER_MAX_PACKET_BYTES (16 * 1024)
#define ANSWER_MAX_INPUT_BYTES (10 * 1024)
#define ANSWER_MAX_FINDINGS_BYTES (4 * 1024)
#define ANSWER_MAX_ANNOTATIONS_BYTES (32 * 1024)
#define ANSWER_MAX_PAIRS 16

enum answer_format { ANSWER_JSON = 0, ANSWER_YAML };

/* One audit annotation. */
struct answer_pair {
    const char *key;
    struct str value;
};

struct answer_response {
    struct str uid;
    bool allowed;
    int code;            /* HTTP status of a denial; 0: allowed */
    const char *reason;  /* of a denial, static */
    struct str message;  /* of a denial */
    int retry_after_sec; /* 0: not set */
    struct str warnings[ANSWER_MAX_WARNINGS];
    size_t warning_count;
    struct answer_pair pairs[ANSWER_MAX_PAIRS]; /* the audit annotations */
    size_t pair_count;
};

/* The complete AdmissionReview, which has only `response`. */
int answer_write(const struct decision *decision, struct str uid, enum answer_format format,
                 struct arena *arena, struct str *ret_body)
    __attribute__((warn_unused_result, nonnull));

/* The same in two steps: first the content, which a record needs too, then the body. */
int answer_make(const struct decision *decision, struct str uid, struct arena *arena,
                const struct answer_response **ret_response)
    __attribute__((warn_unused_result, nonnull));
int answer_write_response(const struct answer_response *response, enum answer_format format,
                          struct arena *arena, struct str *ret_body)
    __attribute__((warn_unused_result, nonnull));

/* A denial without a decision: 503 ServiceUnavailable or 504 Timeout, retryAfterSeconds 1. */
int answer_write_unavailable(int code, struct str message, struct str uid,
                             enum answer_format format, struct arena *arena, struct str *ret_body)
    __attribute__((warn_unused_result, nonnull));

/* A body of kind Status, JSON, for any HTTP status from 400 on. */
int answer_write_status(int code, struct str message, struct arena *arena, struct str *ret_body)
    __attribute__((warn_unused_result, nonnull));

/* A change of the requirements that would make the plan ready, as the end of a sentence. Absent if
 * the plan is ready, or if no narrower requirements would be. */
int answer_advice(const struct decision *decision, struct arena *arena, struct str *ret_advice)
    __attribute__((warn_unused_result, nonnull));

/* The parts alone, for the output of commands. */
int answer_message(const struct decision *decision, struct arena *arena, struct str *ret_message)
    __attribute__((warn_unused_result, nonnull));
int answer_warnings(const struct decision *decision, struct arena *arena,
                    struct str ret_warnings[static ANSWER_MAX_WARNINGS], size_t *ret_count)
    __attribute__((warn_unused_result, nonnull));

#endif
