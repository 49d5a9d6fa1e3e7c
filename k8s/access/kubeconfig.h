/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_ACCESS_KUBECONFIG_H
#define K8S_ACCESS_KUBECONFIG_H

/*
 * kubeconfig - reads kubeconfig files and fills a struct access from them.
 *
 * A context, cluster or user is taken from the first file that defines it, with all its members; so
 * is current-context. Unknown fields are ignored, as kubectl does. Credentials of a kind that is
 * not supported are refused, so that no request is sent without them.
 *
 * Errors     0; -EINVAL with reterr_reason (the file, the place and the remedy; never a secret);
 *            -ENOMEM; -EIO the system gave no random numbers.
 * Ownership  everything is stored in the arena; texts that are added are borrowed.
 */

#include <cjson/cJSON.h>

#include "k8s/access/access.h"

#define KUBECONFIG_MAX_ENTRIES 1000 /* of one file: each of contexts, clusters, users */

struct kubeconfig_file {
    const char *path;
    const cJSON *tree;
};

/* Without files: {0} with arena and read_file set. */
struct kubeconfig {
    struct arena *arena;
    /* Reads a file that a kubeconfig names; as file_read_path(). */
    int (*read_file)(const char *path, size_t max_bytes, struct arena *arena,
                     struct str *ret_bytes);
    struct kubeconfig_file files[ACCESS_MAX_FILES];
    size_t file_count;
};

int kubeconfig_add(struct kubeconfig *config, const char *path, struct str text,
                   struct str *reterr_reason) __attribute__((warn_unused_result, nonnull));

/* context NULL: uses current-context. */
int kubeconfig_resolve(const struct kubeconfig *config, const char *context,
                       struct access *ret_access, struct str *reterr_reason)
    __attribute__((warn_unused_result, nonnull(1, 3, 4)));

#endif
