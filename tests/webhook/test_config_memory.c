/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "webhook/config/config.h"

/* Allocations until one fails; 0: none does. */
static size_t fail_at;

void *__real_arena_alloc(struct arena *arena, size_t count, size_t size);
void *__wrap_arena_alloc(struct arena *arena, size_t count, size_t size);
char *__wrap_arena_alloc_text(struct arena *arena, size_t count);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

static bool fails_now(void)
{
    return fail_at > 0 && --fail_at == 0;
}

void *__wrap_arena_alloc(struct arena *arena, size_t count, size_t size)
{
    return fails_now() ? NULL : __real_arena_alloc(arena, count, size);
}

char *__wrap_arena_alloc_text(struct arena *arena, size_t count)
{
    return __wrap_arena_alloc(arena, count, 1);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_calloc(count, size);
}

static int read_with_failure(const char *path, size_t nth)
{
    struct arena arena = {0};
    struct config *config = NULL;
    struct config_errors errors = {0};
    int r = 0;

    fail_at = nth;
    r = config_read(path, &arena, &config, &errors);
    fail_at = 0;
    cr_assert_eq(r == 0, config != NULL);
    config_unref(config);
    arena_release(&arena);
    return r;
}

/* From the first allocation on each one fails once; the first reading that meets none ends it. */
static void assert_every_failure_is_an_error(const char *text, int result, size_t at_least)
{
    char path[] = "/tmp/sandgate-memory-XXXXXX";
    int fd = mkstemp(path);
    size_t nth = 1;
    int r = 0;

    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    cr_assert_eq(close(fd), 0);
    while ((r = read_with_failure(path, nth)) == -ENOMEM)
        nth++;
    cr_assert_eq(r, result);
    cr_assert_gt(nth, at_least, "%zu", nth);
    cr_assert_eq(unlink(path), 0);
}

Test(config_memory, right_file)
{
    assert_every_failure_is_an_error("tls: {certificate: a, clientCA: b, clientNames: [c]}\n"
                                     "exempt: {users: [d, e]}\n"
                                     "evidence: {source: directory, directory: f, audience: g}\n",
                                     0, 30);
}

Test(config_memory, wrong_file)
{
    assert_every_failure_is_an_error("tls: {clientCA: b}\nx: 1\n", -EINVAL, 15);
}
