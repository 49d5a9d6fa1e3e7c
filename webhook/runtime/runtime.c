#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "k8s/util/file.h"
#include "webhook/runtime/internal.h"

static void drop_config(struct config **config)
{
    config_unref(*config);
}

#define cleanup_config __attribute__((cleanup(drop_config)))

static void drop_world(struct world **world)
{
    world_free(*world);
}

#define cleanup_world __attribute__((cleanup(drop_world)))

static void release_config(void *config)
{
    config_unref(config);
}

struct snapshot_keep world_keep(struct config *config)
{
    return (struct snapshot_keep){.object = config_ref(config), .release = release_config};
}

int world_report_add(struct world_report *report, struct str reason)
{
    if (!str_present(reason))
        return -ENOMEM;
    if (report->reason_count < WORLD_MAX_REASONS)
        report->reasons[report->reason_count++] = reason;
    return 0;
}

int world_report_warn(struct world_report *report, struct str warning)
{
    if (!str_present(warning))
        return -ENOMEM;
    if (report->warning_count < WORLD_MAX_WARNINGS)
        report->warnings[report->warning_count++] = warning;
    return 0;
}

void world_report_done(struct world_report *report)
{
    arena_release(&report->arena);
    report->reason_count = report->warning_count = 0;
}

static int report_config_errors(struct world_report *report, const char *path,
                                const struct config_errors *errors)
{
    for (size_t i = 0; i < errors->count; i++) {
        const struct config_error *e = &errors->items[i];
        int r = 0;

        if (e->line > 0)
            r = world_report_add(report,
                                 arena_format(&report->arena, "%s:%zu:%zu: %.*s", path, e->line,
                                              e->column, (int)e->what.len, e->what.ptr));
        else
            r = world_report_add(report, arena_format(&report->arena, "%s: %.*s", path,
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

/* What the command line says instead of the file. */
static int apply_overrides(struct config *config, const struct world_overrides *overrides)
{
    int r = override_path(config, overrides->keyring_directory, &config->keyring_directory);

    if (r == 0)
        r = override_path(config, overrides->evidence_directory, &config->evidence_directory);
    if (r == 0 && overrides->evidence_directory != NULL)
        config->source = CONFIG_SOURCE_DIRECTORY;
    else if (overrides->kubeconfig != NULL || overrides->context != NULL)
        config->source = CONFIG_SOURCE_CLUSTER;
    if (r == 0 && overrides->own_namespace != NULL && !config->own_namespace_named) {
        char *copy = arena_copy(&config->arena, str_of(overrides->own_namespace));

        if (copy == NULL)
            return -ENOMEM;
        config->policy.own_namespace = str_of(copy);
    }
    return r;
}

/* 0, -ENOMEM, or -EINVAL with its reasons in the report. */
static int world_read_config(const struct world *world, struct config **ret_config,
                             struct world_report *report)
{
    const char *path = world->config_path != NULL ? world->config_path : "configuration";
    cleanup_config struct config *config = NULL;
    struct config_errors errors = {0};
    int r = world->config_path == NULL
                ? config_defaults(&config)
                : config_read(world->config_path, &report->arena, &config, &errors);

    if (r == -EINVAL && errors.count > 0) {
        r = report_config_errors(report, path, &errors);
        return r != 0 ? r : -EINVAL;
    }
    if (r != 0 && r != -ENOMEM) {
        r = world_report_add(report,
                             arena_format(&report->arena, "%s: %s", path, file_error_text(r)));
        return r != 0 ? r : -EINVAL;
    }
    if (r == 0)
        r = apply_overrides(config, &world->overrides);
    if (r != 0)
        return r;
    *ret_config = config;
    config = NULL;
    return 0;
}

static struct fingerprint world_look_at_files(const struct world *world,
                                              const struct config *config)
{
    struct fingerprint fingerprint = {0};
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_REALTIME, &now);
    fingerprint_add(&fingerprint, world->config_path, now.tv_sec);
    fingerprint_add(&fingerprint, config->keyring_directory, now.tv_sec);
    fingerprint_add(&fingerprint, config->evidence_directory, now.tv_sec);
    fingerprint_add(&fingerprint, config->kubeconfig, now.tv_sec);
    return fingerprint;
}

static void world_set_config(struct world *world, struct config *config)
{
    struct config *old = NULL;

    (void)pthread_mutex_lock(&world->mutex);
    old = world->config;
    world->config = config_ref(config);
    (void)pthread_mutex_unlock(&world->mutex);
    atomic_store(&world->max_stale_sec, config->max_stale_sec);
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

static int world_new(const char *config_path, const struct world_overrides *overrides,
                     struct world **ret_world)
{
    struct world *world = calloc(1, sizeof(*world));
    int r = 0;

    if (world == NULL)
        return -ENOMEM;
    if (pthread_mutex_init(&world->mutex, NULL) != 0) {
        free(world);
        return -ENOMEM;
    }
    if (pthread_rwlock_init(&world->cluster.lock, NULL) != 0) {
        (void)pthread_mutex_destroy(&world->mutex);
        free(world);
        return -ENOMEM;
    }
    if (config_path != NULL) {
        world->config_path = arena_copy(&world->arena, str_of(config_path));
        r = world->config_path != NULL ? 0 : -ENOMEM;
    }
    world->overrides.serving = overrides->serving;
    world->overrides.tell = overrides->tell;
    world->overrides.tell_context = overrides->tell_context;
    if (r == 0)
        r = copy_text(&world->arena, overrides->evidence_directory,
                      &world->overrides.evidence_directory);
    if (r == 0)
        r = copy_text(&world->arena, overrides->keyring_directory,
                      &world->overrides.keyring_directory);
    if (r == 0)
        r = copy_text(&world->arena, overrides->own_namespace, &world->overrides.own_namespace);
    if (r == 0)
        r = copy_text(&world->arena, overrides->kubeconfig, &world->overrides.kubeconfig);
    if (r == 0)
        r = copy_text(&world->arena, overrides->context, &world->overrides.context);
    if (r == 0)
        r = snapshot_store_new(&world->store);
    if (r != 0) {
        world_free(world);
        return r;
    }
    *ret_world = world;
    return 0;
}

void world_free(struct world *world)
{
    if (world == NULL)
        return;
    world_close_cluster(world);
    world_close_folder(world);
    snapshot_store_free(world->store);
    keyring_unref(world->keyring);
    config_unref(world->config);
    arena_release(&world->arena);
    (void)pthread_mutex_destroy(&world->mutex);
    (void)pthread_rwlock_destroy(&world->cluster.lock);
    free(world);
}

/* keyring_load()'s reason has the file's name in it. */
static int world_open_keyring(struct world *world, const struct config *config,
                              struct world_report *report)
{
    struct str reason = {0};
    int r = keyring_load(config->keyring_directory, &report->arena, &world->keyring, &reason);

    if (r == 0 || r == -ENOMEM)
        return r;
    if (!str_present(reason))
        reason =
            arena_format(&report->arena, "%s: %s", config->keyring_directory, file_error_text(r));
    report->keyring_failed = true;
    r = world_report_add(report, reason);
    return r != 0 ? r : -EINVAL;
}

int world_open(const char *config_path, const struct world_overrides *overrides,
               struct world **ret_world, struct world_report *ret_report)
{
    cleanup_world struct world *world = NULL;
    cleanup_config struct config *config = NULL;
    int keyring_result = 0;
    int r = 0;

    *ret_report = (struct world_report){0};
    r = world_new(config_path, overrides, &world);
    if (r == 0)
        r = world_read_config(world, &config, ret_report);
    ret_report->config_failed = r == -EINVAL;
    if (r != 0)
        return r;
    world->seen = world_look_at_files(world, config);
    keyring_result = world_open_keyring(world, config, ret_report);
    if (keyring_result != 0)
        return keyring_result;
    world->source = config->source;
    r = world->source == CONFIG_SOURCE_CLUSTER ? world_open_cluster(world, config, ret_report)
                                               : world_open_folder(world, config, ret_report);
    if (r != 0)
        return r;
    world_set_config(world, config);
    ret_report->changed = true;
    *ret_world = world;
    world = NULL;
    return 0;
}

/* The new configuration, or a count of the one in force where the file is broken. */
static int world_reread_config(struct world *world, struct config **ret_config,
                               struct world_report *report)
{
    int r = world_read_config(world, ret_config, report);

    if (r != -EINVAL)
        return r;
    report->config_failed = true;
    *ret_config = config_ref(world->config);
    return 0;
}

static int world_reread_keyring(struct world *world, const struct config *config,
                                struct world_report *report)
{
    struct keyring *keyring = NULL;
    struct keyring_report found = {0};
    int r =
        keyring_reload(world->keyring, config->keyring_directory, &report->arena, &keyring, &found);

    if (r == -ENOMEM)
        return r;
    if (r !=
        0) { /* a passing failure of the system: the keys stay, and the next look tries again */
        report->keyring_failed = true;
        return world_report_add(
            report,
            arena_format(&report->arena, "%s: %s", config->keyring_directory, file_error_text(r)));
    }
    keyring_unref(world->keyring);
    world->keyring = keyring;
    if (found.whole)
        return 0;
    report->keyring_failed = true;
    return world_report_add(report, found.reason);
}

int world_reload(struct world *world, bool force, struct world_report *ret_report)
{
    cleanup_config struct config *config = NULL;
    struct fingerprint now = world_look_at_files(world, world->config);
    int r = 0;

    *ret_report = (struct world_report){0};
    if (!force && fingerprint_same(world->seen, now))
        return 0;
    world->seen = (struct fingerprint){.unsettled = true}; /* until all is done: look again */
    r = world_reread_config(world, &config, ret_report);
    if (r == 0)
        r = world_reread_keyring(world, config, ret_report);
    if (r == 0)
        r = world_keep_source(world, config, ret_report);
    if (r == 0)
        r = world->source == CONFIG_SOURCE_CLUSTER ? world_reread_cluster(world, config, ret_report)
                                                   : world_reread_folder(world, config, ret_report);
    if (r != 0)
        return r;
    world_set_config(world, config);
    ret_report->changed = true;
    world->seen = now;
    return 0;
}

struct snapshot *world_snapshot(struct world *world)
{
    return snapshot_store_get(world->store);
}

struct config *world_config(struct world *world)
{
    struct config *config = NULL;

    (void)pthread_mutex_lock(&world->mutex);
    config = config_ref(world->config);
    (void)pthread_mutex_unlock(&world->mutex);
    return config;
}
