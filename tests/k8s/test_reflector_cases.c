/* SPDX-License-Identifier: Apache-2.0 */
/* test_reflector_cases - the rows of F06-watch-410-bookmarks-restart: the objects and the next task
 * after each step. */
#include <criterion/criterion.h>
#include <errno.h>

#include "planner/base/buffer.h"
#include "planner/base/tree.h"
#include "tests/k8s/evidence_helper.h"
#include "tests/k8s/reflector_site.h"

#define FOLDER "F06-watch-410-bookmarks-restart"
#define BIG_BYTES (1400 * 1024) /* of an event: nearly the largest object in etcd */

static struct arena arena;

static void begin(void)
{
    const struct reflector_options options = {.path = STR("/api/v1/configmaps")};

    rsite_begin_with(&options);
}

static void done(void)
{
    rsite_done();
    arena_release(&arena);
}

TestSuite(reflector_cases, .init = begin, .fini = done);

static struct str input(const char *name)
{
    struct str path = helper_text(&arena, "%s/cases/" FOLDER "/%s", TESTS_DIR, name);

    return helper_bytes(&arena, path.ptr);
}

static const cJSON *find_row(const char *item)
{
    static const struct document_options options = {
        .syntax = DOCUMENT_JSON, .rules = DOCUMENT_OWN, .max_nodes = 1000000};
    struct str path = helper_text(&arena, "%s/cases/index.json", TESTS_DIR);
    struct document_error error = {0};
    cJSON *rows = NULL;
    const cJSON *row = NULL;

    cr_assert_eq(document_read(helper_bytes(&arena, path.ptr), &options, &arena, &rows, &error), 0);
    cJSON_ArrayForEach(row, rows)
    {
        if (str_equal(tree_get_text(row, "case"), STR("F06")) &&
            str_equal(tree_get_text(row, "item"), str_of(item)))
            return tree_get(row, "expect");
    }
    cr_assert(false, "no row %s", item);
    return NULL;
}

static const char *wanted_store(const cJSON *expect)
{
    struct buffer b = buffer_make(&arena, 4096);
    const cJSON *entry = NULL;

    cJSON_ArrayForEach(entry, tree_get(expect, "store"))
    {
        buffer_add_format(&b, "%s%s=%s", b.len > 0 ? " " : "", entry->string, entry->valuestring);
    }
    return buffer_text(&b).ptr;
}

/* The next task of a row, in the words of rsite_next(). */
static const char *wanted_next(const char *item, const cJSON *expect)
{
    static const struct {
        const char *text, *shown;
    } words[] = {
        {"list", "list"},
        {"watch from 100", "watch 100"},
        {"watch from 120", "watch 120"},
        {"watch from 310", "watch 310"},
        {"watch from 311", "watch 311"},
        {"watch from 311 after a pause, or list", "watch 311 paused"},
        {"watch with growing pauses", "watch 311 paused"},
        {"watch from 314", "watch 314"},
    };
    struct str next = tree_get_text(expect, "next");

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (str_equal(next, str_of(words[i].text)))
            return words[i].shown;
    }
    cr_assert(false, "row %s asks for %s", item, next.ptr);
    return NULL;
}

static void expect_row(const char *item)
{
    const cJSON *expect = find_row(item);

    cr_expect_str_eq(rsite_store(), wanted_store(expect), "%s: %s", item, rsite_store());
    cr_expect_str_eq(rsite_next(), wanted_next(item, expect), "%s", item);
}

/* The size of the pieces in which bytes arrive. */
static size_t piece = SIZE_MAX;

static void step(const char *name)
{
    rsite_answer_pieces(input(name), piece);
}

static void step_empty_ten_times(void)
{
    uint32_t base = 0;

    for (int i = 0; i < 10; i++) {
        step("7-watch-empty.ndjson");
        (void)rsite_next();
        cr_expect(rsite.task.pause_msec >= base, "%u after %u", rsite.task.pause_msec, base);
        base = (uint32_t)REFLECTOR_PAUSE_MIN_MSEC << i;
        if (base > REFLECTOR_PAUSE_MAX_MSEC)
            base = REFLECTOR_PAUSE_MAX_MSEC;
    }
}

/* The steps before the one that differs between the variants. */
static void steps_1_and_2(void)
{
    step("1-list.json");
    step("2-watch-from-100.ndjson");
}

