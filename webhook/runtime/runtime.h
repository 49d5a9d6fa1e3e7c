/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_RUNTIME_RUNTIME_H
#define WEBHOOK_RUNTIME_RUNTIME_H

/*
 * runtime - configuration, keyring and evidence of a running gate, read and read again.
 *
 * Owns the store with the current snapshot. runtime_open() is strict: whatever is wrong ends the
 * start with its reasons. runtime_reload() never is: what was taken away stops counting, what is
 * new and broken waits, and the report says what failed (gate-v1, sections 4 and 9). Called by one
 * thread at a time; runtime_snapshot() by any.
 *
 * Errors     0; -EINVAL with reasons (each `FILE:LINE:COL: what`); -ENOMEM.
 */

#include "k8s/cluster/cluster.h"
#include "k8s/snapshot/snapshot.h"
#include "webhook/config/config.h"

#define RUNTIME_MAX_REASONS 32
#define RUNTIME_MAX_WARNINGS 4

struct runtime;

struct runtime_report {
    struct arena arena; /* owns the reasons: runtime_report_done() */
    struct str reasons[RUNTIME_MAX_REASONS];
    size_t reason_count;
    struct str warnings[RUNTIME_MAX_WARNINGS]; /* what works and should not stay so */
    size_t warning_count;
    bool config_failed;
    bool keyring_failed;
    bool evidence_failed;
    bool changed; /* a new snapshot was put into the store */
};

/* What replaces parts of the configuration file: NULL members stand for what it says. */
struct runtime_overrides {
    const char *evidence_directory;
    const char *keyring_directory;
    const char *own_namespace; /* where the file has no evidence.namespace */
    const char *kubeconfig;    /* of a command: this cluster, whatever the source is */
    const char *context;       /* likewise */
    bool serving;              /* a pod's service account counts before a person's kubeconfig */
    void (*on_event)(void *context, const struct cluster_event *event); /* may be NULL */
    void *event_context;
};

/* config_path NULL: the defaults. The report is there on failure too. */
int runtime_open(const char *config_path, const struct runtime_overrides *overrides,
                 struct runtime **ret_runtime, struct runtime_report *ret_report)
    __attribute__((warn_unused_result, nonnull(2, 3, 4)));
void runtime_free(struct runtime *runtime);

/* Reads everything again where a file changed (or always, where force is true). Changes are seen by
 * the times, sizes and numbers of the files behind the names, so the swap of a mounted ConfigMap's
 * `..data` is one. */
int runtime_reload(struct runtime *runtime, bool force, struct runtime_report *ret_report)
    __attribute__((warn_unused_result, nonnull));

/* A count for the caller. */
struct snapshot *runtime_snapshot(struct runtime *runtime);
/* The configuration in force, a count for the caller. */
struct config *runtime_config(struct runtime *runtime);

/* Begins to watch the cluster, if that is the source: the first snapshot comes when it has listed
 * everything. A command lists once instead, and waits for it. */
int runtime_start(struct runtime *runtime) __attribute__((warn_unused_result, nonnull));
int runtime_read_once(struct runtime *runtime, uint64_t deadline_msec, struct arena *arena,
                      struct str *reterr_reason) __attribute__((warn_unused_result, nonnull));

/* "https://10.0.0.1:6443", and the namespace of the kubeconfig's context; absent with a folder. */
struct str runtime_api_server(const struct runtime *runtime);
struct str runtime_context_namespace(const struct runtime *runtime);

/* Of a cluster, by any thread: as cluster.h has them. After runtime_dismiss() nobody waits, and
 * asking gives -ESHUTDOWN. */
int runtime_ask(struct runtime *runtime, enum cluster_question question, struct str namespace_name,
                struct cluster_waiter *waiter) __attribute__((warn_unused_result, nonnull));
bool runtime_is_stale(struct runtime *runtime);
void runtime_look(struct runtime *runtime, struct cluster_status *ret_status);
void runtime_dismiss(struct runtime *runtime);

void runtime_report_done(struct runtime_report *report);

#endif
