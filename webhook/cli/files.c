/* SPDX-License-Identifier: Apache-2.0 */
#include "webhook/cli/files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "planner/base/text.h"
#include "webhook/cli/output.h"

#define FIRST_ROOM 64

static int files_append(struct files *files, const char *path)
{
    if (files->count == FILES_MAX_COUNT) {
        complain("more than %d files, the most that are read at once", FILES_MAX_COUNT);
        return -E2BIG;
    }
    if (files->count == files->room) {
        size_t room = files->room > 0 ? files->room * 2 : FIRST_ROOM;
        const char **items = arena_alloc(files->arena, room, sizeof(*items));

        if (items == NULL)
            return -ENOMEM;
        if (files->count > 0)
            memcpy(items, files->items, files->count * sizeof(*items));
        files->items = items;
        files->room = room;
    }
    files->items[files->count++] = path;
    return 0;
}

static bool ends_as(const char *name, const char *ending)
{
    size_t n = strlen(name), e = strlen(ending);

    return n > e && strcmp(name + n - e, ending) == 0;
}

static bool is_manifest_name(const char *name)
{
    return ends_as(name, ".yaml") || ends_as(name, ".yml") || ends_as(name, ".json");
}

/* `.` and `..`, and what Kubernetes keeps behind a mounted folder (`..data`). */
static bool is_hidden_folder(const char *name)
{
    return strcmp(name, ".") == 0 || strncmp(name, "..", 2) == 0;
}

static int add_folder(struct files *files, const char *path, bool deep, unsigned depth);

static int add_entry(struct files *files, const char *folder, const char *name, bool deep,
                     unsigned depth)
{
    struct str path = arena_format(files->arena, "%s/%s", folder, name);
    struct stat status;

    if (!str_present(path))
        return -ENOMEM;
    if (stat(path.ptr, &status) == 0 && S_ISDIR(status.st_mode))
        return deep ? add_folder(files, path.ptr, deep, depth + 1) : 0;
    /* a broken link with a manifest's name is reported when it is opened */
    return is_manifest_name(name) ? files_append(files, path.ptr) : 0;
}

static void free_names(struct dirent **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free((void *)names);
}

static int add_folder(struct files *files, const char *path, bool deep, unsigned depth)
{
    struct dirent **names = NULL;
    int n = 0;
    int r = 0;

    if (depth > FILES_MAX_DEPTH) {
        complain("%s: more than %d folders inside each other", path, FILES_MAX_DEPTH);
        return -ELOOP;
    }
    n = scandir(path, &names, NULL, alphasort);
    if (n < 0) {
        r = -errno;
        complain("%s: %s", path, strerror(-r));
        return r;
    }
    for (int i = 0; i < n && r == 0; i++) {
        if (!is_hidden_folder(names[i]->d_name))
            r = add_entry(files, path, names[i]->d_name, deep, depth);
    }
    free_names(names, (size_t)n);
    return r;
}

int files_add(struct files *files, const char *path, bool deep)
{
    struct stat status;
    int r = 0;

    if (strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        r = add_folder(files, path, deep, 0);
    else
        r = files_append(files, path);
    if (r == -ENOMEM)
        complain("out of memory");
    return r;
}
