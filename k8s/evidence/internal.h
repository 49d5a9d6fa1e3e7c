/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_EVIDENCE_INTERNAL_H
#define K8S_EVIDENCE_INTERNAL_H

/*
 * internal - the steps of evidence_make(); for the files of this directory only.
 *
 * evidence.c  evidence_make(): the order of the steps; operations on evidence
 * verify.c    signatures
 * kind.c      the kind of a document
 * read.c      the fields of a document
 * copy.c      the final copy, which owns its memory
 * rules.c     changes of keys and policy
 *
 * A document is first read into a struct evidence whose texts are borrowed or stored in a
 * scratch arena; the copy is made at the end.
 *
 * Errors     -ENOMEM, -EIO. A problem of the document is a reason, not an error.
 */

#include "k8s/evidence/evidence.h"

#define EVIDENCE_MAX_REASON_BYTES 512

/* One signature annotation. */
struct evidence_signature {
    struct str key_id;
    enum signature_result result;
    unsigned char identity[KEYRING_IDENTITY_BYTES]; /* set if the result is SIGNATURE_GOOD */
};

struct evidence_signatures {
    struct evidence_signature *items; /* sorted by key id */
    size_t count;
    size_t good_count;
};

/* ---- verify.c ---- */

int evidence_verify(const struct evidence_source *source, const struct keyring *keyring,
                    struct arena *arena, struct evidence_signatures *ret_signatures)
    __attribute__((warn_unused_result));

/* Whether enough different keys verify, of those that are allowed to sign the kind. */
bool evidence_signed_enough(const struct evidence_signatures *signatures,
                            const struct policy_signers *signers);

/* Why evidence_signed_enough() is false. EVIDENCE_UNKNOWN: by the rule with the lowest threshold.
 */
int evidence_signed_reason(const struct evidence_signatures *signatures,
                           const struct policy *policy, enum evidence_kind kind,
                           struct arena *arena, struct str *ret_reason)
    __attribute__((warn_unused_result));

/* ---- kind.c ---- */

enum evidence_kind evidence_kind_of(struct str kind);

/* Whether the document says that it is a SandboxBaseline: by `kind`, or if it cannot be parsed, by
 * the word anywhere in it. */
int evidence_claims_baseline(struct str document, bool *ret_baseline)
    __attribute__((warn_unused_result));

/* ---- read.c ---- */

/* Reads the fields of a document whose signatures verify. facts->kind must be set. *ret_reason is
 * absent if there is no problem; facts are only set then. */
int evidence_read(const cJSON *document, struct arena *arena, struct evidence *facts,
                  struct str *ret_reason) __attribute__((warn_unused_result));

/* ---- copy.c ---- */

/* A copy with one reference. It owns its memory; with an owner of the content, which is not NULL
 * then and gets a reference, only the names, signers and reason. */
int evidence_copy(const struct evidence *facts, const struct evidence *owner,
                  struct evidence **ret_evidence) __attribute__((warn_unused_result));

#endif
