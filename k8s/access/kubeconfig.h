/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_ACCESS_KUBECONFIG_H
#define K8S_ACCESS_KUBECONFIG_H

/*
 * kubeconfig - the files that say where clusters are and who asks, to what access.h holds.
 *
 * The first file that names a context, a cluster or a user is the one that counts for it, whole;
 * the first that says current-context counts for that. Fields that are not known are left alone,
 * as kubectl does; what would be a way to prove who asks, and is none here, is refused.
 *
 * Errors     0; -EINVAL with reterr_reason (the file, the place, what to do; never a value that is
 *            secret); -ENOMEM; -EIO the system gave no random numbers.
 * Ownership  all in the arena; texts that are added are borrowed.
 */

#include <cjson/cJSON.h>

#include "k8s/access/access.h"

#define KUBECONFIG_MAX_ENTRIES 1000 /* contexts, clusters, users: each, of one file */

struct kubeconfig_file {
    const char *path;
    const cJSON *tree;
};

/* {0} with arena and read_file set is one without files. */
struct kubeconfig {
    struct arena *arena;
    /* How the files are read that it names; as file_read_path(). */
    int (*read_file)(const char *path, size_t max_bytes, struct arena *arena,
                     struct str *ret_bytes);
    struct kubeconfig_file files[ACCESS_MAX_FILES];
    size_t file_count;
};

int kubeconfig_add(struct kubeconfig *config, const char *path, struct str text,
                   struct str *reterr_reason) __attribute__((warn_unused_result, nonnull));

/* context NULL: current-context. */
int kubeconfig_resolve(const struct kubeconfig *config, const char *context,
                       struct access *ret_access, struct str *reterr_reason)
    __attribute__((warn_unused_result, nonnull(1, 3, 4)));

#endif
