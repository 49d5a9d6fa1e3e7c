/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_FOLDER_FOLDER_H
#define K8S_FOLDER_FOLDER_H

/*
 * folder - evidence and namespaces from a folder of Kubernetes manifests (gate-v1, section 9).
 *
 * Read are the files *.yaml, *.yml and *.json that lie in the folder itself, also where it is
 * mounted from a ConfigMap; names that begin with a dot are not. Of their objects count v1
 * Namespaces, and v1 ConfigMaps whose evidence label is "true"; other kinds are passed over.
 *
 * Keeps what it read of each file between loads: a file that cannot be read, or gives an object
 * that another file gives already, keeps its last state; what is gone stops counting; what did not
 * change is not verified again unless keyring or policy changed. Of a file that keeps its last
 * state nothing goes on counting that a key signed that was taken away since.
 *
 * Errors     folder_load(): 0; -EINVAL with reasons (FILE:LINE:COL: what) where a first load
 *            fails; at a later load the reasons go into the report and the rest counts; -ENOMEM,
 *            -EIO, -EMFILE, -ENFILE: nothing changed, the load is to be tried again.
 * Ownership  reasons lie in the given arena. Whoever is given a keep takes it over (snapshot.h).
 * Threads    one thread (the reloading one) owns a folder.
 */

#include <stddef.h>

#include "k8s/keyring/keyring.h"
#include "k8s/policy/policy.h"
#include "k8s/snapshot/snapshot.h"

#define FOLDER_MAX_FILE_BYTES (8 * 1024 * 1024)
#define FOLDER_MAX_REASONS 16

struct folder;

struct folder_report {
    size_t failed_files;                    /* kept at their last state */
    struct str reasons[FOLDER_MAX_REASONS]; /* in the given arena: FILE:LINE:COL: what */
    size_t reason_count;
};

int folder_new(const char *path, struct folder **ret_folder)
    __attribute__((warn_unused_result, nonnull));
void folder_free(struct folder *folder);

/* Reads the folder (again) and makes a snapshot of it. Until a first load succeeds, every load is
 * strict. *ret_report is written on -EINVAL too: it holds the reasons. */
int folder_load(struct folder *folder, const struct keyring *keyring, const struct policy *policy,
                struct snapshot_keep keep, struct arena *arena, struct snapshot **ret_snapshot,
                struct folder_report *ret_report) __attribute__((warn_unused_result, nonnull));

#endif
