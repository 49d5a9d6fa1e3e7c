/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_EVIDENCE_EVIDENCE_H
#define K8S_EVIDENCE_EVIDENCE_H

/*
 * evidence - one signed ConfigMap, verified and read (gate-v1, section 4).
 *
 * Made once when the ConfigMap arrives, never while a request waits; then immutable and
 * reference-counted, so that snapshots share it. It does not record whether it has expired, because
 * that depends on the time of the question: see evidence_expired().
 *
 * Errors     evidence_make(): 0; -ENOMEM; -EIO the crypto library failed. A document that is not
 *            valid is a result, not an error: see state and reason.
 * Ownership  an evidence owns its names and signers. Everything that follows from the bytes of the
 *            document can belong to another evidence, which it then keeps alive: see
 *            struct evidence_known. evidence_unref() drops one reference; NULL is allowed.
 * Threads    immutable; the reference count is atomic.
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

/* The zero value is not valid, so that a state that was never set permits nothing. */
enum evidence_state {
    EVIDENCE_INVALID = 0,    /* not validly signed, or not readable: see reason */
    EVIDENCE_VALID,          /* in use until it expires */
    EVIDENCE_REVOKED,        /* validly signed, but its digest is in evidence.revoked: not used */
    EVIDENCE_OTHER_AUDIENCE, /* validly signed, but for another audience: not used */
};

struct evidence {
    /* always set */
    struct str namespace_name;
    struct str name;
    struct str digest;       /* "sha256:<hex>" of the document's bytes; absent without a document */
    struct str_list key_ids; /* of the signatures that verify, sorted bytewise */
    enum evidence_state state;
    enum evidence_kind kind; /* of an invalid document: EVIDENCE_BASELINE or EVIDENCE_UNKNOWN */
    struct str
        reason; /* one sentence for people, without text of the document; absent when valid */

    /* only set for valid documents and for those of another audience; a revoked document can be
     * unreadable */
    bool audiences_named;
    bool has_expires_at;
    bool namespaces_named; /* requirements, baseline: false means any */
    bool findings_named;   /* exemption: false waives the planner's codes and gate.evidence.* */
    int max_age_days;      /* baseline; 0: not given */
    struct str_list audiences;
    struct moment expires_at;
    struct str expires_at_text; /* as in the document, trimmed */
    struct str_list namespaces;
    /* requirements, baseline: digests; includes the digest of an image_digest workload */
    struct str_list images;

    /* EVIDENCE_REQUIREMENTS */
    struct str skill_ref; /* trimmed; exactly one of the two is present */
    struct str image_digest;
    struct str class_text; /* trimmed; absent if not given */
    const cJSON *requirements;
    struct moment observed_at;

    /* EVIDENCE_BASELINE */
    const cJSON *baseline;
    unsigned boundary_hold;       /* controls that must be held: boundary_control_bit() */
    const cJSON *boundary_mounts; /* array of texts; NULL: not given, which differs from empty */

    /* EVIDENCE_EXEMPTION */
    struct {
        struct str_list namespaces; /* required */
        bool skill_refs_named, image_digests_named, users_named, service_accounts_named;
        struct str_list skill_refs, image_digests, users, service_accounts;
    } match;
    struct str exemption_reason;
    struct str_list findings;

    /* private to the files of this directory */
    const unsigned char (
        *key_identities)[KEYRING_IDENTITY_BYTES]; /* one for each item of key_ids */
    struct evidence *owner;     /* of the content; owned: one reference; NULL: this one */
    struct arena_block *memory; /* owned: the last block of an arena that holds this struct too */
    struct refcount count;
};

/*
 * Documents that were read before. Anyone who can create ConfigMaps can copy a signed document: a
 * copy is verified, but not read again, and what is kept of it does not grow with the document.
 */
struct evidence_known {
    /* One that is valid or for another audience; borrowed for the call. NULL: there is none. */
    const struct evidence *(*find)(void *context, struct str digest);
    void *context;
};

/* The relevant content of a ConfigMap; borrowed for the call. */
struct evidence_source {
    struct str namespace_name;
    struct str name;
    const cJSON *annotations;           /* object with text values; can be NULL */
    struct str document;                /* data["sandbox.yaml"]; absent if there is none */
    bool in_binary_data;                /* binaryData has the key sandbox.yaml */
    struct str binary;                  /* its base64 text; only searched for a SandboxBaseline */
    const struct evidence_known *known; /* can be NULL */
};

int evidence_make(const struct evidence_source *source, const struct keyring *keyring,
                  const struct policy *policy, struct evidence **ret_evidence)
    __attribute__((warn_unused_result, nonnull));

/*
 * A digest of everything in the policy that decides whether evidence is valid: signers, revoked
 * digests, audience. If it is equal and keyring_equal() too, nothing needs to be verified again.
 * 0 or -EIO.
 */
int evidence_rules_digest(const struct policy *policy,
                          unsigned char ret_digest[static DIGEST_BYTES])
    __attribute__((warn_unused_result, nonnull));

/* Whether the keyring still has every key that verified it, under the same id. */
bool evidence_signers_remain(const struct evidence *evidence, const struct keyring *keyring)
    __attribute__((nonnull));

/* An invalid record that replaces one that can no longer be verified: same name, new reason. */
int evidence_make_distrusted(const struct evidence *before, struct str reason,
                             struct evidence **ret_evidence)
    __attribute__((warn_unused_result, nonnull));

/*
 * Whether a new keyring and policy certainly end the validity of evidence, without its document:
 * too few of its signers are left, or its digest is revoked. *ret_evidence: the record that
 * replaces it, which is not valid; NULL if it stays valid or was not valid before.
 */
int evidence_withdraw(const struct evidence *before, const struct keyring *keyring,
                      const struct policy *policy, struct evidence **ret_evidence)
    __attribute__((warn_unused_result, nonnull));

/* Whether two records of one ConfigMap are equal. Compares digest, state, kind, reason and signers:
 * all other members follow from these. */
bool evidence_same(const struct evidence *a, const struct evidence *b) __attribute__((nonnull));

struct evidence *evidence_ref(const struct evidence *evidence);
void evidence_unref(const struct evidence *evidence);

/* Whether expires_at is not after now. False if it has no expiry. */
bool evidence_expired(const struct evidence *evidence, struct moment now);

/* When it ends: requirements at the allowed age, and any kind at expires_at; the earlier of both.
 * False if it has no end. A baseline with a smaller max_age_days can end the use of requirements
 * earlier. */
bool evidence_end(const struct evidence *evidence, int max_age_days, struct moment *ret_end)
    __attribute__((nonnull));

/* Whether it applies to pods of the namespace: it names this namespace, or none. */
bool evidence_in_scope(const struct evidence *evidence, struct str namespace_name);

/* Compares an entry of an exemption's match with a value; `*` at the end of the entry matches any
 * rest, `*` alone matches nothing. */
bool evidence_pattern_matches(struct str pattern, struct str value);

const char *evidence_kind_text(enum evidence_kind kind);
const char *evidence_state_text(enum evidence_state state);

#endif
