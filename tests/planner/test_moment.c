/* SPDX-License-Identifier: Apache-2.0 */
/* test_moment - RFC 3339 times, read, written and compared. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "planner/base/moment.h"

#define NOON_SEC (INT64_C(1772366400) + MOMENT_UNIX_EPOCH_SEC) /* 2026-03-01T12:00:00Z */

static const struct {
    const char *text;
    bool good;
    int64_t sec; /* seconds from noon of 2026-03-01 */
    int32_t nsec;
} spellings[] = {
    {"2026-03-01T12:00:00Z", true, 0, 0},
    {"2026-03-01T12:00:00+00:00", true, 0, 0},
    {"2026-03-01T12:00:00-00:00", true, 0, 0},
    {"2026-03-01T21:00:00+09:00", true, 0, 0},
    {"2026-02-28T23:30:00-12:30", true, 0, 0},
    {"2026-03-02T11:59:00+23:59", true, 0, 0},
    {"2026-02-28T12:01:00-23:59", true, 0, 0},
    {"2026-03-01T12:00:00.0Z", true, 0, 0},
    {"2026-03-01T12:00:00.5Z", true, 0, 500000000},
    {"2026-03-01T12:00:00.000000001Z", true, 0, 1},
    {"2026-03-01T12:00:00.999999999Z", true, 0, 999999999},
    {"2026-03-01T12:00:59Z", true, 59, 0},
    {"2026-03-01T12:00:00.1234567890Z", false, 0, 0},
    {"2026-03-01T12:00:00.12345678901234567890Z", false, 0, 0},
    {"2026-03-01t12:00:00Z", false, 0, 0},
    {"2026-03-01T12:00:00z", false, 0, 0},
    {"2026-03-01 12:00:00Z", false, 0, 0},
    {"2026-03-01T12:00:00", false, 0, 0},
    {"2026-03-01T12:00:00+0000", false, 0, 0},
    {"2026-03-01T12:00:00+00", false, 0, 0},
    {"2026-03-01T12:00:00+24:00", false, 0, 0},
    {"2026-03-01T12:00:00+00:60", false, 0, 0},
    {"2026-03-01T12:00:00+00:00:00", false, 0, 0},
    {"2026-03-01T12:00:00.Z", false, 0, 0},
    {"2026-03-01T12:00:00,5Z", false, 0, 0},
    {"2026-03-01T12:00Z", false, 0, 0},
    {"2026-03-01", false, 0, 0},
    {"2026-3-1T12:00:00Z", false, 0, 0},
    {"20260301T120000Z", false, 0, 0},
    {"2026-03-01T24:00:00Z", false, 0, 0},
    {"2026-03-01T23:60:00Z", false, 0, 0},
    {"2026-03-01T23:59:60Z", false, 0, 0},
    {"2026-06-30T23:59:60Z", false, 0, 0},
    {"2026-13-01T00:00:00Z", false, 0, 0},
    {"2026-00-01T00:00:00Z", false, 0, 0},
    {"2026-04-31T00:00:00Z", false, 0, 0},
    {"2026-03-00T00:00:00Z", false, 0, 0},
    {" 2026-03-01T12:00:00Z", false, 0, 0}, /* the caller must trim */
    {"2026-03-01T12:00:00Z\n", false, 0, 0},
    {"2026-03-01T12:00:00ZZ", false, 0, 0},
    {"2026-03-01T12:00:00Z[UTC]", false, 0, 0},
    {"+2026-03-01T12:00:00Z", false, 0, 0},
    {"-2026-03-01T12:00:00Z", false, 0, 0},
    {"2026-03-01T+2:00:00Z", false, 0, 0},
    {"2026-03-01T 2:00:00Z", false, 0, 0},
    {"\xEF\xBC\x92\xEF\xBC\x90\xEF\xBC\x92\xEF\xBC\x96-03-01T12:00:00Z", false, 0, 0},
    {"Sun, 01 Mar 2026 12:00:00 GMT", false, 0, 0},
    {"1772366400", false, 0, 0},
    {"0000-01-01T00:00:00Z", false, 0, 0},
    {"10000-01-01T00:00:00Z", false, 0, 0},
    {"", false, 0, 0},
};

Test(moment, every_spelling_is_one_instant_or_invalid)
{
    for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
        struct moment m = {.sec = 1, .nsec = 2};
        bool good = moment_read(str_of(spellings[i].text), &m);

        cr_expect_eq(good, spellings[i].good, "%s", spellings[i].text);
        cr_expect_eq(m.sec, spellings[i].good ? NOON_SEC + spellings[i].sec : 1, "%s",
                     spellings[i].text);
        cr_expect_eq(m.nsec, spellings[i].good ? spellings[i].nsec : 2, "%s", spellings[i].text);
    }
}

Test(moment, every_day_of_the_calendar_is_read_and_written_back)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t sec = 0;

    for (int year = 1; year <= 9999; year++) {
        bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

        for (int month = 1; month <= 12; month++) {
            int last = days[month - 1] + (leap && month == 2 ? 1 : 0);
            char text[64], again[MOMENT_TEXT_BYTES];
            struct moment m = {0};

            for (int day = 1; day <= last; day += day < last ? last - 1 : 1) {
                (void)snprintf(text, sizeof(text), "%04d-%02d-%02dT00:00:00Z", year, month, day);
                cr_assert(moment_read(str_of(text), &m), "%s", text);
                cr_assert_eq(m.sec, sec + (day - 1) * MOMENT_SECONDS_PER_DAY, "%s", text);
                moment_write(m, again);
                cr_assert_str_eq(again, text);
            }
            (void)snprintf(text, sizeof(text), "%04d-%02d-%02dT00:00:00Z", year, month, last + 1);
            cr_assert(!moment_read(str_of(text), &m), "%s", text);
            sec += last * MOMENT_SECONDS_PER_DAY;
        }
    }
}

Test(moment, the_first_and_the_last_instant_are_read)
{
    struct moment m = {0};
    char text[MOMENT_TEXT_BYTES];

    cr_assert(moment_read(STR("1970-01-01T00:00:00Z"), &m));
    cr_expect_eq(m.sec, MOMENT_UNIX_EPOCH_SEC);
    cr_assert(moment_read(STR("0001-01-01T00:00:00+23:59"), &m));
    cr_expect_eq(m.sec, -86340, "an offset leads before the calendar");
    moment_write(m, text);
    cr_expect_str_eq(text, "0001-01-01T00:00:00Z");
    cr_assert(moment_read(STR("9999-12-31T23:59:59.999999999-23:59"), &m));
    moment_write(m, text);
    cr_expect_str_eq(text, "9999-12-31T23:59:59Z");
}

Test(moment, order_is_by_seconds_then_nanoseconds)
{
    struct moment a = {.sec = 5, .nsec = 1}, b = {.sec = 5, .nsec = 2}, c = {.sec = 6, .nsec = 0};

    cr_expect_eq(moment_compare(a, a), 0);
    cr_expect_eq(moment_compare(a, b), -1);
    cr_expect_eq(moment_compare(b, a), 1);
    cr_expect_eq(moment_compare(b, c), -1);
    cr_expect_eq(moment_compare(moment_add_seconds(a, 1), c), 1);
    cr_expect_eq(moment_compare(moment_add_seconds(c, -2), a), -1);
}
