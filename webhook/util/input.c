/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input - reads a file, a pipe or standard input to its end.
 */

#include "webhook/util/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "k8s/util/file.h"
#include "planner/base/array.h"

#define FIRST_CAPACITY ((size_t)16 * 1024) /* in bytes, if the size is not known in advance */

/* In bytes: the size of a regular file, with a byte for NUL and one to see the end of the file, so
 * that it is read without growing. */
static size_t first_capacity(int fd, size_t max_bytes)
{
    struct stat status;

    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
        (uintmax_t)status.st_size <= max_bytes)
        return (size_t)status.st_size + 2;
    return FIRST_CAPACITY;
}

static int read_descriptor(int fd, size_t max_bytes, struct arena *arena, struct str *ret_text)
{
    size_t wanted = first_capacity(fd, max_bytes);
    size_t capacity = 0, len = 0;
    char *ptr = NULL;

    do {
        size_t count = 0;
        int r = array_grow_in(arena, &ptr, &capacity, wanted, 1, SIZE_MAX);

        if (r == 0)
            r = file_read_full(fd, ptr + len, capacity - len - 1, &count);
        if (r < 0)
            return r;
        len += count;
        if (len > max_bytes)
            return -EFBIG;
        wanted = capacity + 1;
    } while (len == capacity - 1);
    ptr[len] = '\0';
    *ret_text = (struct str){.ptr = ptr, .len = len};
    return 0;
}

int input_read_file(const char *path, size_t max_bytes, struct arena *arena, struct str *ret_text)
{
    cleanup_fd int fd = -1;

    if (strcmp(path, "-") == 0)
        return read_descriptor(STDIN_FILENO, max_bytes, arena, ret_text);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    return read_descriptor(fd, max_bytes, arena, ret_text);
}
