/* SPDX-License-Identifier: Apache-2.0 */
/* folder - the evidence source `directory`: a directory of manifests (gate-v1, section 9). */

#include "webhook/runtime/internal.h"

#include <assert.h>
#include <errno.h>

/* Reads the evidence into a new current snapshot. -EINVAL only at the first load of a directory. */
static int load(struct runtime *runtime, struct folder *folder, struct config *config,
                struct runtime_report *report)
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

/* Opens the directory and loads it once, strictly. On failure the previous directory stays in
 * use. */
int runtime_open_folder(struct runtime *runtime, struct config *config,
                        struct runtime_report *report)
{
    struct arena arena = {0};
    struct folder *folder = NULL;
    char *path = arena_copy(&arena, str_of(config->evidence_directory));
    int r = path != NULL ? folder_new(path, &folder) : -ENOMEM;

    if (r == 0)
        r = load(runtime, folder, config, report);
    if (r != 0) {
        folder_free(folder);
        arena_release(&arena);
        return r;
    }
    runtime_close_folder(runtime);
    runtime->folder = (struct runtime_folder){.folder = folder, .path = path, .arena = arena};
    return 0;
}

int runtime_reload_folder(struct runtime *runtime, struct config *config,
                          struct runtime_report *report)
{
    int r = 0;

    assert(runtime->folder.folder != NULL && config->evidence_directory != NULL);
    if (str_equal(str_of(runtime->folder.path), str_of(config->evidence_directory)))
        return load(runtime, runtime->folder.folder, config, report);
    r = runtime_open_folder(runtime, config, report);
    if (r != -EINVAL)
        return r;
    /* the old directory stays in use until the new one can be read; keys and policy apply now */
    return load(runtime, runtime->folder.folder, config, report);
}

void runtime_close_folder(struct runtime *runtime)
{
    folder_free(runtime->folder.folder);
    arena_release(&runtime->folder.arena);
    runtime->folder = (struct runtime_folder){0};
}
