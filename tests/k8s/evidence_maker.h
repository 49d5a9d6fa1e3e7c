/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_K8S_EVIDENCE_MAKER_H
#define TESTS_K8S_EVIDENCE_MAKER_H

/* evidence_maker - for tests of evidence: a keyring with two new keys, documents that they sign,
 * and the evidence made from the last document. */

#include "tests/k8s/evidence_helper.h"

#define DIGEST_A "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define DIGEST_B "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

#define HEAD(kind) "apiVersion: sandbox.runx.dev/v1\nkind: " kind "\n"
#define REQUIREMENTS HEAD("SandboxRequirements")
#define BASELINE HEAD("SandboxBaseline")
#define EXEMPTION HEAD("SandboxExemption")
#define SKILL "workload: {skill_ref: acme/report@1.4.0}\n"
#define OBSERVED "requirements: {observed_at: 2026-02-28T12:00:00Z}\n"
#define MATCH "match: {namespaces: [payments]}\n"
#define UNTIL "expires_at: 2026-06-01T00:00:00Z\n"

struct maker {
    struct arena arena;
    char *path; /* directory of the keyring */
    struct keyring *ring;
    struct helper_key *release; /* with the ids release and release-copy */
    struct helper_key *security;
    struct policy policy;
    struct evidence *evidence; /* made from the last document */
};

extern struct maker maker;

void maker_begin(void);
void maker_done(void);

/* Annotations with these signatures. `by` lists key ids, separated by blanks: release,
 * release-copy, security, others. With the prefix `x=` a signature is wrong, with `!=` it is not
 * base64. */
cJSON *maker_sign(const char *by, struct str document);

void maker_make_source(const struct evidence_source *source);
void maker_make(const char *by, struct str document);
/* A document signed by release. */
void maker_expect_valid(struct str document);
void maker_expect_invalid(struct str document, const char *reason);

/* The entries of a list, separated by blanks. */
const char *maker_words(struct str_list list);

#endif
