/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_WEBHOOK_HELPER_H
#define TESTS_WEBHOOK_HELPER_H

/*
 * helper - for tests of the gate: snapshots and reviews made from short JSON texts, and decisions
 * as one text to compare. Results are allocated in the given arena. An error fails the test.
 */

#include "k8s/snapshot/snapshot.h"
#include "webhook/answer/exchange.h"

#define HELPER_NOW "2026-03-01T12:00:00Z"
#define HELPER_HEX_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HELPER_HEX_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define HELPER_HEX_C "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
#define HELPER_APP "registry.example.test/app@sha256:" HELPER_HEX_A
#define HELPER_SIDECAR "registry.example.test/mesh@sha256:" HELPER_HEX_B
#define HELPER_UNKNOWN "registry.example.test/x@sha256:" HELPER_HEX_C

/* A pod of the skill acme/app@1.0.0 that runs the image app. */
#define HELPER_GOOD_POD                                                                            \
    "{\"metadata\":{\"annotations\":{\"sandbox.runx.dev/skill-ref\":\"acme/app@1.0.0\"}},"         \
    "\"spec\":{\"containers\":[{\"image\":\"" HELPER_APP "\"}]}}"

/* The fields of valid requirements, without braces. */
#define HELPER_REQUIREMENTS                                                                        \
    "\"source_ref\":\"git:acme/app@1\",\"source_digest\":\"sha256:" HELPER_HEX_C "\","             \
    "\"observed_at\":\"2026-02-28T12:00:00Z\""

struct helper_document {
    const char *namespace_name;
    const char *name;
    const char *json;
    enum evidence_state state; /* 0: EVIDENCE_VALID, or EVIDENCE_INVALID with a reason */
    const char *reason;        /* not NULL: the state is EVIDENCE_INVALID */
};

struct helper_labels {
    const char *name;
    const char *enforce;
    const char *warn;
    const char *audit;
    const char *boundary;
};

/* Lists end with an entry without a name. NULL: an empty list. */
struct snapshot *helper_snapshot(struct arena *arena, const struct policy *policy,
                                 const struct helper_labels *namespaces,
                                 const struct helper_document *documents);

/* The namespace `payments` has the level required, `scratch` has annotated. There is evidence for
 * the skill acme/app@1.0.0 with the image app, and a baseline that lists the sidecar. */
struct snapshot *helper_default_snapshot(struct arena *arena);

/* Defaults of NULL members: UPDATE if old is set, otherwise CREATE; core Pod; payments; p; dev. */
struct helper_review {
    const char *operation;
    const char *group;
    const char *kind;
    const char *subresource;
    const char *namespace_name;
    const char *name;
    const char *user;
    const char *groups; /* JSON */
    const char *object; /* JSON */
    const char *old;    /* JSON */
};

struct str helper_review_text(struct arena *arena, const struct helper_review *review);

struct moment helper_moment(const char *text);

/* The decision at HELPER_NOW. A status other than 200 fails the test. */
struct exchange helper_exchange(struct arena *arena, const struct snapshot *snapshot,
                                const struct helper_review *review);

/* "allowed outcome" and a line "code|place|message" for each finding of the gate. */
struct str helper_summary(struct arena *arena, const struct decision *decision);

/* The same without messages, followed by the codes of the planner. */
struct str helper_codes(struct arena *arena, const struct decision *decision);

/* Reads a response body. */
const cJSON *helper_json(struct arena *arena, struct str json);

/* The text of an audit annotation. Absent if there is none. */
struct str helper_annotation(struct arena *arena, const struct exchange *exchange, const char *key);

#define cr_assert_text(given, wanted)                                                              \
    cr_assert(str_equal(given, str_of(wanted)), "given: %.*s\nwanted: %s", (int)(given).len,       \
              (given).ptr, wanted)

#endif
