/* SPDX-License-Identifier: Apache-2.0 */
/* test_json - the strict JSON reader: values, errors and their places, limits. */
#include <criterion/criterion.h>

#include <stdio.h>

#include "k8s/document/document.h"
#include "planner/base/tree.h"
#include "tests/k8s/reading_check.h"

#define CASES TESTS_DIR "/cases/"

static const struct document_options own = {.syntax = DOCUMENT_JSON, .rules = DOCUMENT_OWN};
static const struct document_options review = {.syntax = DOCUMENT_JSON, .rules = DOCUMENT_REVIEW};

#define T(literal)                                                                                 \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

#define CHECK(rows, options) reading_check(rows, sizeof(rows) / sizeof((rows)[0]), options)

Test(json, values_are_read)
{
    static const struct reading_row rows[] = {
        {T("null"), "null"},
        {T(" true "), "true"},
        {T("\t\r\nfalse\n"), "false"},
        {T("[]"), "[]"},
        {T("{}"), "{}"},
        {T("[1,[2,{}],\"\"]"), "[1,[2,{}],\"\"]"},
        {T("{\"\":0,\"a\":{\"a\":[]}}"), "{\"\":0,\"a\":{\"a\":[]}}"},
        {T("\xEF\xBB\xBF[1]"), "[1]"},
        {T("0"), "0"},
        {T("-0"), "-0"},
        {T("123456789012345"), "123456789012345"},
        {T("9007199254740993"), "9007199254740992"},
        {T("1.5e3"), "1500"},
        {T("-1.25E-2"), "-0.012500000000000001"},
        {T("0.1"), "0.10000000000000001"},
        {T("1e999"), "inf"},
    };

    CHECK(rows, &own);
}

