/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_ANSWER_INTERNAL_H
#define WEBHOOK_ANSWER_INTERNAL_H

/*
 * internal - the steps of writing a response; private to webhook/answer/.
 *
 * Errors     0, -ENOMEM; -EIO if the crypto library failed.
 */

#include "planner/base/buffer.h"
#include "webhook/answer/answer.h"

/* annotations.c: adds the audit annotations to the response. */
int answer_annotate(const struct decision *decision, struct arena *arena,
                    struct answer_response *response) __attribute__((warn_unused_result));

/* body.c: *ret_body is the AdmissionReview. */
int answer_write_json(const struct answer_response *response, struct arena *arena,
                      struct str *ret_body) __attribute__((warn_unused_result));
int answer_write_yaml(const struct answer_response *response, struct arena *arena,
                      struct str *ret_body) __attribute__((warn_unused_result));

#endif
