/* SPDX-License-Identifier: Apache-2.0 */
/*
 * configuration - reads the configuration file of a running gate and applies the overrides of the
 * command line to it.
 */

#include "webhook/runtime/internal.h"

#include <assert.h>
#include <errno.h>

#include "k8s/util/file.h"

static void release_config(void *config)
{
    config_unref(config);
}

struct snapshot_keep runtime_hold_config(struct config *config)
{
    return (struct snapshot_keep){.object = config_ref(config), .release = release_config};
}

static int report_config_errors(struct runtime_report *report, const char *path,
                                const struct config_errors *errors)
{
    for (size_t i = 0; i < errors->count; i++) {
        const struct config_error *e = &errors->items[i];
        int r = 0;

        if (e->line > 0)
            r = runtime_report_add(report,
                                   arena_format(&report->arena, "%s:%zu:%zu: %.*s", path, e->line,
                                                e->column, (int)e->what.len, e->what.ptr));
        else
            r = runtime_report_add(report, arena_format(&report->arena, "%s: %.*s", path,
                                                        (int)e->what.len, e->what.ptr));
        if (r != 0)
            return r;
    }
    return 0;
}

static int override_path(struct config *config, const char *given, char **ret_path)
{
    char *copy = NULL;

    if (given == NULL)
        return 0;
    copy = arena_copy(&config->arena, str_of(given));
    if (copy == NULL)
        return -ENOMEM;
    *ret_path = copy;
    return 0;
}

static int apply_overrides(struct config *config, const struct runtime_overrides *overrides)
{
    int r = override_path(config, overrides->keyring_directory, &config->keyring_directory);

    if (r == 0)
        r = override_path(config, overrides->evidence_directory, &config->evidence_directory);
    if (r == 0 && overrides->evidence_directory != NULL)
        config->source = CONFIG_SOURCE_DIRECTORY;
    else if (overrides->kubeconfig != NULL || overrides->context != NULL)
        config->source = CONFIG_SOURCE_CLUSTER;
    if (overrides->evidence_only)
        config->policy.network_policies = false;
    if (r == 0 && overrides->own_namespace != NULL && !config->own_namespace_named) {
        char *copy = arena_copy(&config->arena, str_of(overrides->own_namespace));

        if (copy == NULL)
            return -ENOMEM;
        config->policy.own_namespace = str_of(copy);
    }
    return r;
}

int runtime_read_config(const struct runtime *runtime, struct config **ret_config,
                        struct runtime_report *report)
{
    const char *path = runtime->config_path != NULL ? runtime->config_path : "configuration";
    cleanup_config struct config *config = NULL;
    struct config_errors errors = {0};
    int r = runtime->config_path == NULL
                ? config_defaults(&config)
                : config_read(runtime->config_path, &report->arena, &config, &errors);

    if (r == -EINVAL && errors.count > 0) {
        r = report_config_errors(report, path, &errors);
        return r != 0 ? r : -EINVAL;
    }
    if (r != 0 && r != -ENOMEM) {
        r = runtime_report_add(report,
                               arena_format(&report->arena, "%s: %s", path, file_error_text(r)));
        return r != 0 ? r : -EINVAL;
    }
    assert(r == 0 || r == -ENOMEM);
    if (r == 0)
        r = apply_overrides(config, &runtime->overrides);
    if (r != 0)
        return r;
    *ret_config = config;
    config = NULL;
    return 0;
}
