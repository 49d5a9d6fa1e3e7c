/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_ACCESS_ACCESS_H
#define K8S_ACCESS_ACCESS_H

/*
 * access - where an API server is and how to prove who asks: the service account of a pod, or a
 * kubeconfig.
 *
 * Errors     0; -EINVAL with reterr_reason, one sentence with the file and what to do (never a
 *            token, password or key); -ENOENT where nothing says where the API server is, with a
 *            reason too; -ENOMEM.
 * Ownership  every text lies in the given arena.
 * Threads    any; the environment is read.
 */

#include <stdbool.h>
#include <stddef.h>

#include "planner/base/arena.h"
#include "planner/base/list.h"
#include "planner/base/text.h"

#define ACCESS_SERVICE_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"
#define ACCESS_MAX_FILE_BYTES (1024 * 1024)
#define ACCESS_MAX_FILES 16 /* of $KUBECONFIG */
#define ACCESS_MAX_TOKEN_BYTES 65536

struct access {
    struct str server;          /* https://host[:port][/path], without a slash at the end */
    struct str tls_server_name; /* absent: the host of server */
    bool insecure;              /* the server's certificate is not checked: warn loudly */
    struct str ca_pem;          /* absent: what the system trusts */
    struct str certificate_pem; /* absent: none */
    struct str key_pem;
    const char *certificate_file; /* where the two come from files: read again when they change */
    const char *key_file;
    struct str token;       /* absent: none */
    const char *token_file; /* NULL: none; wins over token when it can be read; it is rotated */
    struct str username;    /* basic authentication; absent: none */
    struct str password;
    struct str as; /* impersonation; absent: none */
    struct str as_uid;
    struct str_list as_groups;
    struct str proxy_url;      /* absent: what the environment says */
    struct str namespace_name; /* of the context or the service account; absent: none */
    struct str context_name;   /* absent in a cluster */
};

/* What a person may say on a command line; absent members are looked for. */
struct access_choice {
    const char *kubeconfig; /* one file; NULL: $KUBECONFIG, else ~/.kube/config */
    const char *context;    /* NULL: current-context */
};

/* KUBERNETES_SERVICE_HOST and _PORT, and the files of the service account in `folder`. */
int access_in_cluster(const char *folder, struct arena *arena, struct access *ret_access,
                      struct str *reterr_reason) __attribute__((warn_unused_result, nonnull));

/* Several files are merged as kubectl does: the first that names a thing wins. */
int access_from_kubeconfig(const struct access_choice *choice, struct arena *arena,
                           struct access *ret_access, struct str *reterr_reason)
    __attribute__((warn_unused_result, nonnull));

/* A kubeconfig where one is chosen, else the service account of a pod, else the kubeconfig of the
 * environment. */
int access_find(const struct access_choice *choice, struct arena *arena, struct access *ret_access,
                struct str *reterr_reason) __attribute__((warn_unused_result, nonnull));

#endif
