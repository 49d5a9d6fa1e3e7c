/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scalar - types of plain YAML scalars: a strict rule for our documents, kubectl's rule for
 * manifests.
 *
 * Readers of YAML differ on plain scalars such as `no`, `010`, `1_000` or `12:30`. The strict rule
 * refuses all that any common reader takes for something else than text.
 */
#include "k8s/document/scalar.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "k8s/document/reader.h"

#define DIGITS "0123456789"
#define DIGITS_AND_UNDERSCORES DIGITS "_"
#define SEXAGESIMAL_MAX_DIGITS 2 /* of each part after a colon */

/* The number of bytes from i on that are in the set. */
static size_t run(struct str s, size_t i, const char *set)
{
    size_t n = 0;

    while (i + n < s.len && s.ptr[i + n] != '\0' && strchr(set, s.ptr[i + n]) != NULL)
        n++;
    return n;
}

static bool is_at(struct str s, size_t i, char c)
{
    return i < s.len && s.ptr[i] == c;
}

static size_t sign(struct str s)
{
    return is_at(s, 0, '+') || is_at(s, 0, '-') ? 1 : 0;
}

static bool is_one_of(struct str s, const struct str *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal_ascii_nocase(s, words[i]))
            return true;
    }
    return false;
}

/* The length of the exponent at i; 0: there is none. */
static size_t exponent(struct str s, size_t i)
{
    size_t n = 1;

    if (!is_at(s, i, 'e') && !is_at(s, i, 'E'))
        return 0;
    if (is_at(s, i + n, '+') || is_at(s, i + n, '-'))
        n++;
    return run(s, i + n, DIGITS) > 0 ? n + run(s, i + n, DIGITS) : 0;
}

/* Whether the rest from i on is `:30`, repeated, with an optional fraction: a number of base 60. */
static bool is_sexagesimal(struct str s, size_t i)
{
    while (is_at(s, i, ':')) {
        size_t n = run(s, i + 1, DIGITS);

        if (n == 0 || n > SEXAGESIMAL_MAX_DIGITS ||
            (n == SEXAGESIMAL_MAX_DIGITS && s.ptr[i + 1] > '5'))
            return false;
        i += 1 + n;
    }
    if (is_at(s, i, '.'))
        i += 1 + run(s, i + 1, DIGITS_AND_UNDERSCORES);
    return i == s.len;
}

/* Whether the rest from i on is a number such as 0x1F, 0o17 or 0b1. */
static bool is_with_base(struct str s, size_t i)
{
    const char *set = NULL;

    if (!is_at(s, i, '0') || i + 2 >= s.len)
        return false;
    switch (s.ptr[i + 1] | 0x20) {
    case 'x':
        set = DIGITS_AND_UNDERSCORES "abcdefABCDEF";
        break;
    case 'o':
        set = "01234567_";
        break;
    case 'b':
        set = "01_";
        break;
    default:
        return false;
    }
    return i + 2 + run(s, i + 2, set) == s.len;
}

/* Whether any common reader takes it for a number. */
static bool looks_like_number(struct str s)
{
    static const struct str not_finite[] = {{".inf", 4}, {".nan", 4}};
    size_t i = sign(s), n = 0;
    struct str rest = {s.ptr + i, s.len - i};

    if (is_one_of(rest, not_finite, 2) || is_with_base(s, i))
        return true;
    if (is_at(s, i, '.')) {
        if (run(s, i + 1, DIGITS) == 0)
            return false;
    } else {
        if (run(s, i, DIGITS) == 0)
            return false;
        i += run(s, i, DIGITS_AND_UNDERSCORES);
        if (is_at(s, i, ':'))
            return is_sexagesimal(s, i);
    }
    if (is_at(s, i, '.'))
        i += 1 + run(s, i + 1, DIGITS_AND_UNDERSCORES);
    n = exponent(s, i);
    return i + n == s.len;
}

/* s without its underscores, which have no meaning in numbers; NULL when out of memory. */
static char *without_underscores(struct str s, struct arena *arena)
{
    char *copy = arena_copy(arena, s), *out = copy;

    if (copy == NULL)
        return NULL;
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] != '_')
            *out++ = s.ptr[i];
    }
    *out = '\0';
    return copy;
}

/*
 * Whether readers that skip underscores in numbers take s for a number: some of them accept what no
 * grammar of YAML has, such as 1e1_0, -_1 and 0_x1. Text that begins with an underscore or a letter
 * is text for all of them.
 */
static int is_number_with_underscores(struct str s, struct arena *arena, bool *ret_is)
{
    char *plain = NULL;

    *ret_is = false;
    if (memchr(s.ptr, '_', s.len) == NULL || run(s, 0, "+-." DIGITS) == 0)
        return 0;
    plain = without_underscores(s, arena);
    if (plain == NULL)
        return -ENOMEM;
    *ret_is = looks_like_number(str_of(plain));
    return 0;
}

/* A JSON number without an exponent: all readers agree on it. */
static bool is_clear_number(struct str s)
{
    return json_number_length(s) == s.len && run(s, 0, "-." DIGITS) == s.len;
}

