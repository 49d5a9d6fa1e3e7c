/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime - opens and reloads configuration, keyring and evidence, in this order: evidence is
 * verified with the keyring, and the configuration says where both are.
 */

#include "webhook/runtime/internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "k8s/util/clock.h"
#include "k8s/util/file.h"

static void drop_runtime(struct runtime **runtime)
{
    runtime_free(*runtime);
}

#define cleanup_runtime __attribute__((cleanup(drop_runtime)))

static struct fingerprint fingerprint_files(const struct runtime *runtime,
                                            const struct config *config)
{
    struct fingerprint fingerprint = {0};
    int64_t now_sec = clock_unix_sec();

    fingerprint_add(&fingerprint, runtime->config_path, now_sec);
    fingerprint_add(&fingerprint, config->keyring_directory, now_sec);
    fingerprint_add(&fingerprint, config->evidence_directory, now_sec);
    fingerprint_add(&fingerprint, config->kubeconfig, now_sec);
    return fingerprint;
}

static void set_config(struct runtime *runtime, struct config *config)
{
    struct config *old = NULL;

    (void)pthread_mutex_lock(&runtime->mutex);
    old = runtime->config;
    runtime->config = config_ref(config);
    (void)pthread_mutex_unlock(&runtime->mutex);
    config_unref(old);
}

static int copy_text(struct arena *arena, const char *text, const char **ret_copy)
{
    const char *copy = text != NULL ? arena_copy(arena, str_of(text)) : NULL;

    if (text != NULL && copy == NULL)
        return -ENOMEM;
    *ret_copy = copy;
    return 0;
}

static int new_runtime(const char *config_path, const struct runtime_overrides *overrides,
                       struct runtime **ret_runtime)
{
    struct runtime *runtime = calloc(1, sizeof(*runtime));
    int r = 0;

    if (runtime == NULL)
        return -ENOMEM;
    if (pthread_mutex_init(&runtime->mutex, NULL) != 0) {
        free(runtime);
        return -ENOMEM;
    }
    if (pthread_rwlock_init(&runtime->cluster.lock, NULL) != 0) {
        (void)pthread_mutex_destroy(&runtime->mutex);
        free(runtime);
        return -ENOMEM;
    }
    if (config_path != NULL) {
        runtime->config_path = arena_copy(&runtime->arena, str_of(config_path));
        r = runtime->config_path != NULL ? 0 : -ENOMEM;
    }
    runtime->overrides.evidence_only = overrides->evidence_only;
    runtime->overrides.serving = overrides->serving;
    runtime->overrides.on_event = overrides->on_event;
    runtime->overrides.event_context = overrides->event_context;
    if (r == 0)
        r = copy_text(&runtime->arena, overrides->evidence_directory,
                      &runtime->overrides.evidence_directory);
    if (r == 0)
        r = copy_text(&runtime->arena, overrides->keyring_directory,
                      &runtime->overrides.keyring_directory);
    if (r == 0)
        r = copy_text(&runtime->arena, overrides->own_namespace, &runtime->overrides.own_namespace);
    if (r == 0)
        r = copy_text(&runtime->arena, overrides->kubeconfig, &runtime->overrides.kubeconfig);
    if (r == 0)
        r = copy_text(&runtime->arena, overrides->context, &runtime->overrides.context);
    if (r == 0)
        r = snapshot_store_new(&runtime->store);
    if (r != 0) {
        runtime_free(runtime);
        return r;
    }
    *ret_runtime = runtime;
    return 0;
}

void runtime_free(struct runtime *runtime)
{
    if (runtime == NULL)
        return;
    runtime_close_cluster(runtime);
    runtime_close_folder(runtime);
    snapshot_store_free(runtime->store);
    keyring_unref(runtime->keyring);
    config_unref(runtime->config);
    arena_release(&runtime->arena);
    (void)pthread_mutex_destroy(&runtime->mutex);
    (void)pthread_rwlock_destroy(&runtime->cluster.lock);
    free(runtime);
}

/* The reason of keyring_load() includes the name of the file. */
static int open_keyring(struct runtime *runtime, const struct config *config,
                        struct runtime_report *report)
{
    struct str reason = {0};
    int r = keyring_load(config->keyring_directory, &report->arena, &runtime->keyring, &reason);

    if (r == 0 || r == -ENOMEM)
        return r;
    if (!str_present(reason))
        reason =
            arena_format(&report->arena, "%s: %s", config->keyring_directory, file_error_text(r));
    report->keyring_failed = true;
    r = runtime_report_add(report, reason);
    return r != 0 ? r : -EINVAL;
}

int runtime_open(const char *config_path, const struct runtime_overrides *overrides,
                 struct runtime **ret_runtime, struct runtime_report *ret_report)
{
    cleanup_runtime struct runtime *runtime = NULL;
    cleanup_config struct config *config = NULL;
    int keyring_result = 0;
    int r = 0;

