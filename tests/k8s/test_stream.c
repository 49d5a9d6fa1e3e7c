/* SPDX-License-Identifier: Apache-2.0 */
/* test_stream - manifests with several documents, read as kubectl reads them. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "k8s/document/document.h"
#include "planner/base/tree.h"
#include "reading.h"

#define T(literal)                                                                                 \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

static const struct document_options manifest = {.syntax = DOCUMENT_YAML,
                                                 .rules = DOCUMENT_MANIFEST};

struct row {
    struct str text;
    const char *result;
};

#define CHECK(rows, call)                                                                          \
    for (size_t i = 0; i < sizeof(rows) / sizeof((rows)[0]); i++) {                                \
        cleanup_arena struct arena arena = {0};                                                    \
        struct str result = call;                                                                  \
                                                                                                   \
        cr_expect(str_equal(result, str_of((rows)[i].result)),                                     \
                  "row %zu, %s:\n  is   %s\n  not  %s", i, (rows)[i].text.ptr, result.ptr,         \
                  (rows)[i].result);                                                               \
    }

/* As sigs.k8s.io/yaml reads them (resolve.go of its go-yaml v2). */
Test(stream, plain_scalars_are_read_as_kubectl_reads_them)
{
    static const struct row rows[] = {
        {T("[yes, Yes, YES, on, On, ON, true, True, TRUE, y, Y]"),
         "[true,true,true,true,true,true,true,true,true,true,true]"},
        {T("[no, No, NO, off, Off, OFF, false, False, FALSE, n, N]"),
         "[false,false,false,false,false,false,false,false,false,false,false]"},
        {T("[yEs, oN, tRUE, nULL, nO]"), "[\"yEs\",\"oN\",\"tRUE\",\"nULL\",\"nO\"]"},
        {T("[~, null, Null, NULL]"), "[null,null,null,null]"},
        {T("[010, 0o10, 0x1F, 0X1f, 0b11, -0x10, +7, 1_000, 0]"), "[8,8,31,31,3,-16,7,1000,0]"},
        {T("[089, 1e3, .5, 5., 1.5e+3, 0_1, -.5, +.5e1]"), "[89,1000,0.5,5,1500,1,-0.5,5]"},
        {T("[1:30, 1e999, 0x, 0xg, 0b2, 1.2.3, _1, ._5, --1]"),
         "[\"1:30\",\"1e999\",\"0x\",\"0xg\",\"0b2\",\"1.2.3\",\"_1\",\"._5\",\"--1\"]"},
        {T("[2026-11-01, 'yes', \"010\"]"), "[\"2026-11-01\",\"yes\",\"010\"]"},
        {T("a: .inf"), "1:4 JSON has no such number: quote it"},
        {T("a: -.Inf"), "1:4 JSON has no such number: quote it"},
        {T("a: .NaN"), "1:4 JSON has no such number: quote it"},
        {T("a: !!float .inf"), "1:4 JSON has no such number: quote it"},
        {T("[+.5_0, .5_0]"), "[0.5,\".5_0\"]"},
        {T("{1: a, 0x10: b, yes: c, -3: d}"),
         "{\"1\":\"a\",\"16\":\"b\",\"true\":\"c\",\"-3\":\"d\"}"},
        {T("{1: a, '1': b}"), "1:8 a key is given twice in one object"},
        {T("{on: a, yes: b}"), "1:9 a key is given twice in one object"},
        {T("1.5: a"), "1:1 a key must be text: quote it"},
        {T("~: a"), "1:1 a key must be text: quote it"},
        {T("[a]: b"), "1:1 a key must be text"},
    };

    CHECK(rows, reading_of(&arena, rows[i].text, &manifest));
}

Test(stream, tags_of_the_core_schema_are_applied)
{
    static const struct row rows[] = {
        {T("[!!str 1, !!str yes, !!int 7, !!float 1, !!bool on, !!null ~]"),
         "[\"1\",\"yes\",7,1,true,null]"},
        {T("!!map {a: !!seq [x]}"), "{\"a\":[\"x\"]}"},
        {T("a: !!int x"), "1:4 a tag that does not fit its value"},
        {T("a: !!bool 1"), "1:4 a tag that does not fit its value"},
        {T("a: !!null 1"), "1:4 a tag that does not fit its value"},
        {T("a: !!binary aGk="), "1:4 a tag other than !!str, !!null, !!bool, !!int, !!float"},
        {T("a: !x y"), "1:4 a tag other than !!str, !!null, !!bool, !!int, !!float"},
    };

    CHECK(rows, reading_of(&arena, rows[i].text, &manifest));
}

