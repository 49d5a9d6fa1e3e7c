/* SPDX-License-Identifier: Apache-2.0 */
/* test_yaml - the strict YAML reader: scalars, errors and their places, limits. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "k8s/document/document.h"
#include "planner/base/tree.h"
#include "tests/k8s/reading_check.h"

#define T(literal)                                                                                 \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

#define UNCLEAR "YAML 1.1 and YAML 1.2 read this differently: quote it"
#define TWICE "a key is given twice in one object"
#define DEPTH "nested deeper than 64 levels"
#define KEY_TEXT "a key must be text: quote it"
#define TAB "a tab in the indentation: use spaces"
#define ANCHOR "an anchor: write the value out where it is used"
#define ALIAS "an alias: write the value out"
#define TAG "a tag: remove it, or quote the text"
#define MERGE "a merge key: write its members out, or quote it"
#define DIRECTIVE "a directive: remove the line"
#define NO_CHARACTER "an escape for a surrogate, which is not a character"
#define CONTROL "a control character: escape it in double quotes"
#define LINE_END                                                                                   \
    "U+0085, U+2028 or U+2029, which only some readers take for a line end: escape it in "         \
    "double quotes"

static const struct document_options own = {.syntax = DOCUMENT_YAML, .rules = DOCUMENT_OWN};
static const struct document_options review = {.syntax = DOCUMENT_YAML, .rules = DOCUMENT_REVIEW};
static const struct document_options either = {.syntax = DOCUMENT_EITHER, .rules = DOCUMENT_OWN};

#define CHECK(rows, options) reading_check(rows, sizeof(rows) / sizeof((rows)[0]), options)

static void expect_unclear(const char *const *scalars, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cleanup_arena struct arena arena = {0};
        struct str texts[] = {
            arena_format(&arena, "a:\n  - %s", scalars[i]),
            arena_format(&arena, "a:\n  {%s: 1}", scalars[i]),
            arena_format(&arena, "a:\n- '%s'\n- \"%s\"\n- |-\n  %s", scalars[i], scalars[i],
                         scalars[i]),
        };
        struct str quoted = arena_format(&arena, "{\"a\":[\"%s\",\"%s\",\"%s\"]}", scalars[i],
                                         scalars[i], scalars[i]);

        cr_expect(str_equal(reading_of(&arena, texts[0], &own), STR("2:5 " UNCLEAR)), "%s",
                  scalars[i]);
        cr_expect(str_equal(reading_of(&arena, texts[0], &review), STR("2:5 " UNCLEAR)), "%s",
                  scalars[i]);
        cr_expect(str_equal(reading_of(&arena, texts[1], &own), STR("2:4 " UNCLEAR)), "%s",
                  scalars[i]);
        cr_expect(str_equal(reading_of(&arena, texts[2], &own), quoted), "%s", scalars[i]);
    }
}

Test(yaml, plain_scalars_with_two_readings_are_refused)
{
    static const char *const scalars[] = {
        /* the list of the contract, then similar ones */
        "yes",    "no",    "on",        "off",   "y",    "n",     "True",   "010",      "0o10",
        "1:30",   "1_000", "0x1f",      "0b1",   "1e3",  "+1",    ".5",     "5.",       "012.5",
        "1.5e+3", ".inf",  ".nan",      "Null",  "YES",  "No",    "oN",     "OFF",      "Y",
        "N",      "TRUE",  "False",     "FALSE", "tRUE", "NULL",  "nUll",   "00",       "-010",
        "08",     "09",    "0_1",       "1__0",  "1_",   "0X1F",  "0O7",    "0B11",     "-0x1f",
        "+0b1",   "0x_f",  "1E3",       "1e+3",  "1e-3", "1.5e3", "1.5E-3", ".5e3",     "5.e3",
        "-1e3",   "1_0e3", "+0",        "+1.5",  "-.5",  "+.5",   "-5.",    "1.5_0",    "1_0.5",
        "00.5",   "-.inf", "+.inf",     ".Inf",  ".INF", ".NaN",  ".NAN",   "12:30:45", "-1:30",
        "1:30.5", "08:30", "190:20:30", "0.1e1", "1.e3", "-01",   "0.",     "-0.",
    };

    expect_unclear(scalars, sizeof(scalars) / sizeof(scalars[0]));
}

