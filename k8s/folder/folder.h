/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_FOLDER_FOLDER_H
#define K8S_FOLDER_FOLDER_H

/*
 * folder - evidence, namespaces and NetworkPolicies from a folder of Kubernetes manifests (gate-v1,
 * section 9).
 *
 * Reads the files *.yaml, *.yml and *.json directly in the folder, also if it is mounted from a
 * ConfigMap: those that `kubectl apply -f` would take, so a leading dot changes nothing. Uses v1
 * Namespaces, v1 ConfigMaps whose evidence label is "true", and networking.k8s.io/v1
 * NetworkPolicies; ignores objects of other kinds. NetworkPolicies count as read where the policy
 * asks for them, or the folder has at least one.
 *
 * Keeps the content of each file between loads:
 *   - A file that cannot be read, or that defines an object which is defined already, keeps its
 * last state, so that a mistake in a file does not remove a baseline. Evidence in it that was
 * signed by a key which was removed since is not valid any more.
 *   - The objects of a deleted file are not used any more.
 *   - An unchanged file is not verified again unless keyring or policy changed.
 *
 * Errors     folder_load(): 0; -EINVAL a first load failed, with reasons (FILE:LINE:COL: what); at
 *            a later load the reasons go into the report, and the other files are used; -ENOMEM,
 *            -EIO, -EMFILE, -ENFILE: nothing changed, the caller can try again.
 * Ownership  reasons are stored in the given arena. folder_load() owns the keep (see snapshot.h).
 * Threads    a folder belongs to one thread, the one that reloads.
 */

#include <stddef.h>

#include "k8s/keyring/keyring.h"
#include "k8s/policy/policy.h"
#include "k8s/snapshot/snapshot.h"

#define FOLDER_MAX_FILE_BYTES (8 * 1024 * 1024)
#define FOLDER_MAX_REASONS 16

struct folder;

struct folder_report {
    size_t failed_files;                    /* that keep their last state */
    struct str reasons[FOLDER_MAX_REASONS]; /* in the given arena: FILE:LINE:COL: what */
    size_t reason_count;
};

int folder_new(const char *path, struct folder **ret_folder)
    __attribute__((warn_unused_result, nonnull));
void folder_free(struct folder *folder);

/* Reads the folder and makes a snapshot of it. Until one load has succeeded, a problem in any file
 * fails the load. *ret_report is also set on -EINVAL: it has the reasons. */
int folder_load(struct folder *folder, const struct keyring *keyring, const struct policy *policy,
                struct snapshot_keep keep, struct arena *arena, struct snapshot **ret_snapshot,
                struct folder_report *ret_report) __attribute__((warn_unused_result, nonnull));

#endif
