/* SPDX-License-Identifier: Apache-2.0 */
/* test_reflector_merge - reads in addition to the watch, and failing allocations. */
#include <criterion/criterion.h>
#include <errno.h>

#include "tests/k8s/failing.h"
#include "tests/k8s/reflector_site.h"

TestSuite(reflector_merge, .init = rsite_begin, .fini = rsite_done);

static struct reflector_merge *merge_begin(void)
{
    struct reflector_merge *merge = NULL;

    cr_assert_eq(reflector_merge_new(rsite.reflector, &merge), 0);
    return merge;
}

static void merge_end(struct reflector_merge *merge, const char *items)
{
    cr_assert_eq(reflector_merge_bytes(merge, rsite_list("900", "", items)), 0);
    cr_assert_eq(reflector_merge_end(merge), 0);
    reflector_merge_free(merge);
}

Test(reflector_merge, a_merge_puts_changed_objects_and_drops_none)
{
    rsite_watching();
    merge_end(merge_begin(), "a=90:1 b=105:2 c=106:1");
    cr_expect_str_eq(rsite_store(), "a=1 b=2 c=1");
    cr_expect_eq(rsite.puts, 4);
    merge_end(merge_begin(), "");
    cr_expect_str_eq(rsite_store(), "a=1 b=2 c=1");
    rsite_end();
    cr_expect_str_eq(rsite_next(), "watch 100"); /* the watch continues from its version */
}

Test(reflector_merge, a_merge_accepts_a_single_object)
{
    struct reflector_merge *merge = NULL;

    rsite_watching();
    merge = merge_begin();
    cr_assert_eq(
        reflector_merge_bytes(merge, STR("{\"kind\":\"Namespace\",\"metadata\":{\"name\":\"z\","
                                         "\"resourceVersion\":\"5\"},\"data\":{\"v\":\"1\"}}")),
        0);
    cr_assert_eq(reflector_merge_end(merge), 0);
    reflector_merge_free(merge);
    cr_expect_str_eq(rsite_store(), "/z=1 n/a=1 n/b=1");
}

Test(reflector_merge, a_merge_does_not_restore_objects_dropped_meanwhile)
{
    struct reflector_merge *first = NULL;
    struct reflector_merge *later = NULL;

    rsite_watching();
    first = merge_begin();
    rsite_send("DELETED", "a=101:1");
    later = merge_begin();
    rsite_send("ADDED", "b2=102:1");
    rsite_send("DELETED", "b2=103:1");
    rsite_send("ADDED", "b2=104:1");
    rsite_send("DELETED", "b2=105:1");
    merge_end(first, "a=90:1 b2=102:1");
    cr_expect_str_eq(rsite_store(), "b=1");
    merge_end(later, "a=110:2 b2=102:1"); /* created again */
    cr_expect_str_eq(rsite_store(), "a=2 b=1");
    merge_end(merge_begin(), "b2=120:3");
    cr_expect_str_eq(rsite_store(), "a=2 b2=3 b=1");
}

Test(reflector_merge, a_merge_does_not_overwrite_newer_events)
{
    struct reflector_merge *merge = NULL;

    rsite_watching();
    merge = merge_begin();
    rsite_send("MODIFIED", "a=101:2");
    merge_end(merge, "a=90x:1 b=91:1");
    cr_expect_str_eq(rsite_store(), "a=2 b=1");
}

Test(reflector_merge, older_events_do_not_overwrite_a_merge)
{
    rsite_watching();
    merge_end(merge_begin(), "a=105:5 z=107:7");
    rsite_send("MODIFIED", "a=101:2");
    rsite_send("DELETED", "a=102:2");
    rsite_send("ADDED", "a=103:3");
    cr_expect_str_eq(rsite_store(), "a=5 b=1 z=7");
    rsite_send("MODIFIED", "a=105:5");
    rsite_send("ADDED", "z=107:7");
    cr_expect_eq(rsite.puts, 4);
    rsite_send("MODIFIED", "a=108:8");
    rsite_send("DELETED", "z=109:7");
    cr_expect_str_eq(rsite_store(), "a=8 b=1");
}

/* A list is planned long before it is sent: after a failure, a pause is between. What changes in
 * this pause after the merge comes by the list, and the watch begins after it. */
Test(reflector_merge, a_list_wins_over_a_merge_before_it)
{
    rsite_listed();
    rsite_answer(STR(RSITE_GONE));
    rsite_fail(503, "", 0);
    cr_assert_str_eq(rsite_next(), "list paused");
    merge_end(merge_begin(), "a=105:5 y=106:6 z=107:7");
    cr_expect_str_eq(rsite_store(), "a=5 b=1 y=6 z=7");
    reflector_sent(rsite.reflector);
    cr_assert_eq(rsite_bytes(rsite_list("110", "", "a=108:8 y=106:6")), 0);
    rsite_end();
    cr_expect_str_eq(rsite_store(), "a=8 y=6");
    cr_assert_str_eq(rsite_next(), "watch 110 paused"); /* the time of this test stands still */
    rsite_send("MODIFIED", "a=111:1");
    rsite_send("DELETED", "y=112:6");
    cr_expect_str_eq(rsite_store(), "a=1");
}

static void expect_again(struct reflector_merge *merge, const char *items)
{
    int r = reflector_merge_bytes(merge, rsite_list("900", "", items));

    cr_expect_eq(r == 0 ? reflector_merge_end(merge) : r, -EAGAIN);
    reflector_merge_free(merge);
}