/* Readers that skip underscores take these for numbers, though no grammar of YAML has them. */
Test(yaml, scalars_that_are_numbers_without_underscores_are_refused)
{
    static const char *const scalars[] = {
        "1e1_0",          "-_1",  "+_1",   "0_x1",  "0E9_",  "1e+3_", "1e_+3",
        "1_2_3.4_5e+6_7", "._5",  "0_b1",  "0_o17", "0x_",   "1_:30", "1:_30",
        "-_0_x1f",        "+_.5", "1__e3", ".5_e3", "._inf",
    };

    expect_unclear(scalars, sizeof(scalars) / sizeof(scalars[0]));
}

Test(yaml, unambiguous_plain_scalars_are_read)
{
    static const struct reading_row rows[] = {
        {T("true"), "true"},
        {T("false"), "false"},
        {T("null"), "null"},
        {T("~"), "null"},
        {T("a:"), "{\"a\":null}"},
        {T("[a, , b]"), "1:5 did not find expected node content"},
        {T("0"), "0"},
        {T("-0"), "-0"},
        {T("7"), "7"},
        {T("-12"), "-12"},
        {T("1.50"), "1.5"},
        {T("-0.5"), "-0.5"},
        {T("0.0"), "0"},
        {T("123456789012345678901234567890"), "1.2345678901234568e+29"},
        {T("2026-11-01T10:00:00Z"), "\"2026-11-01T10:00:00Z\""},
        {T("2026-11-01"), "\"2026-11-01\""},
        {T("2026-11-01 10:00:00"), "\"2026-11-01 10:00:00\""},
        {T("."), "\".\""},
        {T(".."), "\"..\""},
        {T("-x"), "\"-x\""},
        {T("+"), "\"+\""},
        {T("_1"), "\"_1\""},
        {T("-_"), "\"-_\""},
        {T("1e3_."), "\"1e3_.\""},
        {T("1_a"), "\"1_a\""},
        {T("1_2.3_4.5"), "\"1_2.3_4.5\""},
        {T("_1"), "\"_1\""},
        {T("1.2.3"), "\"1.2.3\""},
        {T("1e"), "\"1e\""},
        {T("e3"), "\"e3\""},
        {T("0x"), "\"0x\""},
        {T("0xg"), "\"0xg\""},
        {T("0o8"), "\"0o8\""},
        {T("0b2"), "\"0b2\""},
        {T("1:60"), "\"1:60\""},
        {T("1:300"), "\"1:300\""},
        {T("host:80"), "\"host:80\""},
        {T("10.0.0.1:80"), "\"10.0.0.1:80\""},
        {T("::1"), "\"::1\""},
        {T("--1"), "\"--1\""},
        {T("inf"), "\"inf\""},
        {T("nan"), "\"nan\""},
        {T("yes sir"), "\"yes sir\""},
        {T("nope"), "\"nope\""},
        {T("="), "\"=\""},
        {T("<<"), "\"<<\""},
        {T("tmp/results"), "\"tmp/results\""},
        {T("1 2"), "\"1 2\""},
        {T("1\n  2"), "\"1 2\""},
        {T("\xE4\xBD\xA0"), "\"\xE4\xBD\xA0\""},
    };

    CHECK(rows, &own);
    CHECK(rows, &review);
}

