/* SPDX-License-Identifier: Apache-2.0 */
/* cost - the counter: it is called by the compiled sources, and around functions of libc. */
#define _GNU_SOURCE /* memmem */
#include "tests/webhook/cost.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The compiler inserts calls of it and declares it itself. */
void __sanitizer_cov_trace_pc(void);

int __real_memcmp(const void *a, const void *b, size_t n);
void *__real_memcpy(void *to, const void *from, size_t n);
void *__real_memmove(void *to, const void *from, size_t n);
void *__real_memset(void *to, int byte, size_t n);
void *__real_memchr(const void *s, int byte, size_t n);
void *__real_memmem(const void *s, size_t n, const void *part, size_t part_bytes);
size_t __real_strlen(const char *s);

int __wrap_memcmp(const void *a, const void *b, size_t n);
void *__wrap_memcpy(void *to, const void *from, size_t n);
void *__wrap_memmove(void *to, const void *from, size_t n);
void *__wrap_memset(void *to, int byte, size_t n);
void *__wrap_memchr(const void *s, int byte, size_t n);
void *__wrap_memmem(const void *s, size_t n, const void *part, size_t part_bytes);
size_t __wrap_strlen(const char *s);

static bool counting;
static uint64_t blocks, bytes;

void __sanitizer_cov_trace_pc(void)
{
    blocks += counting ? 1 : 0;
}

void cost_start(void)
{
    blocks = bytes = 0;
    counting = true;
}

uint64_t cost_stop(void)
{
    counting = false;
    return blocks + bytes / COST_BYTES;
}

static void add_bytes(size_t n)
{
    bytes += counting ? n : 0;
}

/* Up to the first difference. */
int __wrap_memcmp(const void *a, const void *b, size_t n)
{
    const char *x = a, *y = b;
    size_t same = 0;

    while (same < n && x[same] == y[same])
        same++;
    add_bytes(same);
    return __real_memcmp(a, b, n);
}

void *__wrap_memcpy(void *to, const void *from, size_t n)
{
    add_bytes(n);
    return __real_memcpy(to, from, n);
}

void *__wrap_memmove(void *to, const void *from, size_t n)
{
    add_bytes(n);
    return __real_memmove(to, from, n);
}

void *__wrap_memset(void *to, int byte, size_t n)
{
    add_bytes(n);
    return __real_memset(to, byte, n);
}

void *__wrap_memchr(const void *s, int byte, size_t n)
{
    const char *at = __real_memchr(s, byte, n);

    add_bytes(at != NULL ? (size_t)(at - (const char *)s) : n);
    return (void *)(uintptr_t)at;
}

void *__wrap_memmem(const void *s, size_t n, const void *part, size_t part_bytes)
{
    add_bytes(n);
    return __real_memmem(s, n, part, part_bytes);
}

size_t __wrap_strlen(const char *s)
{
    size_t n = __real_strlen(s);

    add_bytes(n);
    return n;
}
