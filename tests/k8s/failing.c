/* SPDX-License-Identifier: Apache-2.0 */
/* failing - makes the nth allocation fail, or makes reads short. */
#include "tests/k8s/failing.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
ssize_t __real_read(int fd, void *bytes, size_t size);
ssize_t __wrap_read(int fd, void *bytes, size_t size);

static unsigned countdown; /* 0: disarmed */
static bool failed;
static size_t short_bytes;
static bool interrupt_next;
static unsigned read_countdown;

void failing_alloc_arm(unsigned nth)
{
    countdown = nth;
    failed = false;
}

bool failing_alloc_failed(void)
{
    countdown = 0;
    return failed;
}

static bool fails_now(void)
{
    if (countdown == 0 || --countdown > 0)
        return false;
    failed = true;
    errno = ENOMEM;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails_now() ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
    return fails_now() ? NULL : __real_reallocarray(old, count, size);
}

void failing_read_short(size_t bytes)
{
    short_bytes = bytes;
    interrupt_next = bytes > 0;
}

void failing_read_arm(unsigned nth)
{
    read_countdown = nth;
}

ssize_t __wrap_read(int fd, void *bytes, size_t size)
{
    if (read_countdown > 0 && --read_countdown == 0) {
        errno = EIO;
        return -1;
    }
    if (short_bytes == 0)
        return __real_read(fd, bytes, size);
    interrupt_next = !interrupt_next;
    if (!interrupt_next) {
        errno = EINTR;
        return -1;
    }
    return __real_read(fd, bytes, size < short_bytes ? size : short_bytes);
}
