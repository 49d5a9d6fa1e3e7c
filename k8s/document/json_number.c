/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_number - recognises and converts numbers in JSON's grammar; the YAML reader uses it, too.
 */
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "k8s/document/reader.h"

#define EXACT_DIGITS 15 /* a whole number of up to 15 digits is exact as a double */

/* The number of digits from that offset on. */
static size_t digits(struct str s, size_t from)
{
    size_t i = from;

    while (i < s.len && text_is_digit(s.ptr[i]))
        i++;
    return i - from;
}

size_t json_number_length(struct str s)
{
    size_t i = s.len > 0 && s.ptr[0] == '-' ? 1 : 0;
    size_t whole = digits(s, i), more = 0;

    if (whole == 0 || (whole > 1 && s.ptr[i] == '0'))
        return 0;
    i += whole;
    if (i < s.len && s.ptr[i] == '.') {
        more = digits(s, i + 1);
        if (more == 0)
            return 0;
        i += 1 + more;
    }
    if (i < s.len && (s.ptr[i] == 'e' || s.ptr[i] == 'E')) {
        i++;
        if (i < s.len && (s.ptr[i] == '+' || s.ptr[i] == '-'))
            i++;
        more = digits(s, i);
        if (more == 0)
            return 0;
        i += more;
    }
    return i;
}

/* Few digits and no exponent: the quotient of two exact numbers is rounded correctly. False for
 * other numbers. */
static bool convert_short(struct str s, double *ret_number)
{
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    bool negative = s.ptr[0] == '-', fraction = false;
    double number = 0;
    size_t count = 0, decimals = 0;

    for (size_t i = negative ? 1 : 0; i < s.len; i++) {
        if (s.ptr[i] == '.') {
            fraction = true;
            continue;
        }
        if (!text_is_digit(s.ptr[i]) || ++count > EXACT_DIGITS)
            return false;
        number = number * 10 + (double)(s.ptr[i] - '0');
        decimals += fraction ? 1 : 0;
    }
    assert(decimals < sizeof(powers) / sizeof(powers[0]));
    number /= powers[decimals];
    *ret_number = negative ? -number : number;
    return true;
}

int json_number(struct str s, struct arena *arena, double *ret_number)
{
    char small[READER_MAX_NUMBER_BYTES + 1];
    char *copy = small;

    if (convert_short(s, ret_number))
        return 0;
    if (s.len > READER_MAX_NUMBER_BYTES) {
        copy = arena_copy(arena, s);
        if (copy == NULL)
            return -ENOMEM;
    } else {
        memcpy(small, s.ptr, s.len);
        small[s.len] = '\0';
    }
    /* strtod() is safe here: the grammar was checked, and the program stays in the C locale */
    *ret_number = strtod(copy, NULL);
    return 0;
}
