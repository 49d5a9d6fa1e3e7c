#include "webhook/world.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "k8s/file.h"
#include "k8s/folder.h"
#include "k8s/keyring.h"
#include "webhook/fingerprint.h"

struct world {
    char *config_path; /* NULL: the defaults */
    struct world_overrides overrides;
    struct arena arena; /* owns the three above */

    pthread_mutex_t mutex; /* around `config` alone, held for the copy of the pointer */
    struct config *config;
    struct snapshot_store *store;

    /* the reloading thread's own */
    struct keyring *keyring;
    struct folder *folder;
    char *folder_path; /* of `folder`; in its own arena */
    struct arena folder_arena;
    struct fingerprint seen;
};

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

/* 0 or -ENOMEM; beyond the last place a reason is only not shown. */
static int report_add(struct world_report *report, struct str reason)
{
    if (!str_present(reason))
        return -ENOMEM;
    if (report->reason_count < WORLD_MAX_REASONS)
        report->reasons[report->reason_count++] = reason;
    return 0;
}

void world_report_done(struct world_report *report)
{
    arena_release(&report->arena);
    report->reason_count = 0;
}

static int report_config_errors(struct world_report *report, const char *path,
                                const struct config_errors *errors)
{
    for (size_t i = 0; i < errors->count; i++) {
        const struct config_error *e = &errors->items[i];
        int r = 0;

        if (e->line > 0)
            r = report_add(report, arena_format(&report->arena, "%s:%zu:%zu: %.*s", path, e->line,
                                                e->column, (int)e->what.len, e->what.ptr));
        else
            r = report_add(report, arena_format(&report->arena, "%s: %.*s", path, (int)e->what.len,
                                                e->what.ptr));
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
    if (r == 0 && overrides->own_namespace != NULL && !config->own_namespace_named) {
        char *copy = arena_copy(&config->arena, str_of(overrides->own_namespace));

        if (copy == NULL)
            return -ENOMEM;
        config->policy.own_namespace = str_of(copy);
    }
    return r;
}

/* What the configuration asks for that this program does not do; NULL: nothing. */
static const char *world_missing_part(const struct config *config)
{
    if (config->source != CONFIG_SOURCE_DIRECTORY)
        return "evidence.source: cluster is not part of this build yet; use source: directory";
    return NULL;
}

/* 0, -ENOMEM, or -EINVAL with its reasons in the report. */
static int world_read_config(const struct world *world, struct config **ret_config,
                             struct world_report *report)
{
    const char *path = world->config_path != NULL ? world->config_path : "configuration";
    cleanup_config struct config *config = NULL;
    struct config_errors errors = {0};
    const char *missing = NULL;
    int r = world->config_path == NULL
                ? config_defaults(&config)
                : config_read(world->config_path, &report->arena, &config, &errors);

    if (r == -EINVAL && errors.count > 0) {
        r = report_config_errors(report, path, &errors);
        return r != 0 ? r : -EINVAL;
    }
    if (r != 0 && r != -ENOMEM) {
        r = report_add(report, arena_format(&report->arena, "%s: %s", path, file_error_text(r)));
        return r != 0 ? r : -EINVAL;
    }
    if (r == 0)
        r = apply_overrides(config, &world->overrides);
    if (r != 0)
        return r;
    missing = world_missing_part(config);
    if (missing != NULL) {
        r = report_add(report, arena_format(&report->arena, "%s: %s", path, missing));
        return r != 0 ? r : -EINVAL;
    }
    *ret_config = config;
    config = NULL;
    return 0;
}

static struct fingerprint world_look(const struct world *world, const struct config *config)
{
    struct fingerprint fingerprint = {0};
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_REALTIME, &now);
    fingerprint_add(&fingerprint, world->config_path, now.tv_sec);
    fingerprint_add(&fingerprint, config->keyring_directory, now.tv_sec);
    fingerprint_add(&fingerprint, config->evidence_directory, now.tv_sec);
    return fingerprint;
}