/* Neither of the two could be known to be newer. */
Test(reflector_merge, a_merge_that_overlaps_a_list_is_refused)
{
    struct reflector_merge *before = NULL, *during = NULL;

    rsite_listed();
    rsite_answer(STR(RSITE_GONE));
    before = merge_begin();
    cr_assert_str_eq(rsite_next(), "list");
    reflector_sent(rsite.reflector);
    expect_again(merge_begin(), "a=105:5 z=107:7");
    expect_again(merge_begin(), "");
    during = merge_begin();
    cr_assert_eq(rsite_bytes(rsite_list("104", "", "a=90:1 b=91:1")), 0);
    rsite_end();
    expect_again(before, "a=105:5 z=107:7");
    expect_again(during, "a=105:5 z=107:7");
    cr_expect_str_eq(rsite_store(), "a=1 b=1");
    cr_assert_str_eq(rsite_next(), "watch 104");
    merge_end(merge_begin(), "a=105:5 z=107:7");
    cr_expect_str_eq(rsite_store(), "a=5 b=1 z=7");
}

Test(reflector_merge, an_incomplete_merge_is_rejected)
{
    struct reflector_merge *merge = merge_begin();
    struct str list = rsite_list("900", "", "a=1:1 b=2:2");

    cr_assert_eq(reflector_merge_bytes(merge, (struct str){list.ptr, list.len - 20}), 0);
    cr_expect_eq(reflector_merge_end(merge), -EBADMSG);
    reflector_merge_free(merge);
}

Test(reflector_merge, a_merge_fails_if_too_many_objects_were_dropped_meanwhile)
{
    struct reflector_merge *merge = NULL;

    rsite_watching();
    merge = merge_begin();
    for (int i = 0; i <= 4096; i++) {
        struct str item = arena_format(&rsite.arena, "x%d=1%d:1", i, i);

        rsite_send("ADDED", item.ptr);
        rsite_send("DELETED", item.ptr);
    }
    cr_assert_eq(reflector_merge_bytes(merge, rsite_list("900", "", "")), 0);
    cr_expect_eq(reflector_merge_end(merge), -EAGAIN);
    reflector_merge_free(merge);
    merge_end(merge_begin(), "x1=5:1");
}

/* The bytes to pass, made before allocations fail. */
struct script {
    struct str pages[2];
    struct str added;
    struct str deleted;
};

/* In two pieces, so that a part is kept in between. */
static int run_bytes(struct str bytes)
{
    size_t half = bytes.len / 2;
    int r = rsite_bytes((struct str){bytes.ptr, half});

    return r < 0 ? r : rsite_bytes((struct str){bytes.ptr + half, bytes.len - half});
}

static int run_lists(const struct script *script)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < 2; i++) {
        r = reflector_next(rsite.reflector, rsite.now_msec, &rsite.task);
        if (r == 0)
            r = run_bytes(script->pages[i]);
        if (r == 0)
            r = reflector_ended(rsite.reflector, rsite.now_msec);
    }
    return r;
}

static int run_watch(const struct script *script, struct reflector_merge *merge)
{
    int r = run_bytes(script->added);

    if (r == 0)
        r = run_bytes(script->deleted);
    if (r == 0)
        r = reflector_merge_bytes(merge, script->pages[0]);
    return r == 0 ? reflector_merge_end(merge) : r;
}

static int run_all(const struct script *script)
{
    struct reflector_merge *merge = NULL;
    int r = run_lists(script);

    if (r == 0)
        r = reflector_next(rsite.reflector, rsite.now_msec, &rsite.task);
    if (r == 0)
        r = reflector_merge_new(rsite.reflector, &merge);
    if (r == 0)
        r = run_watch(script, merge);
    reflector_merge_free(merge);
    return r;
}

Test(reflector_merge, every_failing_allocation_is_an_error)
{
    bool failed = true;
    unsigned nth = 0;

    while (failed) {
        struct script script = {0};
        int r = 0;

        rsite_done();
        rsite_begin();
        script.pages[0] = rsite_list("100", "t", "a=90:1");
        script.pages[1] = rsite_list("100", "", "b=91:1");
        script.added = rsite_event("ADDED", "c=101:1");
        script.deleted = rsite_event("DELETED", "b=102:1");
        failing_alloc_arm(++nth);
        r = run_all(&script);
        failed = failing_alloc_failed();
        cr_assert_eq(r, failed ? -ENOMEM : 0);
        cr_assert_lt(nth, 1000);
    }
    cr_expect_gt(nth, 10);
    cr_expect_str_eq(rsite_store(), "a=1 c=1");
}

Test(reflector_merge, out_of_memory_for_a_new_reflector_is_an_error)
{
    const struct reflector_options options = {
        .path = STR("/x"), .selector = STR(""), .members = rsite_shape};
    struct reflector *reflector = NULL;
    unsigned nth = 0;

    for (;;) {
        int r = 0;

        failing_alloc_arm(++nth);
        r = reflector_new(&options, &reflector);
        if (!failing_alloc_failed()) {
            cr_assert_eq(r, 0);
            break;
        }
        cr_assert_eq(r, -ENOMEM);
        cr_assert_lt(nth, 20);
    }
    cr_expect_gt(nth, 1);
    reflector_free(reflector);
}
