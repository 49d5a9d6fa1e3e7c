/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moment - reads and writes RFC 3339 instants.
 *
 * The C library's functions are not used: they depend on the time zone and the locale, and accept
 * more than the contract does.
 */
#include "planner/base/moment.h"

#include <assert.h>
#include <stdio.h>

#define SECONDS_PER_HOUR 3600
#define SECONDS_PER_MINUTE 60
#define NSEC_DIGITS 9
#define LAST_SEC INT64_C(315537897599) /* 9999-12-31T23:59:59Z */
#define DAYS_PER_YEAR 365

/* rest is the part of the text that is not read yet. Each function below removes what it read from
 * the front of it. False means that the text does not match. */
static bool take_char(struct str *rest, char c)
{
    if (rest->len == 0 || rest->ptr[0] != c)
        return false;
    rest->ptr++;
    rest->len--;
    return true;
}

static bool take_digit(struct str *rest, int *ret_digit)
{
    if (rest->len == 0 || !text_is_digit(rest->ptr[0]))
        return false;
    *ret_digit = rest->ptr[0] - '0';
    rest->ptr++;
    rest->len--;
    return true;
}

/* A number of exactly that many digits, from min to max. */
static bool take_number(struct str *rest, int digits, int min, int max, int *ret_number)
{
    int number = 0, digit = 0;

    for (int i = 0; i < digits; i++) {
        if (!take_digit(rest, &digit))
            return false;
        number = number * 10 + digit;
    }
    if (number < min || number > max)
        return false;
    *ret_number = number;
    return true;
}

static bool is_leap_year(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_of_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    return month == 2 && is_leap_year(year) ? 29 : days[month - 1];
}

/* Days from 0001-01-01 to the first day of the year. */
static int64_t days_before_year(int year)
{
    int64_t y = year - 1;

    return y * DAYS_PER_YEAR + y / 4 - y / 100 + y / 400;
}

static bool take_date(struct str *rest, int64_t *ret_days)
{
    int year = 0, month = 0, day = 0;
    int64_t days = 0;

    if (!take_number(rest, 4, 1, 9999, &year) || !take_char(rest, '-') ||
        !take_number(rest, 2, 1, 12, &month) || !take_char(rest, '-') ||
        !take_number(rest, 2, 1, days_of_month(year, month), &day))
        return false;
    days = days_before_year(year) + day - 1;
    for (int m = 1; m < month; m++)
        days += days_of_month(year, m);
    *ret_days = days;
    return true;
}

static bool take_time(struct str *rest, int64_t *ret_sec)
{
    int hour = 0, minute = 0, second = 0;

    if (!take_number(rest, 2, 0, 23, &hour) || !take_char(rest, ':') ||
        !take_number(rest, 2, 0, 59, &minute) || !take_char(rest, ':') ||
        !take_number(rest, 2, 0, 59, &second))
        return false;
    *ret_sec = hour * SECONDS_PER_HOUR + minute * SECONDS_PER_MINUTE + second;
    return true;
}

/* Nothing, or a dot and one to nine digits. */
static bool take_fraction(struct str *rest, int32_t *ret_nsec)
{
    int32_t nsec = 0;
    int digits = 0, digit = 0;

    if (!take_char(rest, '.')) {
        *ret_nsec = 0;
        return true;
    }
    while (digits < NSEC_DIGITS && take_digit(rest, &digit)) {
        nsec = nsec * 10 + digit;
        digits++;
    }
    if (digits == 0)
        return false;
    for (; digits < NSEC_DIGITS; digits++)
        nsec *= 10;
    *ret_nsec = nsec;
    return true;
}

static bool take_offset(struct str *rest, int64_t *ret_sec)
{
    int hour = 0, minute = 0, sign = 0;

    if (take_char(rest, 'Z')) {
        *ret_sec = 0;
        return true;
    }
    if (take_char(rest, '+'))
        sign = 1;
    else if (take_char(rest, '-'))
        sign = -1;
    else
        return false;
    if (!take_number(rest, 2, 0, 23, &hour) || !take_char(rest, ':') ||
        !take_number(rest, 2, 0, 59, &minute))
        return false;
    *ret_sec = sign * (hour * SECONDS_PER_HOUR + minute * SECONDS_PER_MINUTE);
    return true;
}

bool moment_read(struct str s, struct moment *ret_moment)
{
    int64_t days = 0, sec = 0, offset_sec = 0;
    int32_t nsec = 0;

    if (!take_date(&s, &days) || !take_char(&s, 'T') || !take_time(&s, &sec) ||
        !take_fraction(&s, &nsec) || !take_offset(&s, &offset_sec) || s.len > 0)
        return false;
    *ret_moment = (struct moment){
        .sec = days * MOMENT_SECONDS_PER_DAY + sec - offset_sec,
        .nsec = nsec,
    };
    return true;
}

int moment_compare(struct moment a, struct moment b)
{
    if (a.sec != b.sec)
        return a.sec < b.sec ? -1 : 1;
    return (a.nsec > b.nsec) - (a.nsec < b.nsec);
}

struct moment moment_add_seconds(struct moment a, int64_t seconds)
{
    a.sec += seconds;
    return a;
}

/* The year of a day, which is counted from 0001-01-01; *days becomes the day within the year, from
 * 0. */
static int year_of_days(int64_t *days)
{
    int year = 1 + (int)(*days / DAYS_PER_YEAR);

    /* no year is shorter than 365 days, so the guess is not too early; up to year 9999 it is at
     * most 6 years too late */
    while (days_before_year(year) > *days)
        year--;
    *days -= days_before_year(year);
    assert(*days >= 0 && *days <= DAYS_PER_YEAR);
    return year;
}

void moment_write(struct moment m, char ret_text[static MOMENT_TEXT_BYTES])
{
    int64_t sec = m.sec < 0 ? 0 : m.sec > LAST_SEC ? LAST_SEC : m.sec;
    int64_t days = sec / MOMENT_SECONDS_PER_DAY;
    int of_day = (int)(sec % MOMENT_SECONDS_PER_DAY);
    int year = year_of_days(&days);
    int month = 1;

    while (days >= days_of_month(year, month)) {
        days -= days_of_month(year, month);
        month++;
    }
    (void)snprintf(ret_text, MOMENT_TEXT_BYTES, "%04d-%02d-%02dT%02d:%02d:%02dZ", year, month,
                   (int)days + 1, of_day / SECONDS_PER_HOUR,
                   of_day % SECONDS_PER_HOUR / SECONDS_PER_MINUTE, of_day % SECONDS_PER_MINUTE);
}
