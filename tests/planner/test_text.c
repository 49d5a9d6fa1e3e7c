/* SPDX-License-Identifier: Apache-2.0 */
/* test_text - texts with a length: order, blanks, UTF-8 and numbers; sorted lists. */
#include <criterion/criterion.h>

#include "planner/base/list.h"
#include "planner/base/text.h"

Test(text, order_is_bytewise_and_a_prefix_comes_first)
{
    cr_expect_lt(str_compare(STR("a"), STR("b")), 0);
    cr_expect_lt(str_compare(STR("a"), STR("ab")), 0);
    cr_expect_gt(str_compare(STR("\xFF"), STR("a")), 0);
    cr_expect_eq(str_compare(STR("ab"), STR("ab")), 0);
    cr_expect_eq(str_compare((struct str){0}, STR("")), 0);
}

Test(text, ascii_blanks_are_trimmed_and_nothing_else)
{
    cr_expect(str_equal(str_trim(STR(" \t\n\v\f\r a b \r")), STR("a b")));
    cr_expect(str_equal(str_trim(STR("\xC2\xA0x")), STR("\xC2\xA0x")), "no-break space stays");
    cr_expect(str_equal(str_trim(STR("\x1Fx\x08")), STR("\x1Fx\x08")));
    cr_expect(str_present(str_trim(STR("  "))), "empty is not absent");
    cr_expect(!str_present(str_trim((struct str){0})));
}

Test(text, contains_and_starts_with)
{
    cr_expect(str_contains(STR("a{{b"), STR("{{")));
    cr_expect(!str_contains(STR("a{b{"), STR("{{")));
    cr_expect(!str_contains(STR("{"), STR("{{")));
    cr_expect(str_contains(STR("x"), STR("")));
    cr_expect(str_contains((struct str){0}, STR("")));
    cr_expect(str_starts_with(STR("abc"), STR("ab")));
    cr_expect(!str_starts_with(STR("a"), STR("ab")));
    cr_expect(str_starts_with_ascii_nocase(STR("RuNx_x"), STR("runx_")));
    cr_expect(!str_starts_with_ascii_nocase(STR("run"), STR("runx_")));
    cr_expect(str_equal_ascii_nocase(STR("A-z"), STR("a-Z")));
    cr_expect(!str_equal_ascii_nocase(STR("@"), STR("`")), "no letters, so no case");
    cr_expect(!str_equal_ascii_nocase(STR("\xC3\x84"), STR("\xC3\xA4")), "ASCII only");
}

#define HEX63 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"

Test(text, a_digest_is_sha256_and_64_lower_case_hex_digits)
{
    cr_expect(str_is_sha256(STR("sha256:" HEX63 "f")));
    cr_expect(!str_is_sha256(STR("sha256:" HEX63)));
    cr_expect(!str_is_sha256(STR("sha256:" HEX63 "ff")));
    cr_expect(!str_is_sha256(STR("sha256:" HEX63 "F")));
    cr_expect(!str_is_sha256(STR("sha256:" HEX63 "g")));
    cr_expect(!str_is_sha256(STR("sha512:" HEX63 "f")));
    cr_expect(!str_is_sha256(STR(HEX63 "f")));
    cr_expect(!str_is_sha256((struct str){0}));
}

Test(text, malformed_utf8_is_rejected)
{
    static const struct {
        struct str text;
        size_t bytes;
        uint32_t character;
    } rows[] = {
        {STR_INIT("a"), 1, 'a'},
        {STR_INIT("\x7F"), 1, 0x7F},
        {STR_INIT("\xC2\x80"), 2, 0x80},
        {STR_INIT("\xDF\xBF"), 2, 0x7FF},
        {STR_INIT("\xE0\xA0\x80"), 3, 0x800},
        {STR_INIT("\xED\x9F\xBF"), 3, 0xD7FF},
        {STR_INIT("\xEE\x80\x80"), 3, 0xE000},
        {STR_INIT("\xEF\xBF\xBF"), 3, 0xFFFF},
        {STR_INIT("\xF0\x90\x80\x80"), 4, 0x10000},
        {STR_INIT("\xF4\x8F\xBF\xBF"), 4, 0x10FFFF},
        {STR_INIT(""), 0, 0},
        {STR_INIT("\x80"), 0, 0},             /* a continuation byte without a first byte */
        {STR_INIT("\xC1\xBF"), 0, 0},         /* overlong */
        {STR_INIT("\xE0\x9F\xBF"), 0, 0},     /* overlong */
        {STR_INIT("\xF0\x8F\xBF\xBF"), 0, 0}, /* overlong */
        {STR_INIT("\xED\xA0\x80"), 0, 0},     /* a surrogate */
        {STR_INIT("\xED\xBF\xBF"), 0, 0},     /* a surrogate */
        {STR_INIT("\xF4\x90\x80\x80"), 0, 0}, /* beyond U+10FFFF */
        {STR_INIT("\xF8\x88\x80\x80\x80"), 0, 0},
        {STR_INIT("\xFF"), 0, 0},
        {STR_INIT("\xE2\x82"), 0, 0}, /* incomplete */
        {STR_INIT("\xE2\x28\xA1"), 0, 0},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint32_t character = 0;

        cr_expect_eq(str_utf8_next(rows[i].text, &character), rows[i].bytes, "row %zu", i);
        cr_expect_eq(character, rows[i].character, "row %zu", i);
    }
}

