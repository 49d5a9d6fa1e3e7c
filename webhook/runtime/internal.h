/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_RUNTIME_INTERNAL_H
#define WEBHOOK_RUNTIME_INTERNAL_H

/*
 * internal - declarations shared by the files of webhook/runtime/; private to this directory.
 *
 * runtime.c        starts and reloads: keyring, current configuration, choice of the source
 * configuration.c  reads the configuration file and applies the command line
 * folder.c         evidence from a directory of manifests
 * cluster.c        evidence from an API server
 * report.c         reasons and warnings of one start or reload
 */

#include <pthread.h>
#include <stdatomic.h>

#include "k8s/folder/folder.h"
#include "k8s/keyring/keyring.h"
#include "webhook/runtime/runtime.h"
#include "webhook/util/fingerprint.h"

/* The source `directory`. Only the thread that opens and reloads uses it. */
struct runtime_folder {
    struct folder *folder;
    char *path; /* of the directory; in `arena` */
    struct arena arena;
};

/* The source `cluster`. */
struct runtime_cluster {
    pthread_rwlock_t lock; /* write-locked to clear `cluster`, read-locked while it is used */
    struct cluster *cluster;
    bool was_stale; /* the last state, once `cluster` is NULL */
    struct api *api;
    struct cluster_options options;
    struct str context_namespace;       /* absent: the kubeconfig's context has none */
    const char *kubeconfig;             /* evidence.kubeconfig; NULL: not set */
    struct fingerprint kubeconfig_read; /* of the file, when it was read */
    bool restart_warned;                /* the need of a restart was already reported */
    struct arena arena;                 /* owns the texts */
};

struct runtime {
    char *config_path; /* NULL: the defaults */
    struct runtime_overrides overrides;
    struct arena arena; /* owns the texts of the two above */

    pthread_mutex_t mutex; /* protects `config` alone; held only to copy the pointer */
    struct config *config;
    struct snapshot_store *store;
    enum config_source source; /* as at the start; changing it needs a restart */

    /* only used by the thread that opens and reloads */
    struct keyring *keyring;
    struct runtime_folder folder;
    struct fingerprint files_read; /* when everything was read last */

    struct runtime_cluster cluster;
};

/* 0 or -ENOMEM, also for an absent text: the caller's arena_format() failed. When the array is
 * full, the text is dropped. */
int runtime_report_add(struct runtime_report *report, struct str reason)
    __attribute__((warn_unused_result));
int runtime_report_warn(struct runtime_report *report, const char *title, struct str reason)
    __attribute__((warn_unused_result));

/* Reads the configuration file, or takes the defaults, and applies the overrides. 0, -ENOMEM, or
 * -EINVAL with its reasons in the report. The caller owns a reference. */
int runtime_read_config(const struct runtime *runtime, struct config **ret_config,
                        struct runtime_report *report) __attribute__((warn_unused_result));

/* A reference to the configuration for a snapshot that borrows its texts. */
struct snapshot_keep runtime_hold_config(struct config *config);

/* Each source has these three functions.
 * open:   0, -EINVAL with its reasons in the report, -ENOMEM.
 * reload: reads again with the current keyring and policy. 0, -ENOMEM. */
int runtime_open_folder(struct runtime *runtime, struct config *config,
                        struct runtime_report *report) __attribute__((warn_unused_result));
int runtime_reload_folder(struct runtime *runtime, struct config *config,
                          struct runtime_report *report) __attribute__((warn_unused_result));
void runtime_close_folder(struct runtime *runtime);

int runtime_open_cluster(struct runtime *runtime, struct config *config,
                         struct runtime_report *report) __attribute__((warn_unused_result));
int runtime_reload_cluster(struct runtime *runtime, struct config *config,
                           struct runtime_report *report) __attribute__((warn_unused_result));
void runtime_close_cluster(struct runtime *runtime);

/* Called before a reloaded configuration takes effect: settings of the source that need a restart
 * keep the values of the start, and the report gets a warning. */
int runtime_keep_start_source(struct runtime *runtime, struct config *config,
                              struct runtime_report *report) __attribute__((warn_unused_result));

#endif