Test(stream, aliases_and_merge_keys_are_expanded)
{
    static const struct row rows[] = {
        {T("a: &a {k: [1]}\nb: *a\nc: [*a, &d x, *d]"),
         "{\"a\":{\"k\":[1]},\"b\":{\"k\":[1]},\"c\":[{\"k\":[1]},\"x\",\"x\"]}"},
        {T("- &a 1\n- &a 2\n- *a"), "[1,2,2]"},
        {T("a: &a {k: 1, l: 2}\nb: {<<: *a, k: 7}"),
         "{\"a\":{\"k\":1,\"l\":2},\"b\":{\"k\":7,\"l\":2}}"},
        {T("- &a {k: 1}\n- &b {k: 2, m: 3}\n- {<<: [*a, *b], o: 4}"),
         "[{\"k\":1},{\"k\":2,\"m\":3},{\"o\":4,\"k\":1,\"m\":3}]"},
        {T("<<: {a: 1}"), "{\"a\":1}"},
        {T("a: &a {<<: {k: 1}, l: 2}\nb: {<<: *a}"),
         "{\"a\":{\"l\":2,\"k\":1},\"b\":{\"l\":2,\"k\":1}}"},
        {T("{k: 7, <<: {l: 1}, m: 2}"), "{\"k\":7,\"m\":2,\"l\":1}"},
        {T("{k: 7, <<: {k: 1}}"),
         "1:12 readers differ on which of two equal keys counts: put the merge key first"},
        {T("{<<: {k: 1}, <<: {l: 2}}"), "1:14 a key is given twice in one object"},
        {T("{<<: 7}"), "1:6 a merge key needs an object"},
        {T("{<<: [7]}"), "1:6 a merge key needs an object"},
        {T("{'<<': {a: 1}}"), "{\"<<\":{\"a\":1}}"},
        {T("a: *b"), "1:4 an alias without its anchor"},
        {T("a: &a [*a]"), "1:8 an alias inside the value of its own anchor"},
        {T("a: &a\n  <<: *a"), "2:7 an alias inside the value of its own anchor"},
        {T("*a : b"), "1:1 a key must be text"},
    };

    CHECK(rows, reading_of(&arena, rows[i].text, &manifest));
}

