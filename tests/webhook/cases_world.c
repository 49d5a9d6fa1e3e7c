/* SPDX-License-Identifier: Apache-2.0 */
/* cases_world - the evidence of tests/cases as a snapshot, and files as text. */
#include "cases_world.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>

#include "k8s/folder/folder.h"
#include "webhook/config/config.h"

static void release_config(void *object)
{
    config_unref(object);
}

struct snapshot *cases_world(const char *config_path, const char *evidence, const char *keyring)
{
    cleanup_arena struct arena arena = {0};
    struct config *config = NULL;
    struct config_errors errors = {0};
    struct keyring *keys = NULL;
    struct folder *folder = NULL;
    struct folder_report report = {0};
    struct snapshot *snapshot = NULL;
    struct str reason = {0};

    cr_assert_eq(config_read(config_path, &arena, &config, &errors), 0, "%s", config_path);
    cr_assert_eq(
        keyring_load(keyring != NULL ? keyring : config->keyring_directory, &arena, &keys, &reason),
        0, "%.*s", (int)reason.len, reason.ptr);
    cr_assert_eq(folder_new(evidence != NULL ? evidence : config->evidence_directory, &folder), 0);
    cr_assert_eq(folder_load(folder, keys, &config->policy,
                             (struct snapshot_keep){.object = config, .release = release_config},
                             &arena, &snapshot, &report),
                 0, "%s", config_path);
    folder_free(folder);
    keyring_unref(keys);
    return snapshot;
}

struct str cases_file(struct arena *arena, const char *path)
{
    FILE *f = fopen(path, "rbe");
    long size = 0;
    char *bytes = NULL;

    cr_assert_not_null(f, "%s", path);
    cr_assert_eq(fseek(f, 0, SEEK_END), 0);
    size = ftell(f);
    cr_assert(size >= 0);
    cr_assert_eq(fseek(f, 0, SEEK_SET), 0);
    bytes = arena_alloc(arena, (size_t)size + 1, 1);
    cr_assert_not_null(bytes);
    cr_assert_eq(fread(bytes, 1, (size_t)size, f), (size_t)size, "%s", path);
    (void)fclose(f);
    return (struct str){.ptr = bytes, .len = (size_t)size};
}
