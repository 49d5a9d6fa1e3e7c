/* SPDX-License-Identifier: Apache-2.0 */
#include "webhook/util/input.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_BYTES ((size_t)16 * 1024) /* room where the size is not known beforehand */

static void close_descriptor(const int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
}

#define cleanup_descriptor __attribute__((cleanup(close_descriptor)))

/* What stat says, with a byte to spare, so that an ordinary file is read without a copy. */
static size_t bytes_first_room(int fd, size_t max_bytes)
{
    struct stat status;

    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
        (uintmax_t)status.st_size <= max_bytes)
        return (size_t)status.st_size + 2;
    return FIRST_BYTES;
}

static char *bytes_grow(struct arena *arena, const char *old, size_t len, size_t room)
{
    char *ptr = arena_alloc(arena, room, 1);

    if (ptr != NULL && len > 0)
        memcpy(ptr, old, len);
    return ptr;
}

static int read_descriptor(int fd, size_t max_bytes, struct arena *arena, struct str *ret_text)
{
    size_t room = bytes_first_room(fd, max_bytes);
    size_t len = 0;
    char *ptr = bytes_grow(arena, NULL, 0, room);

    for (;;) {
        ssize_t n = 0;

        if (ptr == NULL)
            return -ENOMEM;
        n = read(fd, ptr + len, room - len - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        len += (size_t)n;
        if (len > max_bytes)
            return -EFBIG;
        if (len == room - 1) {
            if (room > SIZE_MAX / 2)
                return -EFBIG;
            ptr = bytes_grow(arena, ptr, len, room * 2);
            room *= 2;
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
