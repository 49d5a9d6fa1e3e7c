/* SPDX-License-Identifier: Apache-2.0 */
/* head - reads Content-Length, Transfer-Encoding, Content-Type, Content-Encoding and Accept, and
 * the query parameter timeout. See head.h. */

#include "webhook/server/head.h"

#define MSEC_PER_SEC 1000
#define MAX_TIMEOUT_DIGITS 9
#define MAX_FRACTION_DIGITS 3

/* Takes the part up to the delimiter, or all, off the front of *rest. */
static struct str cut(struct str *rest, char at)
{
    const char *found = rest->len > 0 ? memchr(rest->ptr, at, rest->len) : NULL;
    size_t n = found != NULL ? (size_t)(found - rest->ptr) : rest->len;
    struct str part = {.ptr = rest->ptr, .len = n};
    size_t skipped = found != NULL ? n + 1 : n;

    rest->ptr += skipped;
    rest->len -= skipped;
    return str_trim(part);
}

static enum document_syntax syntax_of(struct str type)
{
    if (str_equal_ascii_nocase(type, STR("application/json")))
        return DOCUMENT_JSON;
    if (str_equal_ascii_nocase(type, STR("application/yaml")) ||
        str_equal_ascii_nocase(type, STR("application/x-yaml")) ||
        str_equal_ascii_nocase(type, STR("text/yaml")))
        return DOCUMENT_YAML;
    return 0;
}

/* `q=0`, `q=0.0`: the client names the type in order to refuse it. */
static bool is_refused(struct str parameters)
{
    while (parameters.len > 0) {
        struct str parameter = cut(&parameters, ';');

        if (!str_starts_with_ascii_nocase(parameter, STR("q=0")))
            continue;
        for (size_t i = 3; i < parameter.len; i++)
            if (parameter.ptr[i] != '0' && parameter.ptr[i] != '.')
                return false;
        return true;
    }
    return false;
}

static void add_accept(struct head *head, struct str value)
{
    while (value.len > 0) {
        struct str range = cut(&value, ',');
        enum document_syntax syntax = syntax_of(cut(&range, ';'));

        if (is_refused(range))
            continue;
        head->accepts_json |= syntax == DOCUMENT_JSON;
        head->accepts_yaml |= syntax == DOCUMENT_YAML;
    }
}

/* A token of RFC 9110. With any other byte, a proxy in front of the gate can have read another
 * field there. */
static bool is_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] <= ' ' || name.ptr[i] > '~' ||
            strchr("\"(),/:;<=>?@[\\]{}", name.ptr[i]) != NULL)
            return false;
    }
    return name.len > 0;
}

static bool is_value(struct str value)
{
    for (size_t i = 0; i < value.len; i++) {
        if (((unsigned char)value.ptr[i] < ' ' && value.ptr[i] != '\t') || value.ptr[i] == '\x7f')
            return false;
    }
    return true;
}

/* libmicrohttpd joins the name of a field with the line that continues it where the value is empty:
 * `Transfer-Encoding:`, line end, ` chunked` arrives as one long name. */
static bool is_continued(struct str name, struct str field)
{
    return name.len > field.len && str_starts_with_ascii_nocase(name, field);
}

void head_add(struct head *head, struct str name, struct str value)
{
    head->malformed |= !is_name(name) || !is_value(value) ||
                       is_continued(name, STR("transfer-encoding")) ||
                       is_continued(name, STR("content-length"));
    if (str_equal_ascii_nocase(name, STR("content-length"))) {
        head->lengths++;
        head->length_read =
            text_read_number(str_trim(value), 0, UINT64_MAX / 2, &head->length_bytes);
    } else if (str_equal_ascii_nocase(name, STR("transfer-encoding"))) {
        head->transfers++;
        head->chunked = str_equal_ascii_nocase(str_trim(value), STR("chunked"));
    } else if (str_equal_ascii_nocase(name, STR("content-type"))) {
        head->types++;
        head->type = value;
    } else if (str_equal_ascii_nocase(name, STR("content-encoding"))) {
        head->encoded |= !str_equal_ascii_nocase(str_trim(value), STR("identity"));
    } else if (str_equal_ascii_nocase(name, STR("accept"))) {
        add_accept(head, value);
    } else if (str_equal_ascii_nocase(name, STR("host"))) {
        head->malformed |= head->hosts > 0;
        head->hosts++;
    }
}

