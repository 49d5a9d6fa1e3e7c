/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_K8S_FOLDER_SITE_H
#define TESTS_K8S_FOLDER_SITE_H

/* What tests of folders share: a folder of manifests, and a keyring with one key of ours. */

#include "k8s/folder/folder.h"
#include "tests/k8s/evidence_helper.h"

struct site {
    struct arena arena;
    struct helper_key *key;
    char *keys_path; /* a keyring with `release`, the public half of key */
    struct keyring *keyring;
    char *path; /* the folder of manifests */
    struct folder *folder;
    struct policy policy;
    struct folder_report report; /* of the last load */
};

extern struct site site;

void site_begin(void);
void site_done(void);

/* Reads the keyring again, as a whole. */
void site_read_keyring(void);

int site_load(struct snapshot **ret_snapshot);
/* A first load that fails for this reason, which stands behind the folder's path. */
void site_expect_refused(const char *reason);
/* A load that succeeds with so many failed files and, as site_shown() has it, this state. */
void site_expect(const char *state, size_t failed_files);

/* What counts: `namespace/name state`, by namespace and name, then namespaces and their label. */
struct str site_shown(const struct snapshot *snapshot);

/* A manifest with requirements that our key signed; any ConfigMap; two documents in one text. */
struct str site_signed_map(const char *namespace_name, const char *name, const char *skill);
struct str site_plain_map(const char *rest);
struct str site_joined(struct str a, struct str b);

#endif
