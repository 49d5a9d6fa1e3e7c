/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_K8S_FOLDER_SITE_H
#define TESTS_K8S_FOLDER_SITE_H

/* folder_site - for tests of k8s/folder: a directory of manifests, and a keyring with one new key.
 */

#include "k8s/folder/folder.h"
#include "tests/k8s/evidence_helper.h"

struct site {
    struct arena arena;
    struct helper_key *key;
    char *keys_path; /* a keyring with `release`, the public half of `key` */
    struct keyring *keyring;
    char *path; /* the directory of manifests */
    struct folder *folder;
    struct policy policy;
    struct folder_report report; /* report of the last load */
};

extern struct site site;

void site_begin(void);
void site_done(void);

/* Reads the whole keyring again. */
void site_read_keyring(void);

int site_load(struct snapshot **ret_snapshot);
/* Expects that a first load fails with the path of the directory followed by this reason. */
void site_expect_refused(const char *reason);
/* Expects that a load succeeds with this number of failed files and this site_shown(). */
void site_expect(const char *state, size_t failed_files);

/* `namespace/name state` for each evidence, sorted, then the namespaces and their label. */
struct str site_shown(const struct snapshot *snapshot);

/* A manifest with signed requirements; any ConfigMap; two documents in one text. */
struct str site_signed_map(const char *namespace_name, const char *name, const char *skill);
struct str site_plain_map(const char *rest);
struct str site_joined(struct str a, struct str b);

#endif
