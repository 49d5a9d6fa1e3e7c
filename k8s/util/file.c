/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file - reads directories and files of an operator: keys, manifests, credentials.
 *
 * A path can be changed while it is read, and can name a pipe or a device. So a file is opened
 * without blocking and checked by its descriptor, and a mounted directory can be asked whether it
 * was exchanged.
 */
#include "k8s/util/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "planner/base/array.h"

#define MAX_NAMES SIZE_MAX /* no limit here; the arena can have one */

void file_close(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

/* Identifies the directory that `..data` points to; zeros where there is no `..data`. */
static void identify_data(int folder_fd, dev_t *ret_dev, ino_t *ret_ino)
{
    struct stat data = {0};

    if (fstatat(folder_fd, "..data", &data, 0) < 0)
        data = (struct stat){0};
    *ret_dev = data.st_dev;
    *ret_ino = data.st_ino;
}

int file_folder_open(const char *path, struct file_folder *ret_folder)
{
    struct file_folder folder = {.dir = opendir(path)};

    if (folder.dir == NULL)
        return -errno;
    identify_data(dirfd(folder.dir), &folder.data_dev, &folder.data_ino);
    *ret_folder = folder;
    return 0;
}

void file_folder_close(struct file_folder *folder)
{
    if (folder->dir != NULL)
        (void)closedir(folder->dir);
    folder->dir = NULL;
}

bool file_folder_exchanged(const struct file_folder *folder)
{
    dev_t dev = 0;
    ino_t ino = 0;

    identify_data(dirfd(folder->dir), &dev, &ino);
    return dev != folder->data_dev || ino != folder->data_ino;
}

static bool has_ending(struct str name, const char *const *endings)
{
    for (; *endings != NULL; endings++) {
        struct str ending = str_of(*endings);

        if (name.len >= ending.len &&
            memcmp(name.ptr + name.len - ending.len, ending.ptr, ending.len) == 0)
            return true;
    }
    return false;
}

static int add_name(struct arena *arena, struct file_names *names, size_t *capacity,
                    struct str name)
{
    char *copy = arena_copy(arena, name);
    int r = copy != NULL ? 0 : -ENOMEM;

    if (r == 0)
        r = array_grow_in(arena, &names->items, capacity, names->count + 1, sizeof(*names->items),
                          MAX_NAMES);
    if (r < 0)
        return r;
    names->items[names->count++] = copy;
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int file_folder_list(struct file_folder *folder, const char *const *endings, struct arena *arena,
                     struct file_names *ret_names)
{
    struct file_names names = {0};
    size_t capacity = 0;

    for (;;) {
        const struct dirent *entry = NULL;
        int r = 0;

        errno = 0;
        entry = readdir(folder->dir);
        if (entry == NULL && errno != 0)
            return -errno;
        if (entry == NULL)
            break;
        if (!has_ending(str_of(entry->d_name), endings))
            continue;
        r = add_name(arena, &names, &capacity, str_of(entry->d_name));
        if (r < 0)
            return r;
    }
    if (names.count > 0)
        qsort(names.items, names.count, sizeof(*names.items), compare_names);
    *ret_names = names;
    return 0;
}

int file_read_full(int fd, char *bytes, size_t capacity, size_t *ret_len)
{
    size_t len = 0;

    while (len < capacity) {
        ssize_t n = read(fd, bytes + len, capacity - len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        len += (size_t)n;
    }
    *ret_len = len;
    return 0;
}

static int read_at(int folder_fd, const char *name, size_t max_bytes, struct arena *arena,
                   struct str *ret_bytes)
{
    cleanup_fd int fd = openat(folder_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat state = {0};
    char *bytes = NULL;
    size_t len = 0;
    size_t capacity = 0;
    int r = 0;

    if (fd < 0 || fstat(fd, &state) < 0)
        return -errno;
    if (!S_ISREG(state.st_mode))
        return -ENODATA;
    if (state.st_size < 0 || (uintmax_t)state.st_size > max_bytes)
        return -EFBIG;
    /* one byte more than its size: a file that grows in the meantime is noticed */
    capacity = (size_t)state.st_size + 1;
    bytes = arena_alloc(arena, capacity, 1);
    if (bytes == NULL)
        return -ENOMEM;
    r = file_read_full(fd, bytes, capacity, &len);
    if (r < 0)
        return r;
    if (len == capacity)
        return -EAGAIN;
    *ret_bytes = (struct str){.ptr = bytes, .len = len};
    return 0;
}

int file_read(const struct file_folder *folder, const char *name, size_t max_bytes,
              struct arena *arena, struct str *ret_bytes)
{
    return read_at(dirfd(folder->dir), name, max_bytes, arena, ret_bytes);
}

int file_read_path(const char *path, size_t max_bytes, struct arena *arena, struct str *ret_bytes)
{
    return read_at(AT_FDCWD, path, max_bytes, arena, ret_bytes);
}

struct str file_shown_name(const char *name, struct arena *arena)
{
    char *shown = arena_copy(arena, str_of(name));

    for (char *c = shown; c != NULL && *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
            *c = '?';
    }
    return str_of(shown);
}

const char *file_error_text(int error)
{
    switch (-error) {
    case EFBIG:
        return "the file is too large";
    case ENODATA:
        return "it is not a regular file";
    case EAGAIN:
        return "the file grew while it was read";
    default:
        return strerror(-error);
    }
}
