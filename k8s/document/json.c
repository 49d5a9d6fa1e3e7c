/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json - the reader of JSON: one pass over the text, without recursion.
 *
 * Strict: RFC 8259, valid UTF-8, no duplicate keys, a limit of depth. The decision path reads every
 * review with it, so it copies nothing that does not become a node.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "k8s/document/builder.h"
#include "k8s/document/json_skip.h"
#include "k8s/document/json_text.h"
#include "k8s/document/keys.h"
#include "k8s/document/reader.h"

#define WHAT_ENDS "the text ends inside a JSON value"

/* What must come next. */
enum json_expect {
    JSON_VALUE,
    JSON_FIRST_ITEM, /* or the end of the list */
    JSON_FIRST_KEY,  /* or the end of the object */
    JSON_KEY,
    JSON_NEXT, /* a comma, or the end of the open object or list */
    JSON_END,
};

struct json {
    const char *begin, *p, *end; /* p: the next byte */
    bool nul_allowed;
    bool rest_unchecked;
    const char *what; /* after -EBADMSG: the reason; p is its place */
    struct builder builder;
    struct keys keys;
};

/* A checked string: the text between its quotes. */
struct json_string {
    struct str raw;
    bool escaped;
};

static int refuse(struct json *j, const char *p, const char *what)
{
    j->p = p;
    j->what = what;
    return -EBADMSG;
}

static uint32_t offset_of(const struct json *j, const char *p)
{
    return (uint32_t)(p - j->begin);
}

/* What is left of the text. */
static struct str rest_of(const struct json *j)
{
    return (struct str){j->p, (size_t)(j->end - j->p)};
}

static void skip_blanks(struct json *j)
{
    j->p += json_skip_blanks(rest_of(j), 0);
}

static bool is_simple_escape(char letter)
{
    switch (letter) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return true;
    default:
        return false;
    }
}

/* Checks the escape whose backslash is at p. */
static int scan_escape(struct json *j, const char *p)
{
    size_t left = (size_t)(j->end - p);
    uint32_t high = 0, low = 0;

    if (left < 2)
        return refuse(j, j->end, "the text ends inside a string");
    j->p = p + 2;
    if (p[1] != 'u')
        return is_simple_escape(p[1]) ? 0 : refuse(j, p, "not a JSON escape");
    if (left < 6 || !json_text_hex4(p + 2, &high))
        return refuse(j, p, "\\u needs four hex digits");
    j->p = p + 6;
    if (high == 0 && !j->nul_allowed)
        return refuse(j, p, READER_WHAT_NUL);
    if (high < 0xD800 || high > 0xDFFF)
        return 0;
    if (high > 0xDBFF || left < 12 || p[6] != '\\' || p[7] != 'u' || !json_text_hex4(p + 8, &low) ||
        low < 0xDC00 || low > 0xDFFF)
        return refuse(j, p, "a surrogate without its other half");
    j->p = p + 12;
    return 0;
}

/* Checks the characters of more than one byte from p on. */
static int scan_characters(struct json *j, const char *p)
{
    while (p < j->end && (signed char)*p < 0) {
        uint32_t character = 0;
        size_t n = str_utf8_next((struct str){p, (size_t)(j->end - p)}, &character);

        if (n == 0)
            return refuse(j, p, READER_WHAT_UTF8);
        p += n;
    }
    j->p = p;
    return 0;
}

/* Checks the string whose opening quote is at j->p, and moves j->p after its closing one. */
static int scan_string(struct json *j, struct json_string *ret_string)
{
    const char *text = j->p + 1;
    bool escaped = false;

    j->p = text;
    for (;;) {
        const char *p = json_text_skip_plain(j->p, j->end);
        int r = 0;

        if (p == j->end)
            return refuse(j, p, "the text ends inside a string");
        if (*p == '"') {
            *ret_string = (struct json_string){{text, (size_t)(p - text)}, escaped};
            j->p = p + 1;
            return 0;
        }
        if (*p == '\\') {
            escaped = true;
            r = scan_escape(j, p);
        } else if ((signed char)*p < 0) {
            r = scan_characters(j, p);
        } else {
            r = refuse(j, p, "a control character must be escaped in a JSON string");
        }
        if (r < 0)
            return r;
    }
}

