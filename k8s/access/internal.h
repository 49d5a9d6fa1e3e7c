/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_ACCESS_INTERNAL_H
#define K8S_ACCESS_INTERNAL_H

/*
 * internal - shared by the files of this directory.
 *
 * access.c            the service account of a pod, and the search for kubeconfig files
 * address.c           the address of an API server
 * kubeconfig.c        files: reads them, finds the context, cluster and user in use
 * kubeconfig_entry.c  one context, cluster or user: its text members
 * kubeconfig_read.c   the members of a cluster and of a user
 * reason.c            messages
 */

#include "k8s/access/access.h"
#include "k8s/access/kubeconfig.h"

/* ---- address.c ---- */

/* Why `server` cannot be the address of an API server, as a static text; NULL: it can. */
const char *access_address_problem(struct str server);

/* ---- reason.c ---- */

/* Sets the reason and returns error; -ENOMEM if the reason is absent, because memory was short. */
int access_give_reason(int error, struct str reason, struct str *reterr_reason);
/* A name from a file or a user: shortened, and safe to print. "?" if memory is short. */
const char *access_shown_name(struct arena *arena, struct str name);

/* ---- kubeconfig_entry.c ---- */

/* One context, cluster or user. */
struct kubeconfig_entry {
    const struct kubeconfig *config;
    const struct kubeconfig_file *file;
    const char *kind; /* "cluster" */
    struct str name;
    const cJSON *body; /* NULL: it has none */
    struct str *reterr_reason;
};

/* -EINVAL with the reason `FILE: cluster "x": …`, or -ENOMEM. */
int kubeconfig_refuse(const struct kubeconfig_entry *entry, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* *ret_text is absent if the member is missing, null or empty. */
int kubeconfig_text(const struct kubeconfig_entry *entry, const char *key, struct str *ret_text)
    __attribute__((warn_unused_result, nonnull));

/* ---- kubeconfig_read.c ---- */

int kubeconfig_read_cluster(const struct kubeconfig_entry *entry, struct access *access)
    __attribute__((warn_unused_result, nonnull));
int kubeconfig_read_user(const struct kubeconfig_entry *entry, struct access *access)
    __attribute__((warn_unused_result, nonnull));

#endif