Test(text, control_and_bidirectional_characters)
{
    static const uint32_t controls[] = {0, 0x1F, 0x7F, 0x9F};
    static const uint32_t bidi[] = {0x202A, 0x202E, 0x2066, 0x2069};
    static const uint32_t neither[] = {' ', 0x7E, 0xA0, 0x2029, 0x202F, 0x2065, 0x206A};

    for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++)
        cr_expect(text_is_control(controls[i]) && !text_is_bidi_control(controls[i]));
    for (size_t i = 0; i < sizeof(bidi) / sizeof(bidi[0]); i++)
        cr_expect(text_is_bidi_control(bidi[i]) && !text_is_control(bidi[i]));
    for (size_t i = 0; i < sizeof(neither) / sizeof(neither[0]); i++)
        cr_expect(!text_is_bidi_control(neither[i]) && !text_is_control(neither[i]));
}

Test(text, a_number_is_digits_within_its_range)
{
    static const struct {
        struct str text;
        bool good;
        uint64_t number;
    } rows[] = {
        {STR_INIT("0"), true, 0},
        {STR_INIT("18446744073709551615"), true, UINT64_MAX},
        {STR_INIT("18446744073709551616"), false, 0},
        {STR_INIT("99999999999999999999"), false, 0},
        {STR_INIT(""), false, 0},
        {STR_INIT("01"), false, 0},
        {STR_INIT("+1"), false, 0},
        {STR_INIT("-1"), false, 0},
        {STR_INIT(" 1"), false, 0},
        {STR_INIT("1 "), false, 0},
        {STR_INIT("1x"), false, 0},
        {STR_INIT("0x1"), false, 0},
    };
    uint64_t number = 7;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        number = 7;
        cr_expect_eq(text_read_number(rows[i].text, 0, UINT64_MAX, &number), rows[i].good,
                     "row %zu", i);
        cr_expect_eq(number, rows[i].good ? rows[i].number : 7, "row %zu", i);
    }
    cr_expect(text_read_number(STR("5"), 5, 5, &number));
    cr_expect(!text_read_number(STR("4"), 5, 9, &number));
    cr_expect(!text_read_number(STR("10"), 5, 9, &number));
    cr_expect_eq(number, 5);
}

Test(list, lists_are_sorted_bytewise_without_duplicates)
{
    struct str items[] = {STR("b"), STR("a"), STR("b"), STR("B"), STR("ab"), STR("a")};
    struct str_list list = {items, list_sort_once(items, sizeof(items) / sizeof(items[0]))};

    cr_assert_eq(list.count, 4);
    cr_expect(str_equal(items[0], STR("B")));
    cr_expect(str_equal(items[1], STR("a")));
    cr_expect(str_equal(items[2], STR("ab")));
    cr_expect(str_equal(items[3], STR("b")));
    cr_expect(str_list_has(list, STR("ab")));
    cr_expect(!str_list_has(list, STR("abc")));
    cr_expect_eq(list_sort_once(items, 0), 0);
}

Test(text, is_cut_where_a_character_ends)
{
    static const struct {
        struct str text;
        size_t max_bytes;
        struct str cut;
    } rows[] = {
        {STR_INIT("abc"), 3, STR_INIT("abc")},
        {STR_INIT("abc"), 2, STR_INIT("ab")},
        {STR_INIT("a\xC3\xA4z"), 3, STR_INIT("a\xC3\xA4")},
        {STR_INIT("a\xC3\xA4z"), 2, STR_INIT("a")},
        {STR_INIT("\xE2\x82\xAC"), 2, STR_INIT("")},
        {STR_INIT("abc"), 0, STR_INIT("")},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        cr_expect(str_equal(str_cut(rows[i].text, rows[i].max_bytes), rows[i].cut), "row %zu", i);
    cr_expect(!str_present(str_cut((struct str){0}, 5)));
}

Test(text, classes_hold_ascii_alone)
{
    for (int byte = -128; byte < 128; byte++) {
        char c = (char)byte;

        cr_expect_eq(text_is_digit(c), strchr("0123456789", c) != NULL && c != '\0', "%d", byte);
        cr_expect_eq(text_hex_value(c) >= 0,
                     c != '\0' && strchr("0123456789abcdefABCDEF", c) != NULL, "%d", byte);
        cr_expect_eq(text_is_blank(c), c != '\0' && strchr("\t\n\v\f\r ", c) != NULL, "%d", byte);
        cr_expect(byte >= 0 || !text_is_alnum(c), "%d", byte);
    }
    cr_expect_eq(text_hex_value('f'), 15);
    cr_expect_eq(text_hex_value('A'), 10);
    cr_expect_eq(text_lower('Z'), 'z');
    cr_expect_eq(text_upper('['), '[');
}
