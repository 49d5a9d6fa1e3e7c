/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_K8S_EVIDENCE_HELPER_H
#define TESTS_K8S_EVIDENCE_HELPER_H

/* evidence_helper - for tests of keys and evidence. A file or text that cannot be read fails the
 * test. Results are allocated in the given arena, except keyrings and evidence, which the caller
 * releases. */

#include "k8s/evidence/evidence.h"
#include "k8s/keyring/keyring.h"

/* The time of all cases, 2026-03-01T12:00:00Z. */
struct moment helper_now(void);

struct str helper_text(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct str helper_bytes(struct arena *arena, const char *path);
/* A trusted text, or the text of a file, read as strict YAML or JSON. */
cJSON *helper_document(struct arena *arena, struct str text);

/* A directory below tests/cases. */
struct keyring *helper_keyring(struct arena *arena, const char *folder);

/* The arguments of evidence_make() from a ConfigMap manifest. */
struct evidence_source helper_source(struct arena *arena, struct str manifest);

/* A new, empty directory, and files in it. helper_remove_folder() removes both. */
char *helper_new_folder(struct arena *arena);
void helper_write(const char *folder, const char *name, struct str text);
void helper_remove(const char *folder, const char *name);
void helper_remove_folder(const char *folder);

/* A new key pair. Its public half can be put in a keyring. */
struct helper_key;
struct helper_key *helper_key_new(struct arena *arena, int algorithm, unsigned bits);
void helper_key_free(struct helper_key *key);
struct str helper_key_pem(struct helper_key *key, struct arena *arena);
/* Base64 of an Ed25519 signature. */
struct str helper_key_sign(struct helper_key *key, struct arena *arena, struct str document);

#endif