Test(yaml, what_readers_differ_on_is_refused_at_its_place)
{
    static const struct reading_row rows[] = {
        {T("a: &a [x]\nb: 1"), "1:4 " ANCHOR},
        {T("a: 1\nb: &b x"), "2:4 " ANCHOR},
        {T("a: 1\n&k b: 2"), "2:1 " ANCHOR},
        {T("a: &a !!str x"), "1:4 " ANCHOR},
        {T("- x\n- *a"), "2:3 " ALIAS},
        {T("*a : x"), "1:1 " ALIAS},
        {T("a: 1\n<<: {b: 2}"), "2:1 " MERGE},
        {T("{a: 1, <<: {b: 2}}"), "1:8 " MERGE},
        {T("'<<': {b: 2}"), "{\"<<\":{\"b\":2}}"},
        {T("network: !!bool false"), "1:10 " TAG},
        {T("a: ! x"), "1:4 " TAG},
        {T("a: !x 'y'"), "1:4 " TAG},
        {T("a: !<tag:yaml.org,2002:str> y"), "1:4 " TAG},
        {T("a: ! [x]"), "1:4 " TAG},
        {T("!!map {a: 1}"), "1:1 " TAG},
        {T("%YAML 1.1\n---\na: 1"), "1:1 " DIRECTIVE},
        {T("# x\n\n%TAG ! tag:x,2000:\n---\na: 1"), "3:1 " DIRECTIVE},
        {T("%FOO\n---\na: 1"), "1:1 " DIRECTIVE},
        {T("---\na: 1\n---\nb: 1"), "3:1 a second document"},
        {T("a: 1\n---"), "2:1 a second document"},
        {T("a: 1\n...\n---\nb: 2"), "3:1 a second document"},
        {T("a: 1\n...\nb: 2"), "3:1 trailing content after the document"},
        {T("1: x"), "1:1 " KEY_TEXT},
        {T("a: {true: x}"), "1:5 " KEY_TEXT},
        {T("? \n: x"), "1:2 " KEY_TEXT},
        {T("null: x"), "1:1 " KEY_TEXT},
        {T("-1.5: x"), "1:1 " KEY_TEXT},
        {T("no: x"), "1:1 " UNCLEAR},
        {T("? [a]\n: x"), "1:3 a key must be text"},
        {T("a: 1\n? {b: 1}\n: x"), "2:3 a key must be text"},
        {T("'1': x\n\"true\": z"), "{\"1\":\"x\",\"true\":\"z\"}"},
        {T("a: 1\nb: 2\na: 3"), "3:1 " TWICE},
        {T("{a: 1, \"\\x61\": 2}"), "1:8 " TWICE},
        {T("- x: {k: 1, 'k': 2}"), "1:13 " TWICE},
        {T("a: {b: 1}\nc: {b: 1}"), "{\"a\":{\"b\":1},\"c\":{\"b\":1}}"},
        {T("\"a\\\"\": 1\n'a\\\"': 2\n'a\"': 3"), "3:1 " TWICE},
        {T("\"\\t\\u0001\": 1\n\"\\x09\\x01\": 2"), "2:1 " TWICE},
        {T("a:\n\t- b"), "2:1 " TAB},
        {T("a:\n  b: 1\n\tc: 2"), "3:1 " TAB},
        {T("a:\n \tb: 1"), "2:2 " TAB},
        {T("a: |\n\tb"), "2:1 " TAB},
        {T("\ta: 1"), "1:1 " TAB},
        {T("a: x\n\ty"), "2:1 " TAB},
        {T("a:\tb\t# c"), "{\"a\":\"b\"}"},
        {T("a: \"\\ud83d\\ude00\""), "1:5 " NO_CHARACTER},
        {T("- x\n- \"ab\\udc00\""), "2:6 " NO_CHARACTER},
        {T("a: \"\\U00110000\""), "1:5 " NO_CHARACTER},
        {T("a: \"\\U0001f600\""), "{\"a\":\"\xF0\x9F\x98\x80\"}"},
        {T("a: [x]\xC2\x85"), "1:7 " LINE_END},
        {T("a: 1 # \xE2\x80\xA8"), "1:8 " LINE_END},
        {T("a: '\xC3\xA9\xE2\x80\xA9'"), "1:7 " LINE_END},
        {T("a: \"\\N\\L\\P\""), "{\"a\":\"\xC2\x85\xE2\x80\xA8\xE2\x80\xA9\"}"},
    };

    CHECK(rows, &own);
    CHECK(rows, &review);
}

