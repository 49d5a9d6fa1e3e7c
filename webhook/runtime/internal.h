/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_RUNTIME_INTERNAL_H
#define WEBHOOK_RUNTIME_INTERNAL_H

/*
 * internal - what the files runtime*.c share; nobody else includes it.
 *
 * runtime.c          configuration and keyring, and the order of things
 * folder.c   evidence from a folder
 * cluster.c  evidence from an API server
 */

#include <pthread.h>
#include <stdatomic.h>

#include "k8s/folder/folder.h"
#include "k8s/keyring/keyring.h"
#include "webhook/util/fingerprint.h"
#include "webhook/runtime/runtime.h"

/* The source `directory`; the reloading thread's own. */
struct runtime_folder {
    struct folder *folder;
    char *path; /* of `folder`; in its own arena */
    struct arena arena;
};

/* The source `cluster`. */
struct runtime_cluster {
    pthread_rwlock_t lock; /* written where `cluster` comes and goes; read while it is asked */
    struct cluster *cluster;
    bool was_stale; /* once it is gone */
    struct api *api;
    struct cluster_options options;
    struct str context_namespace; /* absent: the access names none */
    const char *kubeconfig;       /* the configuration's; NULL: none */
    struct fingerprint kubeconfig_seen;
    bool restart_told;
    struct arena arena; /* owns the texts */
};

struct runtime {
    char *config_path; /* NULL: the defaults */
    struct runtime_overrides overrides;
    struct arena arena; /* owns the texts of the two above */

    pthread_mutex_t mutex; /* around `config` alone, held for the copy of the pointer */
    struct config *config;
    struct snapshot_store *store;
    enum config_source source; /* that of the start; another one needs a restart */
    _Atomic uint32_t max_stale_sec;

    /* the reloading thread's own */
    struct keyring *keyring;
    struct runtime_folder folder;
    struct fingerprint seen;

    struct runtime_cluster cluster;
};

/* 0 or -ENOMEM; absent: out of memory. Beyond the last place a reason is only not shown. */
int runtime_report_add(struct runtime_report *report, struct str reason)
    __attribute__((warn_unused_result));
int runtime_report_warn(struct runtime_report *report, struct str warning)
    __attribute__((warn_unused_result));

/* Reads the configuration file, or takes the defaults, and applies the overrides. 0, -ENOMEM, or
 * -EINVAL with its reasons in the report. The caller owns a reference. */
int runtime_read_config(const struct runtime *runtime, struct config **ret_config,
                        struct runtime_report *report) __attribute__((warn_unused_result));

/* A reference to the configuration for a snapshot that borrows its texts. */
struct snapshot_keep runtime_hold_config(struct config *config);

/* Each source has these three. Opening: 0, -EINVAL with its reasons in the report, -ENOMEM.
 * Reading again, with the keys and rules of now: 0, -ENOMEM. */
int runtime_open_folder(struct runtime *runtime, struct config *config,
                        struct runtime_report *report) __attribute__((warn_unused_result));
int runtime_reread_folder(struct runtime *runtime, struct config *config,
                          struct runtime_report *report) __attribute__((warn_unused_result));
void runtime_close_folder(struct runtime *runtime);

int runtime_open_cluster(struct runtime *runtime, struct config *config,
                         struct runtime_report *report) __attribute__((warn_unused_result));
int runtime_reread_cluster(struct runtime *runtime, struct config *config,
                           struct runtime_report *report) __attribute__((warn_unused_result));
void runtime_close_cluster(struct runtime *runtime);

/* Before a configuration that was read again counts: what it says of the source and cannot be had
 * without a restart stays as it is, and the report says so. */
int runtime_keep_source(struct runtime *runtime, struct config *config,
                        struct runtime_report *report) __attribute__((warn_unused_result));

#endif
