/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_RECORD_RECORD_H
#define WEBHOOK_RECORD_RECORD_H

/*
 * record - writes one decision as one line of JSON, for the decision log, the live page and
 * `review`.
 *
 * The names are stable within a schema. A reader must ignore names that it does not know:
 *
 *   schema        "sandgate.decision.v1"
 *   time          "2026-03-01T12:00:00.123Z", when the request was decided
 *   uid, dryRun, operation, group, kind, subResource, namespace, name, generateName
 *                 of the request; subResource, name and generateName only if present
 *   user, groups  of the user who sent the request, at most RECORD_MAX_GROUPS
 *   owner         {kind, name} of the controller in ownerReferences; only if there is one
 *   images        the image references of the pod, at most RECORD_MAX_IMAGES
 *   levels        {enforce, warn, audit} that applied; only if they were needed
 *   allowed, outcome
 *                 the outcomes of the gate, and "unavailable" and "timeout": denials with code 503
 *                 and 504, of which only the request is known
 *   message       of a denial, as sent to the user
 *   warnings      [..] as sent to the user; only if there are some
 *   findings      of the gate: [{code, message, place}]; those of the planner are in the packet
 *   packet, packetSha256, packetTruncated (only true), input
 *                 as the audit annotations `packet`, `packet-sha256`, `packet-truncated`, `input`
 *                 of gate-v1, section 7, but as JSON, not as text
 *   boundary      what the pod's own spec asks for beside its declaration: the audit annotation of
 *                 that name, as JSON; only if the spec was read
 *   evidence, exemption, violations, error, subject
 *                 the audit annotations of those names, as text
 *   expiring      [{kind, name, endsAt}]: documents in use that end within 72 hours; only if there
 *                 are some. kind is "evidence" or "exemption", name is `<namespace>/<name>`, endsAt
 *                 is as "2026-03-02T00:00:00Z", in whole seconds
 *   durationMicroseconds
 *   peer          address of the client
 *   caller        "verified" or "unverified": whether the client has an accepted certificate
 *   shortened     only true: a text was cut, or a list is incomplete. If the line would be longer
 *                 than RECORD_MAX_BYTES, members are left out: input, then packet and findings,
 *                 then boundary, groups and images. Limits of audit annotations are not marked here
 *
 * Never contains a value of an environment variable or a token. Control characters and
 * bidirectional controls of outside text are written as \u escapes, so that nobody can forge a line
 * or control a terminal.
 *
 * Pure.
 *
 * Errors     0; -ENOMEM; -EIO if the crypto library failed.
 * Ownership  a line is in the arena.
 * Threads    any number, each with its own arena.
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
#define RECORD_MAX_TEXT_BYTES 1024       /* of one text that has no limit of its own */
#define RECORD_MAX_LIST_BYTES (8 * 1024) /* of all groups, and of all images */
#define RECORD_MAX_BYTES ((size_t)128 * 1024)

struct record_circumstances {
    struct moment now;
    uint64_t duration_usec;
    struct str peer; /* absent: not from the network; then there is no caller either */
    bool caller_verified;
    const struct answer_response *response; /* of this decision; NULL: make it here */
};

/* The line ends with a line feed. */
int record_write(const struct decision *decision, const struct review *review,
                 const struct record_circumstances *circumstances, struct arena *arena,
                 struct str *ret_line) __attribute__((warn_unused_result, nonnull));

/* A denial with code 503 or 504 and its message. Of the decision, only subject and levels are
 * used. */
int record_write_unavailable(int code, struct str message, const struct decision *decision,
                             const struct review *review,
                             const struct record_circumstances *circumstances, struct arena *arena,
                             struct str *ret_line) __attribute__((warn_unused_result, nonnull));

#endif