Test(yaml, invalid_syntax_and_bytes_are_rejected_at_their_place)
{
    static const struct reading_row rows[] = {
        {T("a: 1 # \xFF"), "1:8 not valid UTF-8"},
        {T("a: caf\xE9"), "1:7 not valid UTF-8"},
        {T("a: \xED\xA0\x80"), "1:4 not valid UTF-8"},
        {T("\xC3\xA9: 1\n\xC3\xA9: \xC0\xAF"), "2:5 not valid UTF-8"},
        {T("a: x\0y"), "1:5 a NUL character"},
        {T("a: x\x01"), "1:5 " CONTROL},
        {T("a: 'x\x7F'"), "1:6 " CONTROL},
        {T("a: 1\n# \xC2\x80"), "2:3 " CONTROL},
        {T("a: \xEF\xBF\xBE"), "1:4 " CONTROL},
        {T("a: \x1B[0m"), "1:4 " CONTROL},
        {T("\xFF\xFE"
           "a\0:\0"),
         "1:1 UTF-16: save the text as UTF-8"},
        {T("\xFE\xFF\0a"), "1:1 UTF-16: save the text as UTF-8"},
        {T("a\0:\0"), "1:1 UTF-16: save the text as UTF-8"},
        {T("\0a\0:"), "1:1 UTF-16: save the text as UTF-8"},
        {T("[a"), "1:3 did not find expected ',' or ']'"},
        {T("{a: 1"), "1:6 did not find expected ',' or '}'"},
        {T("a: 'x"), "1:6 found unexpected end of stream"},
        {T("a: b: c"), "1:5 mapping values are not allowed in this context"},
        {T("a: 1\n b: 2"), "2:3 mapping values are not allowed in this context"},
        {T("a: 1\nfoo\nb: 2"), "2:1 a colon is missing after the key"},
        {T("a: \"\\q\""), "1:5 found unknown escape character"},
        {T("a: @x"), "1:4 found character that cannot start any token"},
        {T("\xC3\xA9\xC3\xA9: @x"), "1:7 found character that cannot start any token"},
        {T("a: 1\r\n\xC3\xA9: @x"), "2:5 found character that cannot start any token"},
        {T("a: 1\r\xC3\xA9: `x"), "2:5 found character that cannot start any token"},
        {T("- a\nb: 1"), "2:1 did not find expected '-' indicator"},
    };

    CHECK(rows, &own);
    CHECK(rows, &review);
}

Test(yaml, nul_is_rejected_in_own_documents_and_replaced_in_reviews)
{
    static const struct reading_row refused[] = {
        {T("a: \"x\\0\""), "1:6 a NUL character"},
        {T("a: \"\\\\0 \\x00\""), "1:9 a NUL character"},
        {T("a: \"b\n  \\u0000\""), "2:3 a NUL character"},
        {T("\"\\U00000000\": 1"), "1:2 a NUL character"},
    };
    static const struct reading_row replaced[] = {
        {T("a: \"x\\0y\\x00\""), "{\"a\":\"x\xEF\xBF\xBDy\xEF\xBF\xBD\"}"},
        {T("\"\\0\": 1\n\"\\uFFFD\": 2"), "2:1 " TWICE},
        {T("\"\\uFFFD\": 1\n\"\\u0000\": 2"), "2:1 " TWICE},
        {T("\"k\\0\": 1"), "{\"k\xEF\xBF\xBD\":1}"},
    };

    CHECK(refused, &own);
    CHECK(replaced, &review);
}

