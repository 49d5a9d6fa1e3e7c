/* SPDX-License-Identifier: Apache-2.0 */
/* files - collects the files that the arguments of a command name. */

#include "webhook/cli/files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "planner/base/array.h"
#include "planner/base/text.h"
#include "webhook/cli/output.h"

static int append(struct files *files, const char *path)
{
    int r = 0;

    if (files->count == FILES_MAX_COUNT) {
        output_error("more than %d files; give fewer at a time", FILES_MAX_COUNT);
        return -E2BIG;
    }
    r = array_grow_in(files->arena, &files->items, &files->capacity, files->count + 1,
                      sizeof(*files->items), FILES_MAX_COUNT);
    if (r == 0)
        files->items[files->count++] = path;
    return r;
}

static bool ends_with(const char *name, const char *ending)
{
    size_t n = strlen(name), e = strlen(ending);

    return n >= e && strcmp(name + n - e, ending) == 0;
}

static bool is_manifest_name(const char *name)
{
    return ends_with(name, ".yaml") || ends_with(name, ".yml") || ends_with(name, ".json");
}

/* `.` and `..`, and the directories that Kubernetes makes in a mounted volume (`..data`). */
static bool is_special_directory(const char *name)
{
    return strcmp(name, ".") == 0 || strncmp(name, "..", 2) == 0;
}

static int add_directory(struct files *files, const char *path, bool recursive, unsigned depth);

static int add_entry(struct files *files, const char *directory, const char *name, bool recursive,
                     unsigned depth)
{
    struct str path = arena_format(files->arena, "%s/%s", directory, name);
    struct stat status;

    if (!str_present(path))
        return -ENOMEM;
    if (stat(path.ptr, &status) == 0 && S_ISDIR(status.st_mode))
        return recursive && !is_special_directory(name)
                   ? add_directory(files, path.ptr, recursive, depth + 1)
                   : 0;
    /* a broken link with the name of a manifest is reported when it is opened */
    return is_manifest_name(name) ? append(files, path.ptr) : 0;
}

static void free_names(struct dirent **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free((void *)names);
}

static int add_directory(struct files *files, const char *path, bool recursive, unsigned depth)
{
    struct dirent **names = NULL;
    int n = 0;
    int r = 0;

    if (depth > FILES_MAX_DEPTH) {
        output_error("%s: directories are nested more than %d deep", path, FILES_MAX_DEPTH);
        return -ELOOP;
    }
    n = scandir(path, &names, NULL, alphasort);
    if (n < 0) {
        r = -errno;
        output_error("%s: %s", path, strerror(-r));
        return r;
    }
    for (int i = 0; i < n && r == 0; i++)
        r = add_entry(files, path, names[i]->d_name, recursive, depth);
    free_names(names, (size_t)n);
    return r;
}

int files_add(struct files *files, const char *path, bool recursive)
{
    struct stat status;
    int r = 0;

    if (strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        r = add_directory(files, path, recursive, 0);
    else
        r = append(files, path);
    if (r == -ENOMEM)
        output_error("out of memory");
    return r;
}
