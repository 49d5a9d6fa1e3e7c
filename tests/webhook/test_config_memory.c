/* SPDX-License-Identifier: Apache-2.0 */
/* test_config_memory - each allocation fails once while a configuration is read. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/webhook/failing_arena.h"
#include "webhook/config/config.h"

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
    return failing_arena_fails_now() ? NULL : __real_calloc(count, size);
}

static int read_with_failure(const char *path, size_t nth)
{
    struct arena arena = {0};
    struct config *config = NULL;
    struct config_errors errors = {0};
    int r = 0;

    failing_arena_arm(nth);
    r = config_read(path, &arena, &config, &errors);
    (void)failing_arena_disarm();
    cr_assert_eq(r == 0, config != NULL);
    config_unref(config);
    arena_release(&arena);
    return r;
}

/* Reads the text again and again, with the nth allocation failing, until no allocation fails. */
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

Test(config_memory, valid_file)
{
    assert_every_failure_is_an_error("tls: {certificate: a, clientCA: b, clientNames: [c]}\n"
                                     "exempt: {users: [d, e]}\n"
                                     "evidence: {source: directory, directory: f, audience: g}\n",
                                     0, 30);
}

Test(config_memory, invalid_file)
{
    assert_every_failure_is_an_error("tls: {clientCA: b}\nx: 1\n", -EINVAL, 15);
}