Test(yaml, line_ends_byte_order_marks_and_empty_texts)
{
    static const struct reading_row rows[] = {
        {T(""), "null"},
        {T("# nothing\n"), "null"},
        {T("\n \n"), "null"},
        {T("---"), "null"},
        {T("---\n...\n"), "null"},
        {T("\xEF\xBB\xBF"), "null"},
        {T("\xEF\xBB\xBF# x\na: 1"), "{\"a\":1}"},
        {T("\xEF\xBB\xBF"
           "a: no"),
         "1:4 " UNCLEAR},
        {T("--- a"), "\"a\""},
        {T("a: 1\n\xEF\xBB\xBF"
           "b: 2"),
         "2:1 a byte order mark inside the text"},
        {T("a: 1\r\xEF\xBB\xBF"), "2:1 a byte order mark inside the text"},
        {T("\xEF\xBB\xBF\xEF\xBB\xBF"
           "a: 1"),
         "1:1 a byte order mark inside the text"},
        {T("a: '\xEF\xBB\xBF'"), "{\"a\":\"\xEF\xBB\xBF\"}"},
        {T("---\r\na: 1\r\nb: |\r\n  x\r\n  y\r\n"), "{\"a\":1,\"b\":\"x\\ny\\n\"}"},
        {T("a: 1\rb: no"), "2:4 " UNCLEAR},
        {T("a: 1\r\n\r\nb: no"), "3:4 " UNCLEAR},
        {T("a: >\n  x\n  y\n\n  z\n"), "{\"a\":\"x y\\nz\\n\"}"},
        {T("a: \"x\\\n  y\""), "{\"a\":\"xy\"}"},
    };

    CHECK(rows, &own);
    CHECK(rows, &review);
}

Test(yaml, sixty_four_levels_are_read_and_level_65_is_refused)
{
    cleanup_arena struct arena arena = {0};
    struct str open = reading_repeat(&arena, "[", 64), close = reading_repeat(&arena, "]", 64);
    struct str text = arena_format(&arena, "%s%s", open.ptr, close.ptr), result = {0};

    result = reading_of(&arena, text, &own);
    cr_expect(str_equal(result, text), "%s", result.ptr);
    result = reading_of(&arena, arena_format(&arena, "a: [\n%s", text.ptr), &own);
    cr_expect(str_equal(result, STR("2:63 " DEPTH)), "%s", result.ptr);
    result = reading_of(&arena, reading_repeat(&arena, "- ", 10000), &own);
    cr_expect(str_equal(result, STR("1:129 " DEPTH)), "%s", result.ptr);
    result = reading_of(&arena, reading_repeat(&arena, "[", 100000), &own);
    cr_expect(str_equal(result, STR("1:65 " DEPTH)), "%s", result.ptr);
    result = reading_of(&arena, reading_repeat(&arena, "{a: ", 10000), &own);
    cr_expect(str_equal(result, STR("1:257 " DEPTH)), "%s", result.ptr);
    result = reading_of(&arena, reading_repeat(&arena, "? ", 10000), &own);
    cr_expect(str_equal(result, STR("1:3 a key must be text")), "%s", result.ptr);
}

Test(yaml, only_members_of_the_shape_become_nodes)
{
    static const struct document_shape inner[] = {{.key = "a"}, {0}};
    static const struct document_shape root[] = {
        {.key = "kept", .members = inner}, {.key = "all", .whole = true}, {0}};
    static const struct reading_row rows[] = {
        {T("kept: {a: 1, b: [1]}\nx: [{}]\nall: [q, {r: s}]"),
         "{\"kept\":{\"a\":1},\"all\":[\"q\",{\"r\":\"s\"}]}"},
        {T("x: {b: no}"), "1:8 " UNCLEAR},
        {T("x: {b: 1, b: 2}"), "1:11 " TWICE},
        {T("x: {b: \"\\0\"}"), "1:9 a NUL character"},
    };
    struct document_options options = own;
    cleanup_arena struct arena arena = {0};

    options.shape = root;
    CHECK(rows, &options);
    options.max_nodes = 2;
    cr_expect(str_equal(reading_of(&arena, STR("kept: {a: 1}"), &options), STR("-E2BIG")));
    options.max_nodes = 3;
    cr_expect_not(
        str_equal(reading_of(&arena, STR("kept: {a: 1}\nx: 2"), &options), STR("-E2BIG")));
}

