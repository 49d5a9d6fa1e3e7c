/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_UTIL_FILE_H
#define K8S_UTIL_FILE_H

/*
 * file - reads directories and files: keys, manifests, credentials.
 *
 * Directories can be volumes that Kubernetes mounts: there the files are symbolic links through
 * `..data`, which is itself a link that is replaced in one step. Only regular files are read, as a
 * whole, up to a limit. Opening does not wait for a pipe or a device.
 *
 * Errors     negative errno of the system; -EFBIG over the limit; -ENODATA not a regular file;
 *            -EAGAIN the file grew while it was read; -ENOMEM.
 * Ownership  names and bytes live in the given arena.
 */

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"

struct file_folder {
    DIR *dir; /* owned */
    /* device and inode of `..data` when the directory was opened; 0 where there is none */
    dev_t data_dev;
    ino_t data_ino;
};

struct file_names {
    const char **items; /* sorted bytewise */
    size_t count;
};

int file_folder_open(const char *path, struct file_folder *ret_folder)
    __attribute__((warn_unused_result, nonnull));
void file_folder_close(struct file_folder *folder);
#define cleanup_folder __attribute__((cleanup(file_folder_close)))

/* Whether the volume was replaced since the directory was opened. Then the files that were read can
 * be of two versions, and must be read again. */
bool file_folder_exchanged(const struct file_folder *folder) __attribute__((nonnull));

/* The names that end with one of `endings` (an array that ends with NULL). */
int file_folder_list(struct file_folder *folder, const char *const *endings, struct arena *arena,
                     struct file_names *ret_names) __attribute__((warn_unused_result, nonnull));

/* A file of the directory, as a whole. */
int file_read(const struct file_folder *folder, const char *name, size_t max_bytes,
              struct arena *arena, struct str *ret_bytes)
    __attribute__((warn_unused_result, nonnull));

/* The same for a path. */
int file_read_path(const char *path, size_t max_bytes, struct arena *arena, struct str *ret_bytes)
    __attribute__((warn_unused_result, nonnull));

/*
 * Reads from an open descriptor until the end of the file, or until capacity bytes are there. A
 * short read is not an end; a read that a signal interrupts is repeated. Negative errno of read().
 */
int file_read_full(int fd, char *bytes, size_t capacity, size_t *ret_len)
    __attribute__((warn_unused_result, nonnull));

/* Closes a descriptor and sets it to -1. Does nothing for a negative one. */
void file_close(int *fd) __attribute__((nonnull));
#define cleanup_fd __attribute__((cleanup(file_close)))

/* A file name for output: each byte that is not printable ASCII, and so could control a terminal,
 * is replaced by `?`. An absent text when out of memory. */
struct str file_shown_name(const char *name, struct arena *arena)
    __attribute__((warn_unused_result, nonnull));

/* A text for one of the errors above. It is valid until the next call of strerror() in the thread.
 */
const char *file_error_text(int error);

#endif