    *ret_report = (struct runtime_report){0};
    r = new_runtime(config_path, overrides, &runtime);
    if (r == 0)
        r = runtime_read_config(runtime, &config, ret_report);
    ret_report->config_failed = r == -EINVAL;
    if (r != 0)
        return r;
    runtime->files_read = fingerprint_files(runtime, config);
    keyring_result = open_keyring(runtime, config, ret_report);
    if (keyring_result != 0)
        return keyring_result;
    assert(config->source != CONFIG_SOURCE_UNSET);
    runtime->source = config->source;
    r = runtime->source == CONFIG_SOURCE_CLUSTER ? runtime_open_cluster(runtime, config, ret_report)
                                                 : runtime_open_folder(runtime, config, ret_report);
    if (r != 0)
        return r;
    set_config(runtime, config);
    ret_report->changed = true;
    *ret_runtime = runtime;
    runtime = NULL;
    return 0;
}

/* The new configuration, or another reference to the one in force if the file is broken. */
static int reload_config(struct runtime *runtime, struct config **ret_config,
                         struct runtime_report *report)
{
    int r = runtime_read_config(runtime, ret_config, report);

    if (r != -EINVAL)
        return r;
    report->config_failed = true;
    *ret_config = config_ref(runtime->config);
    return 0;
}

static int reload_keyring(struct runtime *runtime, const struct config *config,
                          struct runtime_report *report)
{
    struct keyring *keyring = NULL;
    struct keyring_report found = {0};
    int r = keyring_reload(runtime->keyring, config->keyring_directory, &report->arena, &keyring,
                           &found);

    if (r == -ENOMEM)
        return r;
    if (r != 0) { /* a temporary failure: the keys stay in use, and the next reload tries again */
        report->keyring_failed = true;
        return runtime_report_add(
            report,
            arena_format(&report->arena, "%s: %s", config->keyring_directory, file_error_text(r)));
    }
    keyring_unref(runtime->keyring);
    runtime->keyring = keyring;
    if (found.whole)
        return 0;
    report->keyring_failed = true;
    return runtime_report_add(report, found.reason);
}

int runtime_reload(struct runtime *runtime, bool force, struct runtime_report *ret_report)
{
    cleanup_config struct config *config = NULL;
    struct fingerprint now = fingerprint_files(runtime, runtime->config);
    int r = 0;

    *ret_report = (struct runtime_report){0};
    if (!force && fingerprint_same(runtime->files_read, now))
        return 0;
    runtime->files_read = (struct fingerprint){.unsettled = true}; /* after a failure: read again */
    r = reload_config(runtime, &config, ret_report);
    if (r == 0)
        r = reload_keyring(runtime, config, ret_report);
    if (r == 0)
        r = runtime_keep_start_source(runtime, config, ret_report);
    if (r == 0)
        r = runtime->source == CONFIG_SOURCE_CLUSTER
                ? runtime_reload_cluster(runtime, config, ret_report)
                : runtime_reload_folder(runtime, config, ret_report);
    if (r != 0)
        return r;
    set_config(runtime, config);
    ret_report->changed = true;
    runtime->files_read = now;
    return 0;
}

struct snapshot *runtime_snapshot(struct runtime *runtime)
{
    return snapshot_store_get(runtime->store);
}

struct config *runtime_config(struct runtime *runtime)
{
    struct config *config = NULL;

    (void)pthread_mutex_lock(&runtime->mutex);
    config = config_ref(runtime->config);
    (void)pthread_mutex_unlock(&runtime->mutex);
    return config;
}

/* Whether the configuration says that no key counts for this kind, and needs no document of it. */
static bool is_switched_off(const struct policy *policy, int kind)
{
    const struct policy_signers *signers = &policy->signers[kind];

    return signers->keys_named && signers->keys.count == 0 &&
           !(kind == EVIDENCE_BASELINE && policy->min_baselines > 0);
}

void runtime_read_trust(struct runtime *runtime, struct runtime_trust *ret_trust)
{
    cleanup_config struct config *config = runtime_config(runtime);
    struct runtime_trust trust = {.keys = keyring_key_count(runtime->keyring)};

    for (int kind = EVIDENCE_REQUIREMENTS; kind < EVIDENCE_KIND_COUNT; kind++) {
        const struct policy_signers *signers = &config->policy.signers[kind];
        unsigned most =
            keyring_most_signers(runtime->keyring, signers->keys_named ? &signers->keys : NULL);

        if (most < signers->threshold && !is_switched_off(&config->policy, kind))
            trust.missing[kind] = signers->threshold - most;
    }
    *ret_trust = trust;
}
