#ifndef WEBHOOK_ANSWER_INTERNAL_H
#define WEBHOOK_ANSWER_INTERNAL_H

/*
 * internal - what the files answer*.c share: a response while it is made, and its writers.
 * record.c takes its audit annotations from here, so that log and audit log say the same.
 *
 * Errors     0, -ENOMEM; -EIO where the crypto library failed.
 */

#include "planner/base/buffer.h"
#include "webhook/answer/answer.h"

/* One audit annotation. */
struct answer_pair {
    const char *key;
    struct str value;
};

#define ANSWER_MAX_PAIRS 16

struct answer_response {
    struct str uid;
    bool allowed;
    int code;           /* of a denial */
    const char *reason; /* likewise */
    struct str message; /* likewise */
    int retry_after_sec;
    struct str warnings[ANSWER_MAX_WARNINGS];
    size_t warning_count;
    struct answer_pair pairs[ANSWER_MAX_PAIRS];
    size_t pair_count;
};

/* annotations.c */
int answer_annotate(const struct decision *decision, struct arena *arena,
                    struct answer_response *response) __attribute__((warn_unused_result));

/* body.c: *ret_body is the AdmissionReview. */
int answer_write_json(const struct answer_response *response, struct arena *arena,
                      struct str *ret_body) __attribute__((warn_unused_result));
int answer_write_yaml(const struct answer_response *response, struct arena *arena,
                      struct str *ret_body) __attribute__((warn_unused_result));

/* hint.c: what to do about a finding of the planner. Static, never NULL. */
const char *answer_hint(enum plan_code code);

#endif
