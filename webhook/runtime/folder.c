/* folder - evidence from a folder of manifests (gate-v1, section 9). */

#include <errno.h>

#include "webhook/runtime/internal.h"

/* Reads the evidence into a new current snapshot. -EINVAL only at a folder's first load. */
static int world_load_folder(struct world *world, struct folder *folder, struct config *config,
                             struct world_report *report)
{
    struct folder_report found = {0};
    struct snapshot *snapshot = NULL;
    int r = folder_load(folder, world->keyring, &config->policy, world_keep(config), &report->arena,
                        &snapshot, &found);
    int added = 0;

    if (r == 0)
        snapshot_store_put(world->store, snapshot);
    for (size_t i = 0; i < found.reason_count && added == 0; i++)
        added = world_report_add(report, found.reasons[i]);
    report->evidence_failed |= r != 0 || found.failed_files > 0;
    return r != 0 ? r : added;
}

/* A folder of that path with its first, strict load done. The old one stays on failure. */
int world_open_folder(struct world *world, struct config *config, struct world_report *report)
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
    world_close_folder(world);
    world->folder = (struct world_folder){.folder = folder, .path = path, .arena = arena};
    return 0;
}

int world_reread_folder(struct world *world, struct config *config, struct world_report *report)
{
    int r = 0;

    if (str_equal(str_of(world->folder.path), str_of(config->evidence_directory)))
        return world_load_folder(world, world->folder.folder, config, report);
    r = world_open_folder(world, config, report);
    if (r != -EINVAL)
        return r;
    /* the new folder waits until it can be read; keys and policy count at once */
    return world_load_folder(world, world->folder.folder, config, report);
}

void world_close_folder(struct world *world)
{
    folder_free(world->folder.folder);
    arena_release(&world->folder.arena);
    world->folder = (struct world_folder){0};
}
