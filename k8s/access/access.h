/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_ACCESS_ACCESS_H
#define K8S_ACCESS_ACCESS_H

/*
 * access - the address of an API server and the credentials for it: from the service account of a
 * pod, or from a kubeconfig.
 *
 * Errors     0; -EINVAL with reterr_reason: one sentence with the file and the remedy (never a
 *            token, password or key); -ENOENT no address is configured, with reterr_reason too;
 *            -ENOMEM.
 * Ownership  all texts are stored in the given arena.
 * Threads    any, as long as no thread changes the environment.
 */

#include <stdbool.h>
#include <stddef.h>

#include "planner/base/arena.h"
#include "planner/base/list.h"
#include "planner/base/text.h"

#define ACCESS_SERVICE_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"
#define ACCESS_MAX_FILE_BYTES (1024 * 1024)
#define ACCESS_MAX_FILES 16 /* named by $KUBECONFIG */
#define ACCESS_MAX_TOKEN_BYTES 65536

struct access {
    struct str server;          /* https://host[:port][/path], without a trailing slash */
    struct str tls_server_name; /* absent: the host in server */
    bool insecure;     /* the certificate of the server is not verified: the caller must warn the
                          user */
    struct str ca_pem; /* absent: the certificate authorities of the system */
    struct str certificate_pem; /* absent: none */
    struct str key_pem;
    const char *certificate_file; /* where the pair comes from; NULL: not from files. Read again
                                     when they change */
    const char *key_file;
    struct str token;       /* absent: none */
    const char *token_file; /* NULL: none; read again, since it is rotated; preferred to token if
                               readable */
    struct str username;    /* basic authentication; absent: none */
    struct str password;
    struct str as; /* impersonation; absent: none */
    struct str as_uid;
    struct str_list as_groups;
    struct str proxy_url;      /* absent: taken from HTTPS_PROXY and NO_PROXY */
    struct str namespace_name; /* of the context or service account; absent: none */
    struct str context_name;   /* absent for a service account */
};

/* The choice of a user on the command line. */
struct access_choice {
    const char *kubeconfig; /* one file; NULL: $KUBECONFIG, else ~/.kube/config */
    const char *context;    /* NULL: current-context */
};

/* From KUBERNETES_SERVICE_HOST and _PORT, and the files of the service account in `folder`. */
int access_in_cluster(const char *folder, struct arena *arena, struct access *ret_access,
                      struct str *reterr_reason) __attribute__((warn_unused_result, nonnull));

/* Merges several files as kubectl does: the first definition of a name is used. */
int access_from_kubeconfig(const struct access_choice *choice, struct arena *arena,
                           struct access *ret_access, struct str *reterr_reason)
    __attribute__((warn_unused_result, nonnull));

/* From the kubeconfig if a file or context is chosen; else from the service account of a pod; else
 * from the kubeconfig of the environment. */
int access_find(const struct access_choice *choice, struct arena *arena, struct access *ret_access,
                struct str *reterr_reason) __attribute__((warn_unused_result, nonnull));

#endif
