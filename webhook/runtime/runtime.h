/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_RUNTIME_RUNTIME_H
#define WEBHOOK_RUNTIME_RUNTIME_H

/*
 * runtime - loads and reloads configuration, keyring and evidence of a running gate.
 *
 * Owns the store with the current snapshot. runtime_open() is strict: any problem stops the start,
 * with its reasons. runtime_reload() is tolerant: what was removed stops counting, what is new and
 * broken is not used yet, and the report says what failed (gate-v1, sections 4 and 9).
 *
 * Errors     0; -EINVAL with reasons (each `FILE:LINE:COL: what`); -ENOMEM.
 * Ownership  functions that return a snapshot or a configuration return a reference for the caller.
 * Threads    one at a time, except where a function says otherwise.
 */

#include "k8s/cluster/cluster.h"
#include "k8s/snapshot/snapshot.h"
#include "webhook/config/config.h"

#define RUNTIME_MAX_REASONS 32
#define RUNTIME_MAX_WARNINGS 4

struct runtime;

/* Something that works, but is insecure or not in effect yet. */
struct runtime_warning {
    const char *title; /* static: a log message */
    struct str reason;
};

struct runtime_report {
    struct arena arena; /* owns the reasons: runtime_report_done() */
    struct str reasons[RUNTIME_MAX_REASONS];
    size_t reason_count;
    struct runtime_warning warnings[RUNTIME_MAX_WARNINGS];
    size_t warning_count;
    bool config_failed;
    bool keyring_failed;
    bool evidence_failed;
    bool changed; /* a new snapshot was put into the store */
};

/* Command line options that replace settings of the configuration file. NULL: the file's setting.
 */
struct runtime_overrides {
    const char *evidence_directory;
    const char *keyring_directory;
    const char *own_namespace; /* only used if the file has no evidence.namespace */
    const char *kubeconfig;    /* selects this cluster, whatever evidence.source is */
    const char *context;       /* of the kubeconfig; selects a cluster in the same way */
    bool evidence_only; /* NetworkPolicies are not needed: ask a cluster for no right to them */
    bool serving;       /* prefer the pod's service account over a kubeconfig */
    void (*on_event)(void *context, const struct cluster_event *event); /* may be NULL */
    void *event_context;
};

/* config_path NULL: the defaults. The report is filled on failure too. */
int runtime_open(const char *config_path, const struct runtime_overrides *overrides,
                 struct runtime **ret_runtime, struct runtime_report *ret_report)
    __attribute__((warn_unused_result, nonnull(2, 3, 4)));
void runtime_free(struct runtime *runtime);

/* Reads everything again if a file changed, or if force is true. A change is detected by times,
 * sizes and inode numbers, symbolic links followed. So the swap of a mounted ConfigMap's `..data`
 * link is detected. */
int runtime_reload(struct runtime *runtime, bool force, struct runtime_report *ret_report)
    __attribute__((warn_unused_result, nonnull));

/* The current snapshot; NULL before the first one. Any thread. */
struct snapshot *runtime_snapshot(struct runtime *runtime);
/* The configuration in force. Any thread. */
struct config *runtime_config(struct runtime *runtime);

/* Starts to watch the cluster, if that is the source. The first snapshot is made when everything
 * has been listed. */
int runtime_start(struct runtime *runtime) __attribute__((warn_unused_result, nonnull));
/* For commands: lists the cluster once and waits for the end of it, instead of runtime_start(). */
int runtime_read_once(struct runtime *runtime, uint64_t deadline_msec, struct arena *arena,
                      struct str *reterr_reason) __attribute__((warn_unused_result, nonnull));

/* "https://10.0.0.1:6443"; absent if the source is a directory. */
struct str runtime_api_server(const struct runtime *runtime);
/* The namespace of the kubeconfig's context; absent if it has none, or the source is a directory.
 */
struct str runtime_context_namespace(const struct runtime *runtime);

/* The functions of cluster.h for the cluster that is the source. Any thread. After
 * runtime_stop_cluster() no question is pending, and runtime_ask() returns -ESHUTDOWN. */
int runtime_ask(struct runtime *runtime, enum cluster_question question, struct str namespace_name,
                struct cluster_waiter *waiter) __attribute__((warn_unused_result, nonnull));
bool runtime_is_stale(struct runtime *runtime);
void runtime_cluster_status(struct runtime *runtime, struct cluster_status *ret_status);
void runtime_stop_cluster(struct runtime *runtime);

/* What the keyring can be used for. */
struct runtime_trust {
    size_t keys;
    /* how many different keys more the threshold of this kind needs than can count for it; 0: it
     * can be met, or the configuration says that no key counts for the kind and needs none of it */
    unsigned missing[EVIDENCE_KIND_COUNT];
};

/* Only for the thread that opens and reloads. */
void runtime_read_trust(struct runtime *runtime, struct runtime_trust *ret_trust)
    __attribute__((nonnull));

void runtime_report_done(struct runtime_report *report);

#endif
