/* SPDX-License-Identifier: Apache-2.0 */
/* test_reflector - lists, watches, pauses and errors of the reflector. */
#include <criterion/criterion.h>
#include <errno.h>

#include "tests/k8s/reflector_site.h"

TestSuite(reflector, .init = rsite_begin, .fini = rsite_done);

#define TOO_LARGE                                                                                  \
    "{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"Too large resource version\","      \
    "\"reason\":\"Timeout\",\"code\":504,\"details\":{\"causes\":[{\"reason\":"                    \
    "\"ResourceVersionTooLarge\",\"message\":\"Too large resource version\"}]}}"

Test(reflector, the_first_list_allows_cached_data)
{
    cr_expect_str_eq(rsite_next(), "list 0");
    cr_expect_str_eq(rsite.task.path.ptr, "/api/v1/configmaps?limit=100&resourceVersion=0"
                                          "&labelSelector=x%3Dtrue");
    cr_expect_not(reflector_listed(rsite.reflector));
    cr_expect_eq(reflector_last_event_msec(rsite.reflector), 0);
}

Test(reflector, a_watch_requests_bookmarks_and_a_timeout)
{
    uint32_t first = 0;
    bool differs = false;

    rsite_listed();
    for (int i = 0; i < 50; i++) {
        (void)rsite_next();
        cr_assert(rsite.task.timeout_sec >= 300 && rsite.task.timeout_sec <= 600);
        differs |= first != 0 && first != rsite.task.timeout_sec;
        first = rsite.task.timeout_sec;
    }
    cr_expect(differs);
    cr_expect_str_eq(
        rsite.task.path.ptr,
        arena_format(&rsite.arena,
                     "/api/v1/configmaps?watch=true&allowWatchBookmarks=true&resourceVersion=100"
                     "&timeoutSeconds=%u&labelSelector=x%%3Dtrue",
                     rsite.task.timeout_sec)
            .ptr);
}

Test(reflector, pages_are_joined_to_one_list)
{
    rsite_answer(rsite_list("100", "t=/1", "a=90:1"));
    cr_expect_str_eq(rsite_next(), "list t%3D%2F1");
    cr_expect_not(reflector_listed(rsite.reflector));
    rsite_answer(rsite_list("100", "t2", "b=91:1"));
    rsite_answer(rsite_list("101", "", "c=92:1"));
    cr_expect_str_eq(rsite_store(), "a=1 b=1 c=1");
    cr_expect(reflector_listed(rsite.reflector));
    cr_expect_eq(reflector_last_event_msec(rsite.reflector), rsite.now_msec);
    cr_expect_str_eq(rsite_next(),
                     "watch 100"); /* the version of the first page: no change is missed */
}

Test(reflector, an_expired_page_leads_to_a_list_without_pages)
{
    rsite_answer(rsite_list("100", "t1", "a=90:1"));
    rsite_fail(410, "{\"code\":410}", 0);
    cr_expect_str_eq(rsite_next(), "list 0 whole");
    rsite_answer(rsite_list("102", "", "b=91:1"));
    cr_expect_str_eq(rsite_store(), "b=1");
    cr_expect_str_eq(rsite_next(), "watch 102");
}

Test(reflector, the_next_list_uses_pages_again)
{
    rsite_answer(rsite_list("100", "t1", "a=90:1"));
    rsite_fail(410, "", 0);
    rsite_answer(rsite_list("102", "", "b=91:1"));
    rsite_answer(STR(RSITE_GONE));
    cr_expect_str_eq(rsite_next(), "list");
}

Test(reflector, a_failed_page_restarts_the_list)
{
    rsite_answer(rsite_list("100", "t1", "a=90:1"));
    rsite_fail(503, "", 0);
    cr_expect_str_eq(rsite_next(), "list 0 paused");
    cr_expect_str_eq(rsite_store(), "a=1");
    rsite_answer(rsite_list("101", "", "b=91:1"));
    cr_expect_str_eq(rsite_store(), "b=1");
}

