/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_EVIDENCE_INTERNAL_H
#define K8S_EVIDENCE_INTERNAL_H

/*
 * internal - the steps of evidence_make(); private to evidence*.c.
 *
 * The facts of a document are gathered in a struct evidence whose texts are borrowed or lie in a
 * scratch arena, and kept in one piece at the end.
 *
 * Errors     -ENOMEM, -EIO. What is wrong with a document is a reason for people.
 */

#include "k8s/evidence/evidence.h"

#define EVIDENCE_MAX_REASON_BYTES 512

/* One signature annotation. */
struct evidence_signature {
    struct str key_id;
    enum signature_result result;
    unsigned char identity[KEYRING_IDENTITY_BYTES]; /* where it is good */
};

struct evidence_signatures {
    struct evidence_signature *items; /* by key id */
    size_t count;
    size_t good_count;
};

/* verify.c */
int evidence_verify(const struct evidence_source *source, const struct keyring *keyring,
                    struct arena *arena, struct evidence_signatures *ret_signatures)
    __attribute__((warn_unused_result));

/* Whether enough different keys verify, of those that may sign that kind. */
bool evidence_signed_enough(const struct evidence_signatures *signatures,
                            const struct policy_signers *signers);

/* Why not; of a document whose kind is not known as the weakest of the rules sees it. */
int evidence_signed_reason(const struct evidence_signatures *signatures,
                           const struct policy *policy, enum evidence_kind kind,
                           struct arena *arena, struct str *ret_reason)
    __attribute__((warn_unused_result));

/* kind.c */
enum evidence_kind evidence_kind_of(struct str kind);

/* Whether it calls itself a SandboxBaseline: by `kind`, or where it does not parse by a line. */
int evidence_calls_itself_baseline(struct str document, bool *ret_baseline)
    __attribute__((warn_unused_result));

/* read.c: fields of a document that is well signed. *ret_reason is absent where all is
 * well. facts->kind is set already. */
int evidence_read(const cJSON *document, struct arena *arena, struct evidence *facts,
                  struct str_list *ret_audiences, bool *ret_audiences_named, struct str *ret_reason)
    __attribute__((warn_unused_result));

/* keep.c: a copy that owns all it shows. */
int evidence_keep(const struct evidence *facts, struct evidence **ret_evidence)
    __attribute__((warn_unused_result));

#endif
