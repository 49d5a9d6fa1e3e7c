/* SPDX-License-Identifier: Apache-2.0 */
/* folder - evidence from a folder of manifests (gate-v1, section 9). */

#include <errno.h>

#include "webhook/runtime/internal.h"

/* Reads the evidence into a new current snapshot. -EINVAL only at a folder's first load. */
static int runtime_load_folder(struct runtime *runtime, struct folder *folder,
                               struct config *config, struct runtime_report *report)
{
    struct folder_report found = {0};
    struct snapshot *snapshot = NULL;
    int r = folder_load(folder, runtime->keyring, &config->policy, runtime_hold_config(config),
                        &report->arena, &snapshot, &found);
    int added = 0;

    if (r == 0)
        snapshot_store_put(runtime->store, snapshot);
    for (size_t i = 0; i < found.reason_count && added == 0; i++)
        added = runtime_report_add(report, found.reasons[i]);
    report->evidence_failed |= r != 0 || found.failed_files > 0;
    return r != 0 ? r : added;
}

/* A folder of that path with its first, strict load done. The old one stays on failure. */
int runtime_open_folder(struct runtime *runtime, struct config *config,
                        struct runtime_report *report)
{
    struct arena arena = {0};
    struct folder *folder = NULL;
    char *path = arena_copy(&arena, str_of(config->evidence_directory));
    int r = path != NULL ? folder_new(path, &folder) : -ENOMEM;

    if (r == 0)
        r = runtime_load_folder(runtime, folder, config, report);
    if (r != 0) {
        folder_free(folder);
        arena_release(&arena);
        return r;
    }
    runtime_close_folder(runtime);
    runtime->folder = (struct runtime_folder){.folder = folder, .path = path, .arena = arena};
    return 0;
}

int runtime_reread_folder(struct runtime *runtime, struct config *config,
                          struct runtime_report *report)
{
    int r = 0;

    if (str_equal(str_of(runtime->folder.path), str_of(config->evidence_directory)))
        return runtime_load_folder(runtime, runtime->folder.folder, config, report);
    r = runtime_open_folder(runtime, config, report);
    if (r != -EINVAL)
        return r;
    /* the new folder waits until it can be read; keys and policy count at once */
    return runtime_load_folder(runtime, runtime->folder.folder, config, report);
}

void runtime_close_folder(struct runtime *runtime)
{
    folder_free(runtime->folder.folder);
    arena_release(&runtime->folder.arena);
    runtime->folder = (struct runtime_folder){0};
}
