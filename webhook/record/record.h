/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_RECORD_RECORD_H
#define WEBHOOK_RECORD_RECORD_H

/*
 * record - one decision as one line of JSON: for the decision log, the live page and `review`.
 *
 * The names are stable within a schema; a reader passes over names that it does not know:
 *
 *   schema        "sandgate.decision.v1"
 *   time          "2026-03-01T12:00:00.123Z", when the request was decided
 *   uid, dryRun, operation, group, kind, subResource, namespace, name, generateName
 *                 of the request; subResource, name and generateName only where there are some
 *   user, groups  who asks: names, at most RECORD_MAX_GROUPS
 *   owner         {kind, name} of the controller in ownerReferences; only where there is one
 *   images        the pod's image references, at most RECORD_MAX_IMAGES
 *   levels        {enforce, warn, audit} that were in force; only where they were looked at
 *   allowed, outcome
 *                 beside the gate's outcomes "unavailable" and "timeout": denials with code 503 and
 *                 504, of which nothing is known but the request
 *   message       what the user was told on a denial; warnings: [..] where there were some
 *   findings      the gate's: [{code, message, place}]; the planner's are in the packet
 *   packet, packetSha256, packetTruncated (only true), input
 *                 as the audit annotations `packet`, `packet-sha256`, `packet-truncated`, `input`
 *                 of gate-v1, section 7, but as JSON, not as text
 *   evidence, exemption, violations, error, subject
 *                 the audit annotations of those names, as text
 *   expiring      [{kind, name, endsAt}]: documents in use that end within 72 hours; only where
 * there are some. kind is "evidence" or "exemption", name `<namespace>/<name>`, endsAt as
 *                 "2026-03-02T00:00:00Z", in whole seconds
 *   durationMicroseconds
 *   peer          address of the client; caller: "verified" or "unverified"
 *   shortened     only true: a text is cut, a list is not whole, or, where the line would be over
 *                 RECORD_MAX_BYTES, input, then packet and findings, then groups and images are
 * left out. What an audit annotation leaves out is not marked
 *
 * Never a value of an environment variable, never a token. Control and bidirectional-control
 * characters of texts from outside are written as \u escapes, so that no line can be forged and no
 * terminal be driven.
 *
 * Pure. Errors: 0, -ENOMEM; -EIO where the crypto library failed.
 * Ownership  a line lies in the arena.
 */

#include <stdbool.h>
#include <stdint.h>

#include "k8s/review/review.h"
#include "planner/base/arena.h"
#include "planner/base/moment.h"
#include "planner/base/text.h"
#include "webhook/gate/gate.h"

#define RECORD_SCHEMA "sandgate.decision.v1"
#define RECORD_MAX_GROUPS 64
#define RECORD_MAX_IMAGES 64
#define RECORD_MAX_TEXT_BYTES 1024       /* of one text that has no bound of its own */
#define RECORD_MAX_LIST_BYTES (8 * 1024) /* of all groups, and of all images */
#define RECORD_MAX_BYTES ((size_t)128 * 1024)

struct record_circumstances {
    struct moment now;
    uint64_t duration_usec;
    struct str peer; /* absent: not over the wire, then there is no caller either */
    bool caller_verified;
    const struct answer_response *response; /* of this decision; NULL: it is made anew */
};

/* A line with its line feed, in the arena. */
int record_write(const struct decision *decision, const struct review *review,
                 const struct record_circumstances *circumstances, struct arena *arena,
                 struct str *ret_line) __attribute__((warn_unused_result, nonnull));

/* A denial with code 503 or 504, and what the user was told; of the decision only subject and
 * levels count. */
int record_write_unavailable(int code, struct str message, const struct decision *decision,
                             const struct review *review,
                             const struct record_circumstances *circumstances, struct arena *arena,
                             struct str *ret_line) __attribute__((warn_unused_result, nonnull));

#endif