bool head_is_framed_twice(const struct head *head)
{
    return head->malformed || head->lengths + head->transfers > 1 ||
           (head->transfers > 0 && head->old) || (head->transfers == 1 && !head->chunked) ||
           (head->lengths == 1 && !head->length_read);
}

enum document_syntax head_syntax(const struct head *head)
{
    struct str rest = head->type;

    return head->types == 1 ? syntax_of(cut(&rest, ';')) : 0;
}

enum answer_format head_format(const struct head *head)
{
    return head->accepts_yaml && !head->accepts_json ? ANSWER_YAML : ANSWER_JSON;
}

/* The unit at the beginning of s, in microseconds; nanoseconds count as 0. Returns its length. */
static size_t read_unit(struct str s, uint64_t *ret_usec)
{
    static const struct {
        struct str name;
        uint64_t usec;
    } units[] = {
        {{"ms", 2}, 1000},
        {{"us", 2}, 1},
        {{"\xc2\xb5s", 3}, 1},
        {{"ns", 2}, 0},
        {{"s", 1}, 1000000},
        {{"m", 1}, 60 * UINT64_C(1000000)},
        {{"h", 1}, 3600 * UINT64_C(1000000)},
    };

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (str_starts_with(s, units[i].name)) {
            *ret_usec = units[i].usec;
            return units[i].name.len;
        }
    return 0;
}

static size_t count_digits(struct str s)
{
    size_t n = 0;

    while (n < s.len && s.ptr[n] >= '0' && s.ptr[n] <= '9')
        n++;
    return n;
}

/* One number with its unit; of a fraction, three digits count. Returns its length, 0 on failure. */
static size_t read_term(struct str s, uint64_t *ret_usec)
{
    size_t whole = count_digits(s), at = whole, unit = 0;
    uint64_t value = 0, scale = 1, usec = 0;

    if (whole == 0 || whole > MAX_TIMEOUT_DIGITS)
        return 0;
    for (size_t i = 0; i < whole; i++)
        value = value * 10 + (uint64_t)(s.ptr[i] - '0');
    if (at < s.len && s.ptr[at] == '.') {
        struct str fraction = {.ptr = s.ptr + at + 1, .len = s.len - at - 1};
        size_t digits = count_digits(fraction);

        for (size_t i = 0; i < digits && i < MAX_FRACTION_DIGITS; i++) {
            value = value * 10 + (uint64_t)(fraction.ptr[i] - '0');
            scale *= 10;
        }
        at += 1 + digits;
    }
    unit = read_unit((struct str){.ptr = s.ptr + at, .len = s.len - at}, &usec);
    *ret_usec = value * usec / scale;
    return unit > 0 ? at + unit : 0;
}

uint64_t head_timeout_msec(struct str value)
{
    uint64_t sum_usec = 0, msec = 0;

    while (value.len > 0) {
        uint64_t usec = 0;
        size_t n = read_term(value, &usec);

        if (n == 0)
            return HEAD_DEFAULT_TIMEOUT_MSEC;
        value.ptr += n;
        value.len -= n;
        sum_usec += usec;
        if (sum_usec > HEAD_MAX_TIMEOUT_MSEC * UINT64_C(1000))
            return HEAD_MAX_TIMEOUT_MSEC;
    }
    msec = sum_usec / MSEC_PER_SEC;
    return msec > 0 ? msec : HEAD_DEFAULT_TIMEOUT_MSEC;
}