/* Reads the evidence into a new current snapshot. -EINVAL only at a folder's first load. */
static int world_load_folder(struct world *world, struct folder *folder, struct config *config,
                             struct world_report *report)
{
    struct snapshot_keep keep = {.object = config_ref(config), .release = release_config};
    struct folder_report found = {0};
    struct snapshot *snapshot = NULL;
    int r = folder_load(folder, world->keyring, &config->policy, keep, &report->arena, &snapshot,
                        &found);
    int added = 0;

    if (r == 0)
        snapshot_store_put(world->store, snapshot);
    for (size_t i = 0; i < found.reason_count && added == 0; i++)
        added = report_add(report, found.reasons[i]);
    report->evidence_failed |= r != 0 || found.failed_files > 0;
    return r != 0 ? r : added;
}

/* A folder of that path with its first, strict load done. The old one stays on failure. */
static int world_open_folder(struct world *world, struct config *config,
                             struct world_report *report)
{
    struct arena arena = {0};
    struct folder *folder = NULL;
    char *path = arena_copy(&arena, str_of(config->evidence_directory));
    int r = path != NULL ? folder_new(path, &folder) : -ENOMEM;

    if (r == 0)
        r = world_load_folder(world, folder, config, report);
    if (r != 0) {
        folder_free(folder);
        arena_release(&arena);
        return r;
    }
    folder_free(world->folder);
    arena_release(&world->folder_arena);
    world->folder = folder;
    world->folder_path = path;
    world->folder_arena = arena;
    return 0;
}

static void world_set_config(struct world *world, struct config *config)
{
    struct config *old = NULL;

    (void)pthread_mutex_lock(&world->mutex);
    old = world->config;
    world->config = config_ref(config);
    (void)pthread_mutex_unlock(&world->mutex);
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
    if (config_path != NULL) {
        world->config_path = arena_copy(&world->arena, str_of(config_path));
        r = world->config_path != NULL ? 0 : -ENOMEM;
    }
    if (r == 0)
        r = copy_text(&world->arena, overrides->evidence_directory,
                      &world->overrides.evidence_directory);
    if (r == 0)
        r = copy_text(&world->arena, overrides->keyring_directory,
                      &world->overrides.keyring_directory);
    if (r == 0)
        r = copy_text(&world->arena, overrides->own_namespace, &world->overrides.own_namespace);
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
    snapshot_store_free(world->store);
    folder_free(world->folder);
    keyring_unref(world->keyring);
    config_unref(world->config);
    arena_release(&world->folder_arena);
    arena_release(&world->arena);
    (void)pthread_mutex_destroy(&world->mutex);
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
    r = report_add(report, reason);
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
    world->seen = world_look(world, config);
    keyring_result = world_open_keyring(world, config, ret_report);
    if (keyring_result != 0)
        return keyring_result;
    r = world_open_folder(world, config, ret_report);
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
        return report_add(report, arena_format(&report->arena, "%s: %s", config->keyring_directory,
                                               file_error_text(r)));
    }
    keyring_unref(world->keyring);
    world->keyring = keyring;
    if (found.whole)
        return 0;
    report->keyring_failed = true;
    return report_add(report, found.reason);
}

static int world_reread_evidence(struct world *world, struct config *config,
                                 struct world_report *report)
{
    int r = 0;

    if (str_equal(str_of(world->folder_path), str_of(config->evidence_directory)))
        return world_load_folder(world, world->folder, config, report);
    r = world_open_folder(world, config, report);
    if (r != -EINVAL)
        return r;
    /* the new folder waits until it can be read; keys and policy count at once */
    return world_load_folder(world, world->folder, config, report);
}

int world_reload(struct world *world, bool force, struct world_report *ret_report)
{
    cleanup_config struct config *config = NULL;
    struct fingerprint now = world_look(world, world->config);
    int r = 0;

    *ret_report = (struct world_report){0};
    if (!force && fingerprint_same(world->seen, now))
        return 0;
    world->seen = (struct fingerprint){.unsettled = true}; /* until all is done: look again */
    r = world_reread_config(world, &config, ret_report);
    if (r == 0)
        r = world_reread_keyring(world, config, ret_report);
    if (r == 0)
        r = world_reread_evidence(world, config, ret_report);
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