static void steps_5_to_8(void)
{
    step("5-watch-from-310-cut.ndjson");
    step("6-watch-error-500.ndjson");
    step_empty_ten_times();
    step("8-unknown-type.ndjson");
}

Test(reflector_cases, every_step_leaves_the_state_of_its_row)
{
    step("1-list.json");
    expect_row("after 1");
    step("2-watch-from-100.ndjson");
    expect_row("after 2");
    step("3-watch-from-120.ndjson");
    expect_row("after 3");
    step("4-relist.json");
    expect_row("after 4");
    step("5-watch-from-310-cut.ndjson");
    expect_row("after 5");
    step("6-watch-error-500.ndjson");
    expect_row("after 6");
    step_empty_ten_times();
    expect_row("after 7");
    step("8-unknown-type.ndjson");
    expect_row("after 8");
}

Test(reflector_cases, variant_a_http_410_equals_an_error_event)
{
    steps_1_and_2();
    rsite_fail(410, input("3a-status-410.json").ptr, 0);
    expect_row("variant A");
    cr_expect_str_eq(reflector_reason(rsite.reflector).ptr, "");
}

Test(reflector_cases, variant_b_bytes_arrive_one_by_one)
{
    piece = 1;
    steps_1_and_2();
    step("3-watch-from-120.ndjson");
    step("4-relist.json");
    steps_5_to_8();
    expect_row("variant B");
}

Test(reflector_cases, variant_b_two_events_arrive_in_one_piece)
{
    struct str first = input("2-watch-from-100.ndjson");
    const char *second = memchr(first.ptr, '\n', first.len);

    step("1-list.json");
    second = memchr(second + 1, '\n', first.len - (size_t)(second + 1 - first.ptr));
    (void)rsite_next();
    cr_assert_eq(rsite_bytes((struct str){first.ptr, (size_t)(second + 1 - first.ptr)}), 0);
    cr_expect_str_eq(rsite_store(), "a=2 b=1 c=1");
    cr_assert_eq(
        rsite_bytes((struct str){second + 1, first.len - (size_t)(second + 1 - first.ptr)}), 0);
    cr_assert_eq(reflector_ended(rsite.reflector, rsite.now_msec), 0);
    expect_row("after 2");
}

Test(reflector_cases, variant_b_an_event_of_1400_kib)
{
    struct buffer b = buffer_make(&arena, 4 * BIG_BYTES);

    step("1-list.json");
    buffer_add(&b, STR("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"z\",\"namespace\":"
                       "\"n\",\"resourceVersion\":\"500\"},\"data\":{\"v\":\"big\",\"w\":\""));
    for (size_t i = 0; i < BIG_BYTES; i++)
        buffer_add_char(&b, 'x');
    buffer_add(&b, STR("\"}}}\n"));
    rsite_answer_pieces(buffer_text(&b), 16384);
    cr_expect_str_eq(rsite_store(), "n/z=big sandgate-system/a=1 sandgate-system/b=1");
    cr_expect_str_eq(rsite_next(), "watch 500");
}

Test(reflector_cases, variant_c_initial_events_replace_a_list)
{
    const struct reflector_options options = {.path = STR("/api/v1/configmaps"),
                                              .initial_events = true};
    struct str bytes = input("9-initial-events.ndjson");
    size_t before_bookmark = bytes.len - 1;

    rsite_done();
    rsite_begin_with(&options);
    cr_expect_str_eq(rsite_next(), "watch initial");
    cr_expect_str_eq(rsite.task.path.ptr + strlen("/api/v1/configmaps"),
                     helper_text(&arena,
                                 "?watch=true&allowWatchBookmarks=true&sendInitialEvents=true"
                                 "&resourceVersionMatch=NotOlderThan&timeoutSeconds=%u",
                                 rsite.task.timeout_sec)
                         .ptr);
    cr_assert_eq(rsite_bytes(rsite_event("ADDED", "sandgate-system/b=91:1")), 0);
    cr_assert_eq(rsite_bytes(rsite_event("ADDED", "sandgate-system/a=90:1")), 0);
    cr_expect_not(reflector_listed(rsite.reflector));
    cr_assert_eq(rsite_bytes(STR("{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{"
                                 "\"resourceVersion\":\"120\",\"annotations\":{"
                                 "\"k8s.io/initial-events-end\":\"true\"}}}}\n")),
                 0);
    cr_expect(reflector_listed(rsite.reflector));
    cr_assert_eq(rsite_bytes(input("3-watch-from-120.ndjson")), -EREMOTEIO);
    reflector_failed(rsite.reflector, 0, STR(""), 0, rsite.now_msec);

    cr_expect_str_eq(rsite_next(), "watch initial");
    while (bytes.ptr[before_bookmark - 1] != '\n')
        before_bookmark--;
    cr_assert_eq(rsite_bytes((struct str){bytes.ptr, before_bookmark}), 0);
    cr_expect_str_eq(rsite_store(), "a=3 b=1 d=1"); /* until bookmark b can arrive */
    cr_assert_eq(
        rsite_bytes((struct str){bytes.ptr + before_bookmark, bytes.len - before_bookmark}), 0);
    rsite.now_msec += 5000;
    cr_assert_eq(reflector_ended(rsite.reflector, rsite.now_msec), 0);
    expect_row("variant C");
}

