/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input - reads a file, a pipe or standard input to its end.
 */

#include "webhook/util/input.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_CAPACITY ((size_t)16 * 1024) /* in bytes, if the size is not known in advance */

static void close_descriptor(const int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
}

#define cleanup_descriptor __attribute__((cleanup(close_descriptor)))

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

static char *grow(struct arena *arena, const char *old, size_t len, size_t capacity)
{
    char *ptr = arena_alloc(arena, capacity, 1);

    if (ptr != NULL && len > 0)
        memcpy(ptr, old, len);
    return ptr;
}

static int read_descriptor(int fd, size_t max_bytes, struct arena *arena, struct str *ret_text)
{
    size_t capacity = first_capacity(fd, max_bytes);
    size_t len = 0;
    char *ptr = grow(arena, NULL, 0, capacity);

    for (;;) {
        ssize_t n = 0;

        if (ptr == NULL)
            return -ENOMEM;
        assert(len < capacity - 1);
        n = read(fd, ptr + len, capacity - len - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        len += (size_t)n;
        if (len > max_bytes)
            return -EFBIG;
        if (len == capacity - 1) {
            if (capacity > SIZE_MAX / 2)
                return -EFBIG;
            ptr = grow(arena, ptr, len, capacity * 2);
            capacity *= 2;
        }
    }
    ptr[len] = '\0';
    *ret_text = (struct str){.ptr = ptr, .len = len};
    return 0;
}

int input_read_file(const char *path, size_t max_bytes, struct arena *arena, struct str *ret_text)
{
    cleanup_descriptor int fd = -1;

    if (strcmp(path, "-") == 0)
        return read_descriptor(STDIN_FILENO, max_bytes, arena, ret_text);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    return read_descriptor(fd, max_bytes, arena, ret_text);
}
