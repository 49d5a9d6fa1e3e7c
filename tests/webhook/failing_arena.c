/* SPDX-License-Identifier: Apache-2.0 */
/* failing_arena - makes one allocation from an arena fail. */
#include "tests/webhook/failing_arena.h"

#include "planner/base/arena.h"

void *__real_arena_alloc(struct arena *arena, size_t count, size_t size);
void *__wrap_arena_alloc(struct arena *arena, size_t count, size_t size);
char *__wrap_arena_alloc_text(struct arena *arena, size_t count);

static size_t countdown; /* 0: disarmed */
static bool failed;

void failing_arena_arm(size_t nth)
{
    countdown = nth;
    failed = false;
}

bool failing_arena_disarm(void)
{
    countdown = 0;
    return failed;
}

bool failing_arena_fails_now(void)
{
    if (countdown == 0 || --countdown > 0)
        return false;
    failed = true;
    return true;
}

void *__wrap_arena_alloc(struct arena *arena, size_t count, size_t size)
{
    return failing_arena_fails_now() ? NULL : __real_arena_alloc(arena, count, size);
}

char *__wrap_arena_alloc_text(struct arena *arena, size_t count)
{
    return __wrap_arena_alloc(arena, count, 1);
}
