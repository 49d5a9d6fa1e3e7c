/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_UTIL_FILE_H
#define K8S_UTIL_FILE_H

/*
 * file - folders and files that an operator hands us: keys and manifests, also as Kubernetes
 * mounts them (files are symlinks by way of `..data`, which is exchanged in one step).
 *
 * Only regular files are read, whole, up to a limit; opening never waits for a pipe or a device.
 *
 * Errors     negative errno: what the system said; -EFBIG over the limit, -ENODATA no regular
 *            file; -ENOMEM.
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
    /* what `..data` was when the folder was opened; 0 where there is none */
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

/* Whether the mounted folder was exchanged since it was opened: what was read may be a mixture,
 * and is to be read again. */
bool file_folder_exchanged(const struct file_folder *folder) __attribute__((nonnull));

/* Names that end as one of `endings` (ended by NULL) say, without those that begin with `..`. */
int file_folder_list(struct file_folder *folder, const char *const *endings, struct arena *arena,
                     struct file_names *ret_names) __attribute__((warn_unused_result, nonnull));

int file_read(const struct file_folder *folder, const char *name, size_t max_bytes,
              struct arena *arena, struct str *ret_bytes)
    __attribute__((warn_unused_result, nonnull));

/* The same for a path that is no part of a folder. */
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

/* A file's name for people: what could drive a terminal stands as `?`. Absent: out of memory. */
struct str file_shown_name(const char *name, struct arena *arena)
    __attribute__((warn_unused_result, nonnull));

/* For people: why a file could not be read. Static or of the system's own storage. */
const char *file_error_text(int error);

#endif