static int read_string(struct json *j)
{
    uint32_t offset = offset_of(j, j->p);
    struct json_string s;
    char *text = NULL;
    int r = scan_string(j, &s);

    if (r < 0)
        return r;
    builder_text(&j->builder, cJSON_String, s.raw, s.escaped);
    if (!builder_keeps(&j->builder))
        return 0;
    if (builder_keeps_text(&j->builder)) {
        text = json_text_decode(j->builder.arena, s.raw, s.escaped);
        if (text == NULL)
            return -ENOMEM;
    }
    return builder_scalar(&j->builder, cJSON_String, text, 0, offset);
}

static int read_number(struct json *j)
{
    const char *p = j->p;
    struct str rest = rest_of(j);
    double number = 0;
    int r = 0;

    rest.len = json_number_length(rest);
    if (rest.len == 0)
        return refuse(j, p, "not a JSON number");
    j->p += rest.len;
    if (j->p < j->end && memchr("+-.0123456789eE", *j->p, 15) != NULL)
        return refuse(j, p, "not a JSON number");
    builder_text(&j->builder, cJSON_Number, rest, false);
    if (!builder_keeps(&j->builder))
        return 0;
    r = json_number(rest, j->builder.arena, &number);
    return r < 0 ? r : builder_scalar(&j->builder, cJSON_Number, NULL, number, offset_of(j, p));
}

static int read_word(struct json *j, struct str word, int type)
{
    struct str rest = rest_of(j);
    uint32_t offset = offset_of(j, j->p);

    if (!str_starts_with(rest, word))
        return refuse(j, j->p, "not a JSON value");
    j->p += word.len;
    builder_text(&j->builder, type, STR(""), false);
    return builder_scalar(&j->builder, type, NULL, 0, offset);
}

static int read_open(struct json *j, bool is_list)
{
    int r = 0;

    assert(j->builder.depth <= DOCUMENT_MAX_DEPTH);
    if (j->builder.depth == DOCUMENT_MAX_DEPTH)
        return refuse(j, j->p, READER_WHAT_DEPTH);
    r = builder_open(&j->builder, is_list, offset_of(j, j->p));
    if (r == 0 && !is_list)
        keys_open(&j->keys);
    j->p++;
    return r;
}

/* Skips the object or list at p, however deep and whatever its keys. */
static int skip_unchecked(struct json *j)
{
    size_t length = 0;

    if (!json_skip_value(rest_of(j), &length))
        return refuse(j, j->end, WHAT_ENDS);
    j->p += length;
    return 0;
}

/* The value at p. *ret_expect: what must come after it, or first in it. */
static int read_value(struct json *j, enum json_expect *ret_expect)
{
    *ret_expect = JSON_NEXT;
    if (j->rest_unchecked && !builder_needs(&j->builder) && (*j->p == '{' || *j->p == '['))
        return skip_unchecked(j);
    switch (*j->p) {
    case '{':
        *ret_expect = JSON_FIRST_KEY;
        return read_open(j, false);
    case '[':
        *ret_expect = JSON_FIRST_ITEM;
        return read_open(j, true);
    case '"':
        return read_string(j);
    case 't':
        return read_word(j, STR("true"), cJSON_True);
    case 'f':
        return read_word(j, STR("false"), cJSON_False);
    case 'n':
        return read_word(j, STR("null"), cJSON_NULL);
    default:
        if (*j->p == '-' || text_is_digit(*j->p))
            return read_number(j);
        return refuse(j, j->p, "not a JSON value");
    }
}