Test(stream, aliases_are_bounded)
{
    cleanup_arena struct arena arena = {0};
    char *text = arena_alloc(&arena, 40000, 1);
    struct str result = {0}, members = {0};
    size_t len = 0;

    /* nine levels of nine: 9^9 items */
    len += (size_t)snprintf(text, 100, "- &a0 [x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 10; i++)
        len += (size_t)snprintf(text + len, 100,
                                "- &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i - 1,
                                i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    cr_expect(str_equal(reading_of(&arena, (struct str){text, len}, &manifest), STR("-E2BIG")));

    len = 0;
    for (int i = 0; i < 1001; i++)
        len += (size_t)snprintf(text + len, 20, "- &a%d x\n", i);
    result = reading_of(&arena, (struct str){text, len}, &manifest);
    cr_expect(str_equal(result, STR("1001:3 more than 1000 anchors")), "%s", result.ptr);

    /* each alias adds a level: the 65th is too deep */
    len = (size_t)snprintf(text, 20, "- &a0 []\n");
    for (int i = 1; i < 70; i++)
        len += (size_t)snprintf(text + len, 40, "- &a%d [*a%d]\n", i, i - 1);
    result = reading_of(&arena, (struct str){text, len}, &manifest);
    cr_expect(str_equal(result, STR("64:9 nested deeper than 64 levels")), "%s", result.ptr);

    len = 0;
    for (int i = 0; i < 1001; i++)
        len += (size_t)snprintf(text + len, 20, "k%d: 0,", i);
    members = arena_format(&arena, "<<: {%s}", text);
    result = reading_of(&arena, members, &manifest);
    cr_expect(str_equal(result, STR("1:5 a merge key adds more than 1000 members")), "%s",
              result.ptr);
}

Test(stream, documents_are_read_one_after_the_other)
{
    static const struct row rows[] = {
        {T("a: 1\n---\nb: 2\n"), "{\"a\":1}\n{\"b\":2}\n"},
        {T("---\na: 1\n---\n---\n# x\n---\nb: 2\n---"), "{\"a\":1}\nnull\nnull\n{\"b\":2}\nnull\n"},
        {T("---\r\na: 1\r\n--- # x\r\nb: 2\r\n"), "{\"a\":1}\n{\"b\":2}\n"},
        {T("a: 1\r---\rb: 2"), "{\"a\":1}\n{\"b\":2}\n"},
        {T("--- {a: 1}\n--- |\n  x\n---\t[2]\n"), "{\"a\":1}\n\"x\\n\"\n[2]\n"},
        {T("a: 1\n...\n---\nb: 2\n...\n"), "{\"a\":1}\n{\"b\":2}\n"},
        {T("a: 1\n...\nb: 2"), "3:1 trailing content after the document\n"},
        {T("\xEF\xBB\xBF"
           "a: 1\n---\n\xEF\xBB\xBF"
           "b: 2\n\xEF\xBB\xBF---\nc: @"),
         "{\"a\":1}\n{\"b\":2}\n5:4 found character that cannot start any token\n"},
        {T("\xEF\xBB\xBF---\n\xEF\xBB\xBF"
           "a: 1"),
         "{\"a\":1}\n"},
        {T("a: |\n  x\n ---\n  y\n"), "3:2 did not find expected key\n"},
        {T("a: |\n  ---\n  y\n---\nb: 1"), "{\"a\":\"---\\ny\\n\"}\n{\"b\":1}\n"},
        {T("a: ---\n----: 1\n"), "{\"a\":\"---\",\"----\":1}\n"},
        {T("  a: 1\n  b: 2\n"), "{\"a\":1,\"b\":2}\n"},
        {T("%YAML 1.1\n---\na: 1"), "1:1 a directive: remove the line\n"},
        {T("a: 1\n---\nb: \xFF"), "{\"a\":1}\n3:4 not valid UTF-8\n"},
        {T(""), ""},
        {T("\n"), "null\n"},
        {T("\xFF\xFE"
           "a\0"),
         "1:1 UTF-16: save the text as UTF-8\n"},
        {T("{\"a\": 1}\n{\"b\": 2}[3]\n"), "{\"a\":1}\n{\"b\":2}\n[3]\n"},
        {T("\xEF\xBB\xBF {\"a\": 1e3}"), "{\"a\":1000}\n"},
        {T("{\"a\": \"no\"}\n---\n{\"b\": no}\n"), "{\"a\":\"no\"}\n{\"b\":false}\n"},
        {T("{\"a\": 1} # x\n"), "{\"a\":1}\n"},
        {T("{\"a\": 1}\n{\"b\": }"), "{\"a\":1}\n2:7 not a JSON value\n"},
        {T("{\"a\": 1, \"a\": 2}"), "1:10 a key is given twice in one object\n"},
        {T("{\"a\": \"\\u0000\"}"), "{\"a\":\"\xEF\xBF\xBD\"}\n"},
        {T("7"), "7\n"},
    };

    CHECK(rows, reading_of_stream(&arena, rows[i].text, DOCUMENT_EITHER));
}

Test(stream, json_syntax_is_used_if_requested)
{
    static const struct row rows[] = {
        {T("{} 7\n\"x\"\n"), "{}\n7\n\"x\"\n"},
        {T("a: 1"), "1:1 not a JSON value\n"},
        {T(" \n"), ""},
        {T("{}\n---\n{}"), "{}\n2:1 not a JSON number\n"},
    };

    CHECK(rows, reading_of_stream(&arena, rows[i].text, DOCUMENT_JSON));
}

Test(stream, a_document_has_its_part_of_the_text)
{
    const struct str text = STR("a: 1\n---\n\xEF\xBB\xBF"
                                "b: 2\n--- c\n");
    static const char *const parts[] = {"a: 1\n", "b: 2\n", "--- c\n"};
    struct document_stream stream = document_stream_make(text, DOCUMENT_YAML, 0);
    cleanup_arena struct arena arena = {0};

    for (size_t i = 0; i < 3; i++) {
        struct document_error error = {0};
        struct str part = {0};
        cJSON *tree = NULL;

        cr_assert_eq(document_next(&stream, &arena, &tree, &part, &error), 0);
        cr_assert_not_null(tree);
        cr_expect(str_equal(part, str_of(parts[i])), "%.*s", (int)part.len, part.ptr);
    }
}

Test(stream, a_cursor_moves_forward_and_back)
{
    const struct str text = STR("a\r\nb\rc\n\n\xEF\xBB\xBF"
                                "d");
    static const struct {
        size_t offset, line, column;
    } rows[] = {{0, 1, 1},  {1, 1, 2},  {2, 1, 3}, {3, 2, 1}, {5, 3, 1}, {7, 4, 1},
                {11, 5, 1}, {12, 5, 2}, {4, 2, 2}, {8, 5, 1}, {0, 1, 1}};
    struct document_cursor cursor = {.line = 1};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t column = document_advance(&cursor, text, rows[i].offset);

        cr_expect_eq(cursor.line, rows[i].line, "%zu: line %zu", rows[i].offset, cursor.line);
        cr_expect_eq(column, rows[i].column, "%zu: column %zu", rows[i].offset, column);
    }
}