Test(json, strings_are_decoded)
{
    static const struct reading_row rows[] = {
        {T("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), "\"\\\"\\\\/\\b\\f\\n\\r\\t\""},
        {T("\"\\u0041\\u00e9\\u20AC\""), "\"A\xC3\xA9\xE2\x82\xAC\""},
        {T("\"\\ud83d\\ude00\""), "\"\xF0\x9F\x98\x80\""},
        {T("\"\xF4\x8F\xBF\xBF\x7F\""), "\"\xF4\x8F\xBF\xBF\x7F\""},
        {T("\"\\\\u0000\""), "\"\\\\u0000\""},
        {T("\"0123456789abcdef0123456789abcdef\\n\""), "\"0123456789abcdef0123456789abcdef\\n\""},
    };

    CHECK(rows, &own);
}

Test(json, invalid_json_is_rejected_at_its_place)
{
    static const struct reading_row rows[] = {
        {T(""), "1:1 the text ends inside a JSON value"},
        {T(" \n "), "2:2 the text ends inside a JSON value"},
        {T("[1,"), "1:4 the text ends inside a JSON value"},
        {T("{\"a\":"), "1:6 the text ends inside a JSON value"},
        {T("[1 2]"), "1:4 a comma or `]` is missing"},
        {T("[1}"), "1:3 a comma or `]` is missing"},
        {T("{\"a\":1]"), "1:7 a comma or `}` is missing"},
        {T("[1,]"), "1:4 not a JSON value"},
        {T("[,1]"), "1:2 not a JSON value"},
        {T("]"), "1:1 not a JSON value"},
        {T("{\"a\":1,}"), "1:8 expected a key in double quotes"},
        {T("{a:1}"), "1:2 expected a key in double quotes"},
        {T("{'a':1}"), "1:2 expected a key in double quotes"},
        {T("{\"a\" 1}"), "1:6 a colon is missing after the key"},
        {T("{\"a\""), "1:5 a colon is missing after the key"},
        {T("nul"), "1:1 not a JSON value"},
        {T("True"), "1:1 not a JSON value"},
        {T("NaN"), "1:1 not a JSON value"},
        {T("// x"), "1:1 not a JSON value"},
        {T("\xC2\xA0 1"), "1:1 not a JSON value"},
        {T("\f1"), "1:1 not a JSON value"},
        {T("truex"), "1:5 trailing content after the document"},
        {T("{} {}"), "1:4 trailing content after the document"},
        {T("1 \0"), "1:3 trailing content after the document"},
        {T("{\"a\":1}\r\n\r\n  x"), "3:3 trailing content after the document"},
        {T("\"a"), "1:3 the text ends inside a string"},
        {T("\"a\\"), "1:4 the text ends inside a string"},
        {T("\"a\\u12"), "1:3 \\u needs four hex digits"},
        {T("\"\\u12g4\""), "1:2 \\u needs four hex digits"},
        {T("\"\\x41\""), "1:2 not a JSON escape"},
        {T("\"\\'\""), "1:2 not a JSON escape"},
        {T("\"a\nb\""), "1:3 a control character must be escaped in a JSON string"},
        {T("\"\t\""), "1:2 a control character must be escaped in a JSON string"},
        {T("\"a\0b\""), "1:3 a control character must be escaped in a JSON string"},
        {T("\"\x1F\""), "1:2 a control character must be escaped in a JSON string"},
    };

    CHECK(rows, &own);
    CHECK(rows, &review);
}

Test(json, numbers_have_json_grammar)
{
    static const struct reading_row rows[] = {
        {T("007"), "1:1 not a JSON number"},
        {T("-"), "1:1 not a JSON number"},
        {T("[ 01]"), "1:3 not a JSON number"},
        {T("-01"), "1:1 not a JSON number"},
        {T("1."), "1:1 not a JSON number"},
        {T(".5"), "1:1 not a JSON value"},
        {T("+1"), "1:1 not a JSON value"},
        {T("1e"), "1:1 not a JSON number"},
        {T("1e+"), "1:1 not a JSON number"},
        {T("1.e3"), "1:1 not a JSON number"},
        {T("0x10"), "1:2 trailing content after the document"},
        {T("1_000"), "1:2 trailing content after the document"},
        {T("--1"), "1:1 not a JSON number"},
        {T("1-1"), "1:1 not a JSON number"},
        {T("-Infinity"), "1:1 not a JSON number"},
    };

    CHECK(rows, &own);
}

Test(json, invalid_utf8_is_rejected_at_its_place)
{
    static const struct reading_row rows[] = {
        {T("\"\xFF\""), "1:2 not valid UTF-8"},
        {T("\"\xC0\xAF\""), "1:2 not valid UTF-8"},
        {T("\"a\xE2\x82\""), "1:3 not valid UTF-8"},
        {T("\"\xE2\x82\xAC\xED\xA0\x80\""), "1:5 not valid UTF-8"},
        {T("\"\xF4\x90\x80\x80\""), "1:2 not valid UTF-8"},
        {T("\"\xC3"), "1:2 not valid UTF-8"},
        {T("{\"\x80\":1}"), "1:3 not valid UTF-8"},
        {T("\"\\ud800\""), "1:2 a surrogate without its other half"},
        {T("\"a\\udc00\\ud800\""), "1:3 a surrogate without its other half"},
        {T("\"\\ud800\\u0041\""), "1:2 a surrogate without its other half"},
        {T("\"\\ud800\\ud800\""), "1:2 a surrogate without its other half"},
        {T("\"\\ud800\\n0000\""), "1:2 a surrogate without its other half"},
        {T("\xFF\xFE[\0]\0"), "1:1 UTF-16: save the text as UTF-8"},
        {T("\xFE\xFF\0[\0]"), "1:1 UTF-16: save the text as UTF-8"},
        {T("[\0]\0"), "1:1 UTF-16: save the text as UTF-8"},
        {T("\0[\0]"), "1:1 UTF-16: save the text as UTF-8"},
        {T("[\"\xEF\xBB\xBF\"]"), "[\"\xEF\xBB\xBF\"]"},
        {T("[\xEF\xBB\xBF]"), "1:2 not a JSON value"},
    };

    CHECK(rows, &own);
    CHECK(rows, &review);
}

Test(json, nul_is_rejected_in_own_documents_and_replaced_in_reviews)
{
    static const struct reading_row refused[] = {
        {T("[\"a\\u0000\"]"), "1:4 a NUL character"},
        {T("{\n\"\\u0000\":1}"), "2:2 a NUL character"},
    };
    static const struct reading_row replaced[] = {
        {T("[\"a\\u0000\"]"), "[\"a\xEF\xBF\xBD\"]"},
        {T("{\"\\u0000x\":1}"), "{\"\xEF\xBF\xBDx\":1}"},
        {T("{\"\\u0000\":1,\"\xEF\xBF\xBD\":2}"), "1:13 a key is given twice in one object"},
        {T("{\"\\u0000\":1,\n \"\\ufffd\":2}"), "2:2 a key is given twice in one object"},
    };

    CHECK(refused, &own);
    CHECK(replaced, &review);
}

Test(json, a_key_given_twice_is_refused_at_the_second)
{
    static const struct reading_row rows[] = {
        {T("{\"a\":1,\"a\":2}"), "1:8 a key is given twice in one object"},
        {T("{\"a\":1,\r\"\\u0061\":2}"), "2:1 a key is given twice in one object"},
        {T("{\"\\u0061\":1,\"a\":2}"), "1:13 a key is given twice in one object"},
        {T("{\"\\/\":1,\"\\u002f\":2}"), "1:9 a key is given twice in one object"},
        {T("{\"\":1,\"\":2}"), "1:7 a key is given twice in one object"},
        {T("[{\"b\":{\"a\":1},\"b\":2}]"), "1:15 a key is given twice in one object"},
        {T("[{\"a\":1},{\"a\":{\"a\":2}}]"), "[{\"a\":1},{\"a\":{\"a\":2}}]"},
        {T("{\"a\":1,\"A\":2,\"ab\":3}"), "{\"a\":1,\"A\":2,\"ab\":3}"},
    };

    CHECK(rows, &own);
    CHECK(rows, &review);
}

static struct str nested(struct arena *arena, size_t depth)
{
    struct str open = reading_repeat(arena, "[{\"a\":", depth / 2);
    struct str close = reading_repeat(arena, "}]", depth / 2);
    const char *middle = depth % 2 != 0 ? "[]" : "0";

    return arena_format(arena, "%s%s%s", open.ptr, middle, close.ptr);
}

Test(json, sixty_four_levels_are_read_and_the_bracket_of_level_65_refused)
{
    static const struct document_shape nothing[] = {{.key = "x"}, {0}};
    struct document_options skipping = own;
    cleanup_arena struct arena arena = {0};
    struct str result = {0};

    skipping.shape = nothing;
    result = reading_of(&arena, nested(&arena, 64), &own);
    cr_expect(str_equal(result, nested(&arena, 64)), "%s", result.ptr);
    result = reading_of(&arena, nested(&arena, 65), &own);
    cr_expect(str_equal(result, STR("1:193 nested deeper than 64 levels")), "%s", result.ptr);
    result = reading_of(&arena, nested(&arena, 65), &skipping);
    cr_expect(str_equal(result, STR("1:193 nested deeper than 64 levels")), "%s", result.ptr);
    result = reading_of(&arena, nested(&arena, 64), &skipping);
    cr_expect(str_equal(result, STR("[]")), "%s", result.ptr);
    result = reading_of(&arena, reading_repeat(&arena, "[", 1000000), &skipping);
    cr_expect(str_equal(result, STR("1:65 nested deeper than 64 levels")), "%s", result.ptr);
}

Test(json, members_outside_of_the_shape_can_be_skipped_without_checks)
{
    static const struct document_shape inner[] = {{.key = "a"}, {0}};
    static const struct document_shape root[] = {{.key = "a"}, {.key = "m", .members = inner}, {0}};
    static const struct reading_row rows[] = {
        {T("{\"x\":{\"f\":1,\"f\":2},\"a\":3}"), "{\"a\":3}"},
        {T("{\"x\":{\"f\\u0000\":1,\"f\\ufffd\":2},\"a\":3}"), "{\"a\":3}"},
        {T("{\"x\":[\"]}\",\"\\\"]\",\"\\\\\"],\"m\":{\"y\":[{}],\"a\":4}}"), "{\"m\":{\"a\":4}}"},
        {T("{\"x\":{\"\xff\":[]},\"a\":3}"), "{\"a\":3}"},
        {T("{\"x\":[{}"), "1:9 the text ends inside a JSON value"},
        {T("{\"x\":[\"\\"), "1:9 the text ends inside a JSON value"},
        {T("{\"x\":[]],\"a\":3}"), "1:8 a comma or `}` is missing"},
        /* members of the shape, and values that are not objects or lists, are fully checked */
        {T("{\"m\":{\"a\":1,\"a\":2}}"), "1:13 a key is given twice in one object"},
        {T("{\"x\":\"\\q\"}"), "1:7 not a JSON escape"},
    };
    struct document_options skipping = review;
    cleanup_arena struct arena arena = {0};
    struct str deep = nested(&arena, 10000);
    struct str result = {0};

    skipping.shape = root;
    skipping.rest_unchecked = true;
    CHECK(rows, &skipping);
    result = reading_of(&arena, arena_format(&arena, "{\"x\":%s,\"a\":5}", deep.ptr), &skipping);
    cr_expect(str_equal(result, STR("{\"a\":5}")), "%s", result.ptr);
}

Test(json, only_members_of_the_shape_become_nodes)
{
    static const struct document_shape item[] = {{.key = "image"}, {0}};
    static const struct document_shape items[] = {{.key = "*", .members = item}, {0}};
    static const struct document_shape spec[] = {{.key = "containers", .members = items}, {0}};
    static const struct document_shape any[] = {{.key = "*"}, {0}};
    static const struct document_shape root[] = {
        {.key = "uid"},
        {.key = "spec", .members = spec},
        {.key = "labels", .members = any},
        {.key = "all", .whole = true},
        {0},
    };
    static const struct reading_row rows[] = {
        {T("{\"uid\":\"u\",\"x\":{\"uid\":1},\"all\":{\"a\":[1,{\"b\":2}]}}"),
         "{\"uid\":\"u\",\"all\":{\"a\":[1,{\"b\":2}]}}"},
        {T("{\"spec\":{\"containers\":[{\"image\":\"i\",\"args\":[1]},7,[8],{}],\"y\":1}}"),
         "{\"spec\":{\"containers\":[{\"image\":\"i\"},7,[],{}]}}"},
        {T("{\"labels\":{\"a\":\"b\",\"c\":{\"d\":1},\"e\":[2],\"f\":null}}"),
         "{\"labels\":{\"a\":\"b\",\"c\":{},\"e\":[],\"f\":null}}"},
        {T("{\"uid\":{\"a\":1},\"spec\":[{\"containers\":1}],\"all\":3}"),
         "{\"uid\":{},\"spec\":[],\"all\":3}"},
        {T("{\"u\\u0069d\":1}"), "{\"uid\":1}"},
        {T("{\"\\u0075id\":1,\"\":2,\"*\":3,\"uidx\":4,\"ui\":5}"), "{\"uid\":1}"},
        {T("[1,{\"uid\":2}]"), "[]"},
        {T("7"), "7"},
        {T("{\"x\":{\"a\":1,\"a\":2}}"), "1:13 a key is given twice in one object"},
        {T("{\"x\":[\"\xFF\"]}"), "1:8 not valid UTF-8"},
        {T("{\"x\":[01]}"), "1:7 not a JSON number"},
        {T("{\"x\":\"\\ud800\"}"), "1:7 a surrogate without its other half"},
    };
    struct document_options options = own;

    options.shape = root;
    CHECK(rows, &options);
}

Test(json, the_limit_of_nodes_is_exact)
{
    static const struct document_shape shape[] = {{.key = "kept", .whole = true}, {0}};
    struct document_options options = {
        .syntax = DOCUMENT_JSON, .rules = DOCUMENT_OWN, .shape = shape, .max_nodes = 4};
    cleanup_arena struct arena arena = {0};
    struct str items = reading_repeat(&arena, "0,", DOCUMENT_MAX_NODES - 2);

    cr_expect(str_equal(reading_of(&arena, STR("{\"kept\":[1,2],\"x\":[1,2,3]}"), &options),
                        STR("{\"kept\":[1,2]}")));
    cr_expect(
        str_equal(reading_of(&arena, STR("{\"kept\":[1,2,3],\"x\":0}"), &options), STR("-E2BIG")));
    /* the list and its items */
    cr_expect_neq(reading_of(&arena, arena_format(&arena, "[%s0]", items.ptr), &own).ptr[0], '-');
    cr_expect(str_equal(reading_of(&arena, arena_format(&arena, "[%s0,0]", items.ptr), &own),
                        STR("-E2BIG")));
}

/* {"key-0":0,…}, with the member `twice` at its end if it is not NULL. */
static struct str many_keys(struct arena *arena, size_t count, const char *twice)
{
    size_t size = count * 16 + 64, len = 0;
    char *text = arena_alloc(arena, size, 1);

    text[len++] = '{';
    for (size_t i = 0; i < count; i++)
        len += (size_t)snprintf(text + len, size - len, "%s\"key-%zu\":0", i > 0 ? "," : "", i);
    if (twice != NULL)
        len += (size_t)snprintf(text + len, size - len, ",\n%s", twice);
    text[len++] = '}';
    return (struct str){text, len};
}

Test(json, a_duplicate_key_is_found_in_objects_of_any_size)
{
    static const struct document_shape nothing[] = {{.key = "x"}, {0}};
    static const size_t counts[] = {1, 15, 16, 17, 28, 29, 112, 113, 5000, 200000};
    struct document_options options = own;

    options.shape = nothing;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        cleanup_arena struct arena arena = {0};
        char last[64];

        (void)snprintf(last, sizeof(last), "\"\\u006bey-%zu\":0", counts[i] - 1);
        cr_expect(
            str_equal(reading_of(&arena, many_keys(&arena, counts[i], NULL), &options), STR("{}")));
        cr_expect(
            str_equal(reading_of(&arena, many_keys(&arena, counts[i], "\"key-0\":0"), &options),
                      STR("2:1 a key is given twice in one object")),
            "%zu keys", counts[i]);
        cr_expect(str_equal(reading_of(&arena, many_keys(&arena, counts[i], last), &options),
                            STR("2:1 a key is given twice in one object")),
                  "%zu keys", counts[i]);
    }
}

