/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_EVIDENCE_EVIDENCE_H
#define K8S_EVIDENCE_EVIDENCE_H

/*
 * evidence - one signed ConfigMap, verified and read (gate-v1, section 4).
 *
 * Made once when the ConfigMap arrives, never while a request waits; immutable afterwards and
 * counted, so that snapshots share it. Whether it has expired is not part of it: that is asked
 * with a moment.
 *
 * Errors     evidence_make(): 0, -ENOMEM, -EIO where the crypto library failed. A document that is
 *            not valid is no error: its state and reason say so.
 * Ownership  an evidence owns all that it shows. evidence_unref() drops a count; NULL is allowed.
 * Threads    immutable; the count is atomic.
 */

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "k8s/keyring/keyring.h"
#include "k8s/policy/policy.h"
#include "k8s/util/digest.h"
#include "k8s/util/refcount.h"
#include "planner/base/arena.h"
#include "planner/base/moment.h"
#include "planner/base/text.h"

#define EVIDENCE_DATA_KEY "sandbox.yaml"
#define EVIDENCE_SIGNATURE_PREFIX "signature.sandbox.runx.dev/"
#define EVIDENCE_MAX_DOCUMENT_BYTES (64 * 1024)

/* 0 is not valid: nobody set it. */
enum evidence_state {
    EVIDENCE_INVALID = 0,    /* not validly signed, or not readable: reason says why */
    EVIDENCE_VALID,          /* counts, as long as it has not expired */
    EVIDENCE_REVOKED,        /* validly signed, digest under evidence.revoked: absent */
    EVIDENCE_OTHER_AUDIENCE, /* validly signed, for another audience: absent */
};

struct evidence {
    /* who and what; always there */
    struct str namespace_name;
    struct str name;
    struct str digest;       /* "sha256:<hex>" of the document's bytes; absent without a document */
    struct str_list key_ids; /* ids that verify, sorted bytewise */
    enum evidence_state state;
    struct str reason; /* for people, one sentence, never a document's text; absent when valid */
    enum evidence_kind kind; /* of a document that is not valid only EVIDENCE_BASELINE is known */

    /* valid documents only, and another audience's; a revoked one need not be readable */
    bool has_expires_at;
    struct moment expires_at;
    struct str expires_at_text; /* as given, trimmed */
    bool namespaces_named;      /* requirements, baseline: false means any */
    struct str_list namespaces;
    /* requirements, baseline: digests; for an image_digest workload that too */
    struct str_list images;

    /* EVIDENCE_REQUIREMENTS */
    struct str skill_ref; /* trimmed; exactly one of the two is present */
    struct str image_digest;
    struct str class_text; /* trimmed, absent if not given */
    const cJSON *requirements;
    struct moment observed_at;

    /* EVIDENCE_BASELINE */
    const cJSON *baseline;
    int max_age_days; /* 0: not given */

    /* EVIDENCE_EXEMPTION */
    struct {
        struct str_list namespaces; /* required */
        bool skill_refs_named, image_digests_named, users_named, service_accounts_named;
        struct str_list skill_refs, image_digests, users, service_accounts;
    } match;
    struct str exemption_reason;
    bool findings_named; /* false: the planner's codes and gate.evidence.* are waived */
    struct str_list findings;

    /* private to evidence*.c */
    const unsigned char (*key_identities)[KEYRING_IDENTITY_BYTES]; /* one for each of key_ids */
    struct arena arena;
    struct refcount count;
};

/* What stands in the ConfigMap; every text is borrowed for the call. */
struct evidence_source {
    struct str namespace_name;
    struct str name;
    const cJSON *annotations; /* object of texts; may be NULL */
    struct str document;      /* data["sandbox.yaml"]; absent where there is none */
    bool in_binary_data;      /* the key stands in binaryData */
    struct str binary;        /* its base64 text; only looked at for a SandboxBaseline in it */
};

int evidence_make(const struct evidence_source *source, const struct keyring *keyring,
                  const struct policy *policy, struct evidence **ret_evidence)
    __attribute__((warn_unused_result, nonnull));

/*
 * What decides, beside the document and the keyring, whether evidence is valid: signers, revoked
 * digests, audience. Where it is the same and keyring_equal(), nothing needs to be verified again.
 */
int evidence_rules_digest(const struct policy *policy,
                          unsigned char ret_digest[static DIGEST_BYTES])
    __attribute__((warn_unused_result, nonnull));

/* Whether every key that verified it is still in the keyring, under the same id. */
bool evidence_signers_remain(const struct evidence *evidence, const struct keyring *keyring)
    __attribute__((nonnull));

/* A record in place of one that can no longer be verified: who it is, and why. Not valid. */
int evidence_make_distrusted(const struct evidence *before, struct str reason,
                             struct evidence **ret_evidence)
    __attribute__((warn_unused_result, nonnull));

/*
 * What new keys and rules surely take from valid evidence, before it can be read again: too few of
 * its signers are left, or its digest is revoked. *ret_evidence: a record in its place, which is
 * not valid; NULL where it stands.
 */
int evidence_withdraw(const struct evidence *before, const struct keyring *keyring,
                      const struct policy *policy, struct evidence **ret_evidence)
    __attribute__((warn_unused_result, nonnull));

/* Whether two records of one ConfigMap say the same: what else they show follows from that. */
bool evidence_same(const struct evidence *a, const struct evidence *b) __attribute__((nonnull));

struct evidence *evidence_ref(const struct evidence *evidence);
void evidence_unref(const struct evidence *evidence);

/* `expires_at` is not after now. False for what has no end. */
bool evidence_expired(const struct evidence *evidence, struct moment now);

/* When it ends: requirements with the age that is allowed, and whatever has an expires_at with
 * that; the earlier of both. False for what has no end. A baseline of a smaller max_age_days may
 * end its use before. */
bool evidence_end(const struct evidence *evidence, int max_age_days, struct moment *ret_end)
    __attribute__((nonnull));

/* In scope for a pod of that namespace: names no namespaces, or this one. */
bool evidence_in_scope(const struct evidence *evidence, struct str namespace_name);

/* An entry of an exemption's match against a value; `*` at its end matches any rest. */
bool evidence_pattern_matches(struct str pattern, struct str value);

const char *evidence_kind_text(enum evidence_kind kind);
const char *evidence_state_text(enum evidence_state state);

#endif