/* A client can write anything in managedFields. */
Test(reflector_cases, unusual_values_in_unused_fields_do_not_end_the_watch)
{
    const size_t depth = 1000;
    char *open = arena_alloc(&rsite.arena, 6 * depth + 1, 1);
    char *close = arena_alloc(&rsite.arena, depth + 1, 1);
    struct str item = {0};

    for (size_t i = 0; i < depth; i++) {
        (void)memcpy(open + 6 * i, "{\"f:\":", 6);
        close[i] = '}';
    }
    item = arena_format(&rsite.arena,
                        "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"90\","
                        "\"managedFields\":[%s0%s,{\"f:\\u0000\":{},\"f:\\ufffd\":{}}]},"
                        "\"data\":{\"v\":\"1\"}}",
                        open, close);
    rsite_answer(arena_format(
        &rsite.arena, "{\"metadata\":{\"resourceVersion\":\"100\"},\"items\":[%s]}", item.ptr));
    cr_expect_str_eq(rsite_store(), "a=1");
    cr_expect_str_eq(rsite_next(), "watch 100");
    cr_expect_eq(rsite_bytes(arena_format(&rsite.arena, "{\"type\":\"MODIFIED\",\"object\":%s}\n",
                                          item.ptr)),
                 0);
}

Test(reflector_cases, a_response_that_is_not_a_list_removes_nothing)
{
    static const char *const answers[] = {
        "{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"7\"}}",
        "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":{}}",
        "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":\"\"}",
        "{\"kind\":\"Status\",\"metadata\":{},\"status\":\"Failure\",\"code\":500}",
    };

    rsite_answer(rsite_list("100", "", "a=90:1"));
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        reflector_relist(rsite.reflector, REFLECTOR_LATEST);
        (void)rsite_next();
        cr_expect_eq(rsite_bytes(str_of(answers[i])), 0, "%s", answers[i]);
        cr_expect_eq(reflector_ended(rsite.reflector, rsite.now_msec), -EBADMSG, "%s", answers[i]);
        reflector_failed(rsite.reflector, 0, STR(""), 0, rsite.now_msec);
        cr_expect_str_eq(rsite_store(), "a=1", "%s", answers[i]);
    }
    rsite_answer(STR("{\"metadata\":{\"resourceVersion\":\"101\"},\"items\":null}"));
    cr_expect_str_eq(rsite_store(), "");
}

Test(reflector_cases, a_line_that_is_not_an_event_is_ignored)
{
    static const char *const answers[] = {
        "{\"kind\":\"Status\",\"status\":\"Failure\",\"code\":500}\n",
        "{\"kind\":\"ConfigMapList\",\"metadata\":{\"resourceVersion\":\"300\"},\"items\":[]}\n",
        "{\"type\":3}\n",
        "<html>\n",
    };

    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        uint64_t heard_msec = 0;

        rsite_answer(rsite_list("100", "", "a=90:1"));
        heard_msec = reflector_last_event_msec(rsite.reflector);
        (void)rsite_next();
        rsite.now_msec += 5000;
        cr_expect_eq(rsite_bytes(str_of(answers[i])), -EBADMSG, "%s", answers[i]);
        cr_expect_eq(reflector_last_event_msec(rsite.reflector), heard_msec);
        reflector_failed(rsite.reflector, 0, STR(""), 0, rsite.now_msec);
        reflector_relist(rsite.reflector, REFLECTOR_LATEST);
    }
}