Test(json, hash_tables_are_reused_by_the_next_object)
{
    cleanup_arena struct arena texts = {0}, arena = {0};
    static const struct document_shape nothing[] = {{.key = "x"}, {0}};
    struct document_options options = own;
    struct str keys = many_keys(&texts, 100, NULL), one = {0};
    struct document_error error = {0};
    cJSON *tree = NULL;

    /* the same names in each object, and two objects that are open at the same time */
    one = arena_format(&texts, "%.*s,\"inner\":%s},", (int)keys.len - 1, keys.ptr, keys.ptr);
    one = reading_repeat(&texts, one.ptr, 500);
    one = arena_format(&texts, "[%s0]", one.ptr);
    options.shape = nothing;
    cr_assert_eq(document_read(one, &options, &arena, &tree, &error), 0);
    cr_expect_lt(arena.held_bytes, 16384, "%zu", arena.held_bytes);
}

Test(json, memory_of_a_read_is_at_most_twice_the_text)
{
    static const struct document_shape nothing[] = {{.key = "x"}, {0}};
    cleanup_arena struct arena texts = {0};
    struct str escapes = reading_repeat(&texts, "\\u003c", (size_t)3 << 20), keys = {0};
    struct document_options options = own;
    struct document_error error = {0};
    char *text = arena_alloc(&texts, (size_t)18 << 20, 1);
    static const char digits[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    size_t len = 1;
    cJSON *tree = NULL;

    cleanup_arena struct arena a = {0}, b = {0};

    escapes = arena_format(&texts, "{\"a\":\"%s\"}", escapes.ptr);
    cr_assert_eq(document_read(escapes, &own, &a, &tree, &error), 0);
    cr_expect_lt(a.held_bytes, 2 * escapes.len);

    /* the maximum number of keys */
    text[0] = '{';
    for (size_t i = 0; len + 10 < (size_t)18 << 20; i++) {
        char key[] = {'"',
                      digits[i & 63],
                      digits[i >> 6 & 63],
                      digits[i >> 12 & 63],
                      digits[i >> 18 & 63],
                      '"',
                      ':',
                      '0',
                      ','};

        memcpy(text + len, key, sizeof(key));
        len += sizeof(key);
    }
    text[len - 1] = '}';
    keys = (struct str){text, len};
    options.shape = nothing;
    cr_assert_eq(document_read(keys, &options, &b, &tree, &error), 0);
    cr_expect_lt(b.held_bytes, 2 * keys.len, "%zu of %zu", b.held_bytes, keys.len);
}

Test(json, places_of_values_and_keys_are_found)
{
    const struct str text = STR("\xEF\xBB\xBF{\"a\": 1,\r\n  \"\xC3\xA9\": [true,\r \"x\"]}");
    cleanup_arena struct arena arena = {0};
    struct document_error error = {0};
    size_t line = 0, column = 0;
    cJSON *tree = NULL;
    const cJSON *list = NULL;

    cr_assert_eq(document_read(text, &own, &arena, &tree, &error), 0);
    cr_expect(document_place(text, tree, false, &line, &column));
    cr_expect(line == 1 && column == 1, "%zu:%zu", line, column);
    cr_expect(document_place(text, tree_get(tree, "a"), false, &line, &column));
    cr_expect(line == 1 && column == 7, "%zu:%zu", line, column);
    list = tree_get(tree, "\xC3\xA9");
    cr_expect(document_place(text, list, true, &line, &column));
    cr_expect(line == 2 && column == 3, "%zu:%zu", line, column);
    cr_expect(document_place(text, list, false, &line, &column));
    cr_expect(line == 2 && column == 9, "%zu:%zu", line, column);
    cr_expect(document_place(text, list->child->next, false, &line, &column));
    cr_expect(line == 3 && column == 2, "%zu:%zu", line, column);
    cr_expect_not(document_place(text, list->child, true, &line, &column));
    cr_expect_not(document_place(text, NULL, false, &line, &column));
}

Test(json, cases_of_reviews)
{
    static const struct {
        const char *file, *result; /* NULL: no error */
    } rows[] = {
        {"B04-alias-bombs-and-depth/f-unknown-field-depth.json",
         "1:1150 nested deeper than 64 levels"},
        {"B04-alias-bombs-and-depth/i-depth-64.json", NULL},
        {"B04-alias-bombs-and-depth/j-depth-65.json", "1:1150 nested deeper than 64 levels"},
        {"B07-nul-surrogates-invalid-utf8/a-nul-in-value.json", NULL},
        {"B07-nul-surrogates-invalid-utf8/b-nul-in-key.json", NULL},
        {"B07-nul-surrogates-invalid-utf8/c-lone-high-surrogate.json",
         "1:760 a surrogate without its other half"},
        {"B07-nul-surrogates-invalid-utf8/d-swapped-pair.json",
         "1:760 a surrogate without its other half"},
        {"B07-nul-surrogates-invalid-utf8/e-overlong-slash.json", "1:747 not valid UTF-8"},
        {"B07-nul-surrogates-invalid-utf8/f-cut-utf8.json", "1:760 not valid UTF-8"},
        {"B07-nul-surrogates-invalid-utf8/g-encoded-surrogate-bytes.json", "1:760 not valid UTF-8"},
        {"B07-nul-surrogates-invalid-utf8/h-raw-control.json",
         "1:760 a control character must be escaped in a JSON string"},
        {"B07-nul-surrogates-invalid-utf8/i-escaped-slash-and-letter.json", NULL},
        {"B07-nul-surrogates-invalid-utf8/j-emoji-elsewhere.json", NULL},
        {"B07-nul-surrogates-invalid-utf8/l-bad-hex.json", "1:760 \\u needs four hex digits"},
        {"B07-nul-surrogates-invalid-utf8/n-nul-elsewhere-update.json", NULL},
        {"B07-nul-surrogates-invalid-utf8/o-keys-that-become-equal.json",
         "1:747 a key is given twice in one object"},
        {"B07-nul-surrogates-invalid-utf8/p-nul-elsewhere-create.json", NULL},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cleanup_arena struct arena arena = {0};
        struct str path = arena_format(&arena, CASES "%s", rows[i].file), result = {0};
        struct str text = reading_file(&arena, path.ptr);

        cr_assert(str_present(text), "%s", rows[i].file);
        result = reading_of(&arena, text, &review);
        if (rows[i].result == NULL)
            cr_expect_eq(result.ptr[0], '{', "%s: %s", rows[i].file, result.ptr);
        else
            cr_expect(str_equal(result, str_of(rows[i].result)), "%s: %s", rows[i].file,
                      result.ptr);
    }
}