Test(reflector, an_incomplete_list_is_ignored)
{
    struct str whole = rsite_list("101", "", "b=95:2");

    rsite_listed();
    rsite_answer(STR(RSITE_GONE));
    for (size_t len = 0; len + 2 < whole.len; len++) {
        (void)rsite_next();
        cr_assert_eq(rsite_bytes((struct str){whole.ptr, len}), 0, "%zu", len);
        cr_assert_eq(reflector_ended(rsite.reflector, rsite.now_msec), -EBADMSG, "%zu", len);
        rsite_fail_with(0);
        cr_assert(str_starts_with(str_of(rsite_store()), STR("a=1 b=")), "%zu", len);
    }
    rsite_answer(whole);
    cr_expect_str_eq(rsite_store(), "b=2");
}

Test(reflector, a_list_can_arrive_in_any_pieces)
{
    for (size_t piece = 1; piece < 40; piece++) {
        rsite_done();
        rsite_begin();
        rsite_answer_pieces(rsite_list("100", "", "a=90:1 b=91:x{}[]\\\"\\\\ c=92:\xc3\xa4"),
                            piece);
        cr_assert_str_eq(rsite_store(), "a=1 b=x{}[]\"\\ c=\xc3\xa4", "%zu", piece);
    }
}

Test(reflector, only_items_of_the_root_are_read)
{
    rsite_answer(STR("{\"metadata\":{\"resourceVersion\":\"7\",\"items\":[{\"a\":1}]},"
                     "\"x\":[{\"items\":[{\"metadata\":{}}]}],\"items\" : [ null, 3 ]}"));
    cr_expect_str_eq(rsite_store(), "");
    cr_expect_str_eq(rsite_next(), "watch 7");
    rsite_done();
    rsite_begin();
    rsite_answer(STR("{\"items\":null,\"metadata\":{\"resourceVersion\":\"8\"}}"));
    cr_expect_str_eq(rsite_next(), "watch 8");
}

Test(reflector, an_unreadable_list_is_rejected)
{
    static const char *const lists[] = {
        "",
        "x",
        "[]",
        "{}",
        "{\"metadata\":{}}",
        "{\"metadata\":{\"resourceVersion\":\"\"},\"items\":[]}",
        "{\"metadata\":{\"resourceVersion\":\"12345678901234567890123456789012\"},\"items\":[]}",
        "{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[]}}",
        "{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[],\"items\":[]}",
        "]{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[]}",
    };
    static const char *const items[] = {"{]",
                                        "{}",
                                        "[]",
                                        "{\"metadata\":{\"name\":\"a\"}}",
                                        "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"\"}}",
                                        "{\"metadata\":{\"resourceVersion\":\"1\"}}"};

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        (void)rsite_next();
        if (rsite_bytes(str_of(lists[i])) == 0)
            cr_expect_eq(reflector_ended(rsite.reflector, rsite.now_msec), -EBADMSG, "%s",
                         lists[i]);
        cr_expect_neq(reflector_reason(rsite.reflector).len, 0);
        rsite_fail_with(0);
    }
    for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
        struct str list = arena_format(
            &rsite.arena, "{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[%s]}", items[i]);

        (void)rsite_next();
        cr_expect_eq(rsite_bytes(list), -EBADMSG, "%s", items[i]);
        rsite_fail_with(0);
    }
    cr_expect_str_eq(rsite_next(), "list 0 paused");
}

Test(reflector, a_version_that_is_too_new_is_dropped)
{
    rsite_listed();
    rsite_answer(STR(RSITE_GONE));
    rsite_answer(rsite_list("5", "", "a=90:1"));
    for (int i = 0; i < 3; i++)
        rsite_fail(500, "", 0); /* the watch never works, so a list is tried */
    cr_expect_str_eq(rsite_next(), "list 5 paused");
    rsite_fail(504, TOO_LARGE, 0);
    cr_expect_str_eq(rsite_next(), "list paused");
    rsite_fail(504, "{}", 0);
    cr_expect_str_eq(rsite_next(), "list paused");
}

Test(reflector, a_watch_continues_at_once_after_a_clean_end)
{
    rsite_watching();
    rsite_end();
    cr_expect_str_eq(rsite_next(), "watch 100");
    cr_expect_eq(reflector_failure_count(rsite.reflector), 0);
}

Test(reflector, a_watch_that_ends_at_once_without_events_is_a_failure)
{
    rsite_listed();
    (void)rsite_next();
    rsite.now_msec += 999;
    rsite_end();
    cr_expect_str_eq(rsite_next(), "watch 100 paused");
    cr_expect_eq(reflector_failure_count(rsite.reflector), 1);
}