int scalar_strict(struct str s, struct arena *arena, enum scalar_kind *ret_kind)
{
    static const struct str unclear[] = {
        {"yes", 3}, {"no", 2},   {"on", 2},    {"off", 3},  {"y", 1},
        {"n", 1},   {"true", 4}, {"false", 5}, {"null", 4},
    };
    bool unclear_number = false;
    int r = 0;

    if (s.len == 0 || str_equal(s, STR("~")) || str_equal(s, STR("null"))) {
        *ret_kind = SCALAR_NULL;
    } else if (str_equal(s, STR("true"))) {
        *ret_kind = SCALAR_TRUE;
    } else if (str_equal(s, STR("false"))) {
        *ret_kind = SCALAR_FALSE;
    } else if (is_clear_number(s)) {
        *ret_kind = SCALAR_NUMBER;
    } else if (is_one_of(s, unclear, sizeof(unclear) / sizeof(unclear[0])) ||
               looks_like_number(s)) {
        *ret_kind = SCALAR_UNCLEAR;
    } else {
        r = is_number_with_underscores(s, arena, &unclear_number);
        if (r == 0)
            *ret_kind = unclear_number ? SCALAR_UNCLEAR : SCALAR_TEXT;
    }
    return r;
}

/* Whether s is the word in lower case, in upper case or capitalised, as YAML 1.1 lists its words.
 */
static bool is_word(struct str s, const char *word)
{
    struct str w = str_of(word);
    bool first = s.len > 0 && text_is_upper(s.ptr[0]);
    size_t capitals = run(s, 0, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

    if (!str_equal_ascii_nocase(s, w))
        return false;
    if (!first)
        return str_equal(s, w);
    return capitals == s.len || (capitals == 1 && str_equal((struct str){s.ptr + 1, s.len - 1},
                                                            (struct str){w.ptr + 1, w.len - 1}));
}

static bool is_one_of_words(struct str s, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (is_word(s, *words))
            return true;
    }
    return false;
}

/* A whole number, as Go's strconv reads it with base 0; s has no sign. */
static bool number_with_base(struct str s, double *ret_number)
{
    int base = 8;
    size_t i = 2;
    double number = 0;

    if (s.len < 2 || s.ptr[0] != '0')
        return false;
    switch (s.ptr[1] | 0x20) {
    case 'x':
        base = 16;
        break;
    case 'o':
        break;
    case 'b':
        base = 2;
        break;
    default:
        i = 1;
    }
    if (i == s.len)
        return false;
    for (; i < s.len; i++) {
        int digit = text_hex_value(s.ptr[i]);

        if (digit < 0 || digit >= base)
            return false;
        number = number * base + digit;
    }
    *ret_number = number;
    return true;
}

/* `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`; one that is too big for a double is not a
 * number. */
static bool number_with_fraction(const char *s, double *ret_number)
{
    struct str text = str_of(s);
    size_t i = sign(text), whole = run(text, i, DIGITS), fraction = 0;
    double number = 0;

    i += whole;
    if (is_at(text, i, '.')) {
        fraction = run(text, i + 1, DIGITS);
        i += 1 + fraction;
    }
    if (whole + fraction == 0 || i + exponent(text, i) != text.len)
        return false;
    /* strtod() is safe here: the grammar was checked, and the program stays in the C locale */
    number = strtod(s, NULL);
    if (isinf(number))
        return false;
    *ret_number = number;
    return true;
}

/* *ret_kind is SCALAR_TEXT where s is not a number. */
static int kubectl_number(struct str s, struct arena *arena, enum scalar_kind *ret_kind,
                          double *ret_number)
{
    size_t start = sign(s);
    char *plain = without_underscores(s, arena);
    double number = 0;

    if (plain == NULL)
        return -ENOMEM;
    *ret_kind = SCALAR_TEXT;
    if (is_at(s, 0, '.') && memchr(s.ptr, '_', s.len) != NULL)
        return 0;
    if (start > 0 && (plain[1] == '+' || plain[1] == '-'))
        return 0;
    if (number_with_base(str_of(plain + start), &number))
        number = is_at(s, 0, '-') ? -number : number;
    else if (!number_with_fraction(plain, &number))
        return 0;
    *ret_kind = SCALAR_NUMBER;
    *ret_number = number;
    return 0;
}

int scalar_kubectl(struct str s, struct arena *arena, enum scalar_kind *ret_kind,
                   double *ret_number)
{
    static const char *const trues[] = {"y", "yes", "true", "on", NULL};
    static const char *const falses[] = {"n", "no", "false", "off", NULL};
    struct str unsigned_part = {s.ptr + sign(s), s.len - sign(s)};

    if (s.len == 0 || str_equal(s, STR("~")) || is_word(s, "null")) {
        *ret_kind = SCALAR_NULL;
    } else if (is_one_of_words(s, trues)) {
        *ret_kind = SCALAR_TRUE;
    } else if (is_one_of_words(s, falses)) {
        *ret_kind = SCALAR_FALSE;
    } else if (str_equal(s, STR(".nan")) || str_equal(s, STR(".NaN")) ||
               str_equal(s, STR(".NAN"))) {
        *ret_kind = SCALAR_NUMBER;
        *ret_number = (double)NAN;
    } else if (str_equal(unsigned_part, STR(".inf")) || str_equal(unsigned_part, STR(".Inf")) ||
               str_equal(unsigned_part, STR(".INF"))) {
        *ret_kind = SCALAR_NUMBER;
        *ret_number = is_at(s, 0, '-') ? -(double)INFINITY : (double)INFINITY;
    } else if (sign(s) > 0 || is_at(s, 0, '.') || run(s, 0, DIGITS) > 0) {
        return kubectl_number(s, arena, ret_kind, ret_number);
    } else {
        *ret_kind = SCALAR_TEXT;
    }
    return 0;
}