static int read_key(struct json *j, enum json_expect *ret_expect)
{
    const char *quote = j->p;
    struct json_string s;
    bool twice = false;
    char *name = NULL;
    int r = 0;

    if (*quote != '"')
        return refuse(j, quote, "expected a key in double quotes");
    r = scan_string(j, &s);
    if (r < 0)
        return r;
    r = keys_add(&j->keys, (struct key){offset_of(j, quote + 1), (uint32_t)s.raw.len, s.escaped},
                 &twice);
    if (r < 0)
        return r;
    if (twice)
        return refuse(j, quote, READER_WHAT_TWICE);
    builder_key(&j->builder, s.raw, s.escaped, offset_of(j, quote));
    if (builder_lacks_name(&j->builder)) {
        name = json_text_decode(j->builder.arena, s.raw, s.escaped);
        if (name == NULL)
            return -ENOMEM;
        builder_name(&j->builder, name);
    }
    skip_blanks(j);
    if (j->p == j->end || *j->p != ':')
        return refuse(j, j->p, "a colon is missing after the key");
    j->p++;
    *ret_expect = JSON_VALUE;
    return 0;
}

static int read_close(struct json *j, enum json_expect *ret_expect)
{
    if (!j->builder.levels[j->builder.depth - 1].is_list)
        keys_close(&j->keys);
    builder_close(&j->builder);
    j->p++;
    *ret_expect = j->builder.depth > 0 ? JSON_NEXT : JSON_END;
    return 0;
}

/* After a value in an object or list. */
static int read_next(struct json *j, enum json_expect *ret_expect)
{
    bool is_list = j->builder.levels[j->builder.depth - 1].is_list;

    assert(j->builder.depth > 0 && j->p < j->end);
    if (*j->p == (is_list ? ']' : '}'))
        return read_close(j, ret_expect);
    if (*j->p != ',')
        return refuse(j, j->p, is_list ? "a comma or `]` is missing" : "a comma or `}` is missing");
    j->p++;
    if (is_list)
        builder_item(&j->builder);
    *ret_expect = is_list ? JSON_VALUE : JSON_KEY;
    return 0;
}

static int read_part(struct json *j, enum json_expect *expect)
{
    switch (*expect) {
    case JSON_FIRST_ITEM:
        if (*j->p == ']')
            return read_close(j, expect);
        builder_item(&j->builder);
        return read_value(j, expect);
    case JSON_VALUE:
        return read_value(j, expect);
    case JSON_FIRST_KEY:
        if (*j->p == '}')
            return read_close(j, expect);
        return read_key(j, expect);
    case JSON_KEY:
        return read_key(j, expect);
    case JSON_NEXT:
    case JSON_END:
        break;
    }
    return read_next(j, expect);
}

static int read_document(struct json *j)
{
    enum json_expect expect = JSON_VALUE;

    while (expect != JSON_END) {
        int r = 0;

        skip_blanks(j);
        if (j->p == j->end)
            return refuse(j, j->p, WHAT_ENDS);
        r = read_part(j, &expect);
        if (r < 0)
            return r;
        if (expect == JSON_NEXT && j->builder.depth == 0)
            expect = JSON_END;
    }
    return 0;
}

int json_read(struct str text, size_t offset, const struct document_options *options,
              struct arena *arena, cJSON **ret_tree, size_t *ret_end, struct reader_fault *reterr)
{
    struct json j;
    int r = 0;

    j.begin = text.ptr;
    j.p = text.ptr + offset;
    j.end = text.ptr + text.len;
    j.nul_allowed = options->rules != DOCUMENT_OWN;
    j.rest_unchecked = options->rest_unchecked;
    j.what = NULL;
    builder_init(&j.builder, options, arena);
    keys_init(&j.keys, text, text.len, arena);
    r = read_document(&j);
    if (r == -EBADMSG)
        *reterr = (struct reader_fault){.offset = (size_t)(j.p - j.begin), .what = j.what};
    if (r < 0)
        return r;
    *ret_tree = j.builder.root;
    *ret_end = (size_t)(j.p - j.begin);
    return 0;
}