Test(reflector, short_watches_with_events_do_not_cause_a_busy_loop)
{
    bool paused = false;

    rsite_listed();
    for (int i = 0; i < 10 && !paused; i++) {
        rsite_answer(rsite_event("BOOKMARK", "100"));
        paused = strcmp(rsite_next(), "watch 100 paused") == 0;
    }
    cr_expect(paused);
}

Test(reflector, a_bookmark_changes_only_the_version)
{
    rsite_watching();
    rsite_send("BOOKMARK", "123");
    rsite_end();
    cr_expect_str_eq(rsite_store(), "a=1 b=1");
    cr_expect_eq(rsite.puts, 2);
    cr_expect_eq(reflector_last_event_msec(rsite.reflector), rsite.now_msec);
    cr_expect_str_eq(rsite_next(), "watch 123");
}

Test(reflector, versions_are_opaque_strings)
{
    rsite_watching();
    rsite_send("MODIFIED", "a=007:7");
    rsite_send("MODIFIED", "b=91:same"); /* the known version */
    rsite_send("MODIFIED", "a=x&y:8");
    cr_expect_str_eq(rsite_store(), "a=8 b=1");
    rsite_end();
    cr_expect_str_eq(rsite_next(), "watch x%26y");
}

Test(reflector, a_watch_continues_from_the_last_event_after_a_broken_connection)
{
    struct str cut = rsite_event("MODIFIED", "b=102:2");

    rsite_watching();
    rsite_send("MODIFIED", "a=101:2");
    cr_assert_eq(rsite_bytes((struct str){cut.ptr, cut.len - 1}), 0);
    rsite_fail_with(0);
    cr_expect_str_eq(rsite_store(), "a=2 b=1");
    cr_expect_str_eq(rsite_next(), "watch 101");
}

Test(reflector, a_refused_connection_does_not_cause_a_list)
{
    rsite_listed();
    for (int i = 0; i < 20; i++) {
        rsite_fail(0, "", 0);
        cr_assert_str_eq(rsite_next(), "watch 100 paused");
    }
    for (int i = 0; i < 20; i++) {
        rsite_fail(429, "", 1);
        cr_assert_str_eq(rsite_next(), "watch 100 paused");
    }
    cr_expect_str_eq(rsite_store(), "a=1 b=1");
    cr_expect_eq(reflector_failure_count(rsite.reflector), 40);
}

Test(reflector, pauses_double_up_to_a_limit_and_are_reset)
{
    uint32_t base = REFLECTOR_PAUSE_MIN_MSEC;

    rsite_listed();
    for (int i = 0; i < 12; i++) {
        rsite_fail(0, "", 0);
        (void)rsite_next();
        cr_assert(rsite.task.pause_msec >= base && rsite.task.pause_msec < 2 * base, "%u",
                  rsite.task.pause_msec);
        base = base * 2 > REFLECTOR_PAUSE_MAX_MSEC ? REFLECTOR_PAUSE_MAX_MSEC : base * 2;
    }
    rsite.now_msec += REFLECTOR_CALM_MSEC + 60001;
    rsite_fail(0, "", 0);
    (void)rsite_next();
    cr_expect_lt(rsite.task.pause_msec, 2 * REFLECTOR_PAUSE_MIN_MSEC);
}

Test(reflector, retry_after_of_the_server_is_honoured)
{
    rsite_fail(429, "", 5);
    (void)rsite_next();
    cr_expect(rsite.task.pause_msec >= 5000 && rsite.task.pause_msec < 5200);
    rsite_fail(503, "", 1000000);
    (void)rsite_next();
    cr_expect(rsite.task.pause_msec >= REFLECTOR_PAUSE_MAX_MSEC &&
              rsite.task.pause_msec < REFLECTOR_PAUSE_MAX_MSEC + 200);
    for (int i = 0; i < 10; i++)
        rsite_fail(503, "", 1);
    (void)rsite_next();
    cr_expect_geq(rsite.task.pause_msec,
                  REFLECTOR_PAUSE_MAX_MSEC); /* the server does not mean it */
}

