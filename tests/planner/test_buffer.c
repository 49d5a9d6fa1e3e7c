/* SPDX-License-Identifier: Apache-2.0 */
/* test_buffer - text, limits and JSON escapes of a buffer. */
#include <criterion/criterion.h>
#include <errno.h>

#include "planner/base/buffer.h"

#define MANY 5000

Test(buffer, added_text_is_kept_and_ends_with_nul)
{
    cleanup_arena struct arena arena = {0};
    struct buffer b = buffer_make(&arena, 100);

    cr_expect_str_eq(buffer_text(&b).ptr, "");
    buffer_add(&b, STR("ab"));
    buffer_add(&b, (struct str){0});
    buffer_add_char(&b, 'c');
    buffer_add_format(&b, "%d-%s", 7, "x");
    cr_expect_str_eq(buffer_text(&b).ptr, "abc7-x");
    cr_expect_eq(buffer_text(&b).len, 6);
}

Test(buffer, text_is_kept_when_the_buffer_grows)
{
    cleanup_arena struct arena arena = {0};
    struct buffer b = buffer_make(&arena, MANY + 300);
    char long_text[300];

    for (size_t i = 0; i < MANY; i++)
        buffer_add_char(&b, (char)('a' + i % 26));
    memset(long_text, 'x', sizeof(long_text));
    buffer_add_format(&b, "%.*s", (int)sizeof(long_text), long_text);
    cr_assert_eq(buffer_text(&b).len, MANY + sizeof(long_text));
    for (size_t i = 0; i < MANY; i++)
        cr_assert_eq(buffer_text(&b).ptr[i], (char)('a' + i % 26));
    cr_expect_eq(buffer_text(&b).ptr[MANY + 299], 'x');
}

Test(buffer, the_limit_is_exact_and_its_error_is_sticky)
{
    cleanup_arena struct arena arena = {0};
    struct buffer b = buffer_make(&arena, 4);

    buffer_add(&b, STR("abcd"));
    cr_expect_str_eq(buffer_text(&b).ptr, "abcd");
    buffer_add_char(&b, 'e');
    cr_expect_eq(b.error, -E2BIG);
    buffer_add(&b, STR(""));
    cr_expect(!str_present(buffer_text(&b)));
}

Test(buffer, out_of_memory_is_a_sticky_error)
{
    cleanup_arena struct arena arena = {.limit_bytes = 64};
    struct buffer b = buffer_make(&arena, 100);

    buffer_add(&b, STR("abc"));
    buffer_add_format(&b, "%d", 1);
    cr_expect_eq(b.error, -ENOMEM);
    cr_expect(!str_present(buffer_text(&b)));
}

Test(buffer, json_escapes_only_quote_backslash_and_controls)
{
    cleanup_arena struct arena arena = {0};
    struct buffer b = buffer_make(&arena, 1000);

    buffer_add_json(&b, STR("a\"b\\c\b\f\n\r\t\x01\x1F\x7F/<\xE2\x80\xA8\xC3\xA4"));
    cr_expect_str_eq(buffer_text(&b).ptr, "\"a\\\"b\\\\c\\b\\f\\n\\r\\t\\u0001\\u001f\x7F/<"
                                          "\xE2\x80\xA8\xC3\xA4\"");
    b = buffer_make(&arena, 1000);
    buffer_add_json(&b, (struct str){0});
    cr_expect_str_eq(buffer_text(&b).ptr, "\"\"");
}

/* Every byte at every position of a word, alone and next to escaped bytes. */
Test(buffer, json_escapes_equally_at_every_position)
{
    for (unsigned value = 0; value < 256; value++) {
        for (size_t place = 0; place < 24; place++) {
            cleanup_arena struct arena arena = {0};
            struct buffer whole = buffer_make(&arena, SIZE_MAX), wanted = whole;
            char text[25] = "abcdefgh\x7Fjklmnop\"r\\\nuvwx";

            text[place] = (char)value;
            buffer_add_json(&whole, (struct str){.ptr = text, .len = 24});
            buffer_add_char(&wanted, '"');
            for (size_t i = 0; i < 24; i++) {
                struct buffer one = buffer_make(&arena, SIZE_MAX);
                struct str shown = {0};

                buffer_add_json(&one, (struct str){.ptr = text + i, .len = 1});
                shown = buffer_text(&one);
                buffer_add(&wanted, (struct str){.ptr = shown.ptr + 1, .len = shown.len - 2});
            }
            buffer_add_char(&wanted, '"');
            cr_assert(str_equal(buffer_text(&whole), buffer_text(&wanted)), "%u at %zu", value,
                      place);
        }
    }
}

Test(buffer, json_fills_the_limit_exactly)
{
    char text[600];
    size_t size = 2;

    for (size_t i = 0; i < sizeof(text); i++) {
        text[i] = i % 7 == 0 ? '"' : i % 31 == 0 ? '\x01' : 'x';
        size += text[i] == '"' ? 2 : text[i] == '\x01' ? 6 : 1;
    }
    for (size_t max = size - 20; max < size + 20; max++) {
        cleanup_arena struct arena arena = {0};
        struct buffer b = buffer_make(&arena, max);

        buffer_add_json(&b, (struct str){.ptr = text, .len = sizeof(text)});
        cr_assert_eq(b.error, max < size ? -E2BIG : 0, "%zu of %zu", max, size);
        cr_assert_eq(str_present(buffer_text(&b)), max >= size);
    }
}

Test(buffer, audit_size_is_what_the_api_server_writes)
{
    static const struct {
        struct str text;
        size_t size;
    } rows[] = {
        {STR_INIT(""), 0},
        {STR_INIT("abc"), 3},
        {STR_INIT("\"\\"), 4},
        {STR_INIT("\n\t\r\b\f"), 10},
        {STR_INIT("\x01\x1F"), 12},
        {STR_INIT("<>&"), 18},
        {STR_INIT("\xE2\x80\xA8\xE2\x80\xA9"), 12},
        {STR_INIT("\xE2\x80\xA7\xE2\x82\xAC"), 6},
        {STR_INIT("\xE2\x80"), 2},
        {STR_INIT("\x7F\xC3\xA4"), 3},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        cr_expect_eq(buffer_audit_size(rows[i].text), rows[i].size, "row %zu", i);
}
