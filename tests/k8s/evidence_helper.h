/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_K8S_EVIDENCE_HELPER_H
#define TESTS_K8S_EVIDENCE_HELPER_H

/* What tests of keys and evidence share. What cannot be read fails the test. Everything lives in
 * the given arena; keyrings and evidence are the caller's to drop. */

#include "k8s/evidence/evidence.h"
#include "k8s/keyring/keyring.h"

/* The moment of all cases, 2026-03-01T12:00:00Z. */
struct moment helper_now(void);

struct str helper_text(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct str helper_bytes(struct arena *arena, const char *path);
/* A text of our own making, or a file's, as strict YAML or JSON. */
cJSON *helper_document(struct arena *arena, struct str text);

/* A folder below tests/cases. */
struct keyring *helper_keyring(struct arena *arena, const char *folder);

/* What a ConfigMap manifest gives to evidence_make(). */
struct evidence_source helper_source(struct arena *arena, struct str manifest);

/* A new, empty folder, and files in it; helper_remove_folder() takes both away. */
char *helper_new_folder(struct arena *arena);
void helper_write(const char *folder, const char *name, struct str text);
void helper_remove(const char *folder, const char *name);
void helper_remove_folder(const char *folder);

/* A key of our own: signs as a member of a keyring in which its public half is. */
struct helper_key;
struct helper_key *helper_key_new(struct arena *arena, int algorithm, unsigned bits);
void helper_key_free(struct helper_key *key);
struct str helper_key_pem(struct helper_key *key, struct arena *arena);
/* Base64 of an Ed25519 signature. */
struct str helper_key_sign(struct helper_key *key, struct arena *arena, struct str document);

#endif