Test(reflector, repeated_410_does_not_cause_a_busy_loop)
{
    rsite_listed();
    rsite_answer(STR(RSITE_GONE));
    cr_expect_str_eq(rsite_next(), "list");
    rsite_answer(rsite_list("5", "", "a=90:1"));
    rsite_answer(STR(RSITE_GONE));
    cr_expect_str_eq(rsite_next(), "list paused");
    rsite_answer(rsite_list("6", "", "a=90:1"));
    (void)rsite_next();
    rsite.now_msec += 5000;
    rsite_send("BOOKMARK", "7");
    rsite_fail_with(410);
    cr_expect_str_eq(rsite_next(), "list");
}

Test(reflector, the_reason_is_the_message_of_the_server)
{
    rsite_watching();
    cr_assert_eq(rsite_bytes(STR("{\"type\":\"ERROR\",\"object\":{\"message\":\"etcd is gone\"}}\n"
                                 "{\"type\":\"ADDED\",\"object\":{}}\n")),
                 -EREMOTEIO);
    cr_expect_eq(rsite_bytes(rsite_event("ADDED", "z=1:1")), -EREMOTEIO);
    cr_expect_eq(reflector_ended(rsite.reflector, rsite.now_msec), -EREMOTEIO);
    rsite_fail_with(0);
    cr_expect_str_eq(reflector_reason(rsite.reflector).ptr, "etcd is gone");
    cr_expect_str_eq(rsite_store(), "a=1 b=1");
    cr_expect_str_eq(rsite_next(), "watch 100 paused");
    rsite_fail(403, "{\"message\":\"not allowed\"}", 0);
    cr_expect_str_eq(reflector_reason(rsite.reflector).ptr, "not allowed");
}

Test(reflector, an_unreadable_event_ends_the_watch)
{
    static const char *const lines[] = {
        "x\n",
        "[]\n",
        "{\"type\":\"ADDED\"}\n",
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"z\"}}}\n",
        "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{}}}\n",
    };

    rsite_watching();
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        cr_expect_eq(rsite_bytes(str_of(lines[i])), -EBADMSG, "%s", lines[i]);
        cr_expect_neq(reflector_reason(rsite.reflector).len, 0);
        rsite_fail_with(0);
        (void)rsite_next();
    }
    cr_assert_eq(rsite_bytes(STR("\n \n")), 0);
    rsite_send("ADDED", "z=101:1");
    cr_expect_str_eq(rsite_store(), "a=1 b=1 z=1");
}

Test(reflector, an_object_over_the_limit_is_rejected)
{
    static char bytes[1 << 20];
    int r = 0;

    memset(bytes, 'x', sizeof(bytes));
    rsite_watching();
    for (size_t i = 0; i < REFLECTOR_MAX_OBJECT_BYTES / sizeof(bytes); i++)
        cr_assert_eq(rsite_bytes((struct str){bytes, sizeof(bytes)}), 0);
    r = rsite_bytes(STR("x"));
    cr_expect_eq(r, -EMSGSIZE);
}

/* The JSON of `a` with this version and this many values in a member that is read. */
static struct str object_with(const char *version, size_t values)
{
    char *numbers = arena_alloc_text(&rsite.arena, 2 * values + 1);

    cr_assert_not_null(numbers);
    for (size_t i = 0; i < values; i++)
        memcpy(numbers + 2 * i, i == 0 ? " 0" : ",0", 2);
    return arena_format(
        &rsite.arena,
        "{\"metadata\":{\"namespace\":\"n\",\"name\":\"a\",\"resourceVersion\":\"%s\","
        "\"annotations\":[%s]},\"data\":{\"v\":\"2\"}}",
        version, numbers);
}

static struct str event_of(struct str object)
{
    return arena_format(&rsite.arena, "{\"type\":\"MODIFIED\",\"object\":%s}\n", object.ptr);
}

static struct str list_of(const char *version, struct str object)
{
    return arena_format(&rsite.arena, "{\"metadata\":{\"resourceVersion\":\"%s\"},\"items\":[%s]}",
                        version, object.ptr);
}

/* Beside the values in the member there are 8 others in the item, and 10 in the event. */
Test(reflector, an_object_with_too_many_values_is_rejected)
{
    rsite_watching();
    cr_expect_eq(rsite_bytes(event_of(object_with("101", DOCUMENT_MAX_NODES - 10))), 0);
    cr_expect_str_eq(rsite_store(), "a=2 b=1");
    cr_expect_eq(rsite_bytes(event_of(object_with("102", DOCUMENT_MAX_NODES - 9))), -EMSGSIZE);
    cr_expect_str_eq(reflector_reason(rsite.reflector).ptr, "it has too many values");
}