Test(yaml, json_is_tried_first_if_both_are_allowed)
{
    static const struct reading_row rows[] = {
        {T("{\"a\": 1e3}"), "{\"a\":1000}"},
        {T("{\"a\": \"\\ud83d\\ude00\"}"), "{\"a\":\"\xF0\x9F\x98\x80\"}"},
        {T("\xEF\xBB\xBF{\"a\": \"no\"}\n"), "{\"a\":\"no\"}"},
        {T("{\t\"a\":\n\t1}"), "{\"a\":1}"},
        {T("{\"a\": no}"), "1:7 " UNCLEAR},
        {T("{\"a\": 1, }"), "{\"a\":1}"},
        {T("{\"a\": 1, \"a\": 2}"), "1:10 " TWICE},
        {T("a: 1"), "{\"a\":1}"},
        {T("\"x\": 1"), "{\"x\":1}"},
        {T("1 # one"), "1"},
        {T("1e3"), "1000"},
        {T("1e3 # no JSON"), "1:1 " UNCLEAR},
        {T(""), "null"},
    };

    CHECK(rows, &either);
}

Test(yaml, an_object_with_many_keys_is_read)
{
    cleanup_arena struct arena arena = {0};
    char *text = arena_alloc(&arena, 50000, 16);
    static const struct document_shape nothing[] = {{.key = "x"}, {0}};
    struct document_options options = own;
    struct str result = {0};
    size_t len = 0;

    for (size_t i = 0; i < 50000; i++)
        len += (size_t)snprintf(text + len, 16, "k%zu: x\n", i);
    options.shape = nothing;
    cr_expect(str_equal(reading_of(&arena, (struct str){text, len}, &options), STR("{}")));
    (void)snprintf(text + len, 16, "k40000: x\n");
    result = reading_of(&arena, (struct str){text, len + 10}, &options);
    cr_expect(str_equal(result, STR("50001:1 " TWICE)), "%s", result.ptr);
}

/* The requirements annotation of the cases, and a review. */
Test(yaml, cases)
{
    static const struct reading_row rows[] = {
        {T("network: false\nwritable_paths: [tmp/results]\nenv_allowlist: [REPORT_LOCALE, NO, "
           "on]\n"),
         "3:32 " UNCLEAR},
        {T("network: off\nwritable_paths: [tmp/results]\n"), "1:10 " UNCLEAR},
        {T("env_allowlist:\n- REPORT_LOCALE\n- y\n"), "3:3 " UNCLEAR},
        {T("require_enforcement: yes\n"), "1:22 " UNCLEAR},
        {T("network: False\n"), "1:10 " UNCLEAR},
        {T("# nothing narrower yet\n"), "null"},
        {T("null\n"), "null"},
        {T("[network]\n"), "[\"network\"]"},
        {T("a: &a [x,x]\nb: &b [*a,*a]\n"), "1:4 " ANCHOR},
        {T("writable_paths: &p [tmp/results]\nnetwork: false\n"), "1:17 " ANCHOR},
        {T("network: false\nenv_allowlist: &e [REPORT_LOCALE, *e]\n"), "2:16 " ANCHOR},
        {T("network: false\n<<: {writable_paths: [tmp/results]}\n"), "2:1 " MERGE},
        {T("network: !!bool false\n"), "1:10 " TAG},
        {T("%YAML 1.1\n---\nnetwork: false\n"), "1:1 " DIRECTIVE},
        {T("---\nnetwork: false\n"), "{\"network\":false}"},
        {T("network: false\nenv_allowlist:\n\t- REPORT_LOCALE\n"), "3:1 " TAB},
        {T("network: false\nenv_allowlist: [REPORT_LOCALE]\xC2\x85writable_paths: [tmp]\n"),
         "2:31 " LINE_END},
        {T("network: false\nenv_allowlist: [REPORT_LOCALE]\xE2\x80\xA8writable_paths: [tmp]\n"),
         "2:31 " LINE_END},
    };
    cleanup_arena struct arena arena = {0};
    struct str text =
        reading_file(&arena, TESTS_DIR "/cases/B04-alias-bombs-and-depth/k-review-alias.yaml");

    CHECK(rows, &either);
    cr_expect(str_equal(reading_of(&arena, text, &review), STR("5:14 " ANCHOR)));
}
