/* SPDX-License-Identifier: Apache-2.0 */
/* test_json_skip - skips JSON values without reading them. */
#include <criterion/criterion.h>

#include "k8s/document/json_skip.h"

Test(json_skip, a_value_ends_where_json_ends_it)
{
    static const struct {
        struct str text;
        size_t offset;
        size_t end;
        bool complete;
    } rows[] = {
        {STR_INIT("{}"), 0, 2, true},
        {STR_INIT("{\"a\":[1,{\"b\":\"]}\"}]},2"), 0, 20, true},
        {STR_INIT("[\"\\\"]\", \"\\\\\"] "), 0, 13, true},
        {STR_INIT("\"a\\\"b\",1"), 0, 6, true},
        {STR_INIT("[1,2]"), 1, 2, true},
        {STR_INIT("[1,2]"), 3, 4, true},
        {STR_INIT("[]"), 1, 1, true},
        {STR_INIT("true"), 0, 4, false},
        {STR_INIT("[1"), 0, 2, false},
        {STR_INIT("{\"a"), 0, 3, false},
        {STR_INIT("\"a\\\""), 0, 4, false},
        {STR_INIT("\"a\\"), 0, 3, false},
        {STR_INIT(""), 0, 0, false},
        {STR_INIT("[}"), 0, 2, true}, /* brackets are counted, not compared */
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t offset = rows[i].offset;

        cr_expect_eq(json_skip_value(rows[i].text, &offset), rows[i].complete, "row %zu", i);
        cr_expect_eq(offset, rows[i].end, "row %zu: %zu", i, offset);
    }
}

Test(json_skip, a_string_ends_at_its_own_quote)
{
    const struct str text = STR(" \"a\\\\\"\"b");
    size_t offset = 1;

    cr_expect(json_skip_string(text, &offset));
    cr_expect_eq(offset, 6);
    cr_expect(!json_skip_string(text, &offset));
    cr_expect_eq(offset, text.len);
}

Test(json_skip, blanks_are_those_of_json)
{
    cr_expect_eq(json_skip_blanks(STR(" \t\r\n1"), 0), 4);
    cr_expect_eq(json_skip_blanks(STR("\v1"), 0), 0);
    cr_expect_eq(json_skip_blanks(STR("  "), 1), 2);
    cr_expect_eq(json_skip_blanks((struct str){0}, 0), 0);
}

Test(json_skip, bytes_are_classed_and_depth_is_counted)
{
    const struct str text = STR("{\"\\\"{\":[1]}]");
    static const enum json_skip_byte kinds[] = {
        JSON_SKIP_OPEN,   JSON_SKIP_QUOTE,  JSON_SKIP_STRING, JSON_SKIP_STRING,
        JSON_SKIP_STRING, JSON_SKIP_STRING, JSON_SKIP_OTHER,  JSON_SKIP_OPEN,
        JSON_SKIP_OTHER,  JSON_SKIP_CLOSE,  JSON_SKIP_CLOSE,  JSON_SKIP_CLOSE,
    };
    static const size_t depths[] = {1, 1, 1, 1, 1, 1, 1, 2, 2, 1, 0, 0};
    struct json_skip skip = {0};

    cr_assert_eq(text.len, sizeof(kinds) / sizeof(kinds[0]));
    for (size_t i = 0; i < text.len; i++) {
        cr_expect_eq(json_skip_byte(&skip, text.ptr[i]), kinds[i], "byte %zu", i);
        cr_expect_eq(skip.depth, depths[i], "byte %zu", i);
    }
}