Test(reflector, an_object_with_too_many_values_is_cut_if_the_sink_takes_it)
{
    const struct reflector_options options = {
        .path = STR("/p"), .selector = STR(""), .take_cut = true};

    rsite_done();
    rsite_begin_with(&options);
    rsite_answer(list_of("100", object_with("99", DOCUMENT_MAX_NODES - 8)));
    cr_expect_str_eq(rsite_store(), "a=2");
    rsite_answer(event_of(object_with("101", DOCUMENT_MAX_NODES - 9)));
    cr_expect_str_eq(rsite_store(), "a=(cut)");
    rsite_answer(event_of(object_with("102", 1)));
    cr_expect_str_eq(rsite_store(), "a=2");
    reflector_relist(rsite.reflector, REFLECTOR_LATEST);
    rsite_answer(list_of("104", object_with("103", DOCUMENT_MAX_NODES - 7)));
    cr_expect_str_eq(rsite_store(), "a=(cut)");
    cr_expect_eq(reflector_reason(rsite.reflector).len, 0);
    cr_expect_str_eq(rsite_next(), "watch 104");
}

Test(reflector, a_nul_in_other_fields_does_not_end_the_watch)
{
    rsite_watching();
    rsite_send("MODIFIED", "a=101:x\\u0000y");
    cr_expect_str_eq(rsite_store(), "a=x\xef\xbf\xbdy b=1");
}

Test(reflector, a_failed_sink_is_called_again)
{
    rsite_watching();
    rsite.put_result = -EIO;
    cr_expect_eq(rsite_bytes(rsite_event("MODIFIED", "a=101:2")), -EIO);
    rsite_fail_with(0);
    cr_expect_str_eq(rsite_next(), "watch 100 paused");
    rsite.put_result = 0;
    rsite_send("MODIFIED", "a=101:2");
    cr_expect_str_eq(rsite_store(), "a=2 b=1");
}

Test(reflector, a_relist_puts_only_changed_objects)
{
    rsite_watching();
    reflector_relist(rsite.reflector, REFLECTOR_LATEST);
    cr_expect_str_eq(rsite_next(), "list");
    rsite_answer(rsite_list("110", "", "a=90:1 c=105:1"));
    cr_expect_str_eq(rsite_store(), "a=1 c=1");
    cr_expect_eq(rsite.puts, 3);
    cr_expect_eq(rsite.drops, 1);
    cr_expect_eq(reflector_list_count(rsite.reflector), 2);
}

Test(reflector, changed_rules_put_all_objects_again)
{
    rsite_watching();
    reflector_relist(rsite.reflector, REFLECTOR_AGAIN);
    rsite_fail(0, "", 0);
    reflector_relist(rsite.reflector, REFLECTOR_LATEST); /* does not withdraw it */
    rsite_answer(rsite_list("110", "", "a=90:1 b=91:1"));
    cr_expect_eq(rsite.puts, 4);
    cr_expect_eq(rsite.drops, 0);
    rsite_answer(STR(RSITE_GONE));
    rsite_answer(rsite_list("111", "", "a=90:1 b=91:1"));
    cr_expect_eq(rsite.puts, 4);
}

Test(reflector, equal_names_in_two_namespaces_are_two_objects)
{
    rsite_answer(rsite_list("100", "", "x/a=1:1 y/a=2:2"));
    cr_assert_str_eq(rsite_next(), "watch 100");
    rsite_send("DELETED", "x/a=3:1");
    cr_expect_str_eq(rsite_store(), "a=2");
    cr_expect_eq(reflector_object_count(rsite.reflector), 1);
}

Test(reflector, unsupported_initial_events_fall_back_to_lists)
{
    const struct reflector_options options = {.path = STR("/api/v1/namespaces"),
                                              .initial_events = true};

    rsite_done();
    rsite_begin_with(&options);
    cr_expect_str_eq(rsite_next(), "watch initial");
    rsite_fail(503, "", 0);
    cr_expect_str_eq(rsite_next(), "watch initial paused");
    rsite_fail(422, "", 0);
    cr_expect_str_eq(rsite_next(), "list 0 paused");
}
