/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_text - checks the characters of a YAML text, converts libyaml's positions to offsets, and
 * words libyaml's errors.
 */
#include <errno.h>
#include <string.h>

#include "k8s/document/yaml.h"

#define NEXT_LINE 0x85u
#define LINE_SEPARATOR 0x2028u
#define PARAGRAPH_SEPARATOR 0x2029u
#define BYTE_ORDER_MARK 0xFEFFu

int yaml_refuse(struct yaml *y, size_t offset, const char *what)
{
    *y->fault = (struct reader_fault){.offset = offset, .what = what};
    return -EBADMSG;
}

/* A directive is a line that begins with `%`, after nothing but blanks, comments and line ends. */
static int check_directive(struct yaml *y)
{
    size_t i = y->begin;

    while (i < y->end) {
        size_t line = i;

        while (i < y->end && (y->text.ptr[i] == ' ' || y->text.ptr[i] == '\t'))
            i++;
        if (i < y->end && y->text.ptr[i] == '%' && i == line)
            return yaml_refuse(y, i, "a directive: remove the line");
        if (i < y->end && y->text.ptr[i] != '#' && !text_is_line_end(y->text.ptr[i]))
            return 0;
        while (i < y->end && !text_is_line_end(y->text.ptr[i]))
            i++;
        while (i < y->end && text_is_line_end(y->text.ptr[i]))
            i++;
    }
    return 0;
}

static const char *character_fault(const struct yaml *y, uint32_t c)
{
    if (c == 0)
        return READER_WHAT_NUL;
    if (c == '\t' || c == '\n' || c == '\r')
        return NULL;
    if (c == NEXT_LINE || c == LINE_SEPARATOR || c == PARAGRAPH_SEPARATOR) {
        if (y->rules == DOCUMENT_MANIFEST)
            return NULL;
        return "U+0085, U+2028 or U+2029, which only some readers take for a line end: escape "
               "it in double quotes";
    }
    if (text_is_control(c) || c == 0xFFFE || c == 0xFFFF)
        return "a control character: escape it in double quotes";
    return NULL;
}

int yaml_check_text(struct yaml *y)
{
    size_t i = y->begin;

    while (i < y->end) {
        uint32_t c = (unsigned char)y->text.ptr[i];
        const char *what = NULL;
        size_t n = 1;

        if (c >= 0x20 && c < 0x7F) {
            i++;
            continue;
        }
        if (c >= 0x80) {
            n = str_utf8_next((struct str){y->text.ptr + i, y->end - i}, &c);
            if (n == 0)
                return yaml_refuse(y, i, READER_WHAT_UTF8);
        }
        what = character_fault(y, c);
        /* at the start of a line, libyaml skips it, and other readers make it part of the key */
        if (c == BYTE_ORDER_MARK && (i == y->begin || text_is_line_end(y->text.ptr[i - 1])))
            what = "a byte order mark inside the text";
        if (what != NULL)
            return yaml_refuse(y, i, what);
        i += n;
    }
    return check_directive(y);
}

size_t yaml_offset(struct yaml *y, size_t character)
{
    while (y->character < character && y->offset < y->end) {
        do
            y->offset++;
        while (y->offset < y->end && text_is_continuation(y->text.ptr[y->offset]));
        y->character++;
    }
    while (y->character > character && y->offset > y->begin) {
        do
            y->offset--;
        while (y->offset > y->begin && text_is_continuation(y->text.ptr[y->offset]));
        y->character--;
    }
    return y->offset;
}

int yaml_explain(struct yaml *y, const yaml_parser_t *parser)
{
    const char *problem = parser->problem != NULL ? parser->problem : "not valid YAML";
    size_t at = yaml_offset(y, parser->problem_mark.index);

    if (parser->error == YAML_MEMORY_ERROR)
        return -ENOMEM;
    if (at < y->end && y->text.ptr[at] == '\t')
        return yaml_refuse(y, at, "a tab in the indentation: use spaces");
    if (strcmp(problem, "found invalid Unicode character escape code") == 0) {
        while (at > y->begin && y->text.ptr[at] != '\\')
            at--;
        return yaml_refuse(y, at, "an escape for a surrogate, which is not a character");
    }
    if (strcmp(problem, "could not find expected ':'") == 0)
        return yaml_refuse(y, yaml_offset(y, parser->context_mark.index),
                           "a colon is missing after the key");
    if (strcmp(problem, "did not find expected <document start>") == 0)
        problem = "trailing content after the document";
    /* libyaml's problems are static texts and contain nothing of the input */
    return yaml_refuse(y, at, problem);
}

/* Whether the escape whose backslash is at i encodes NUL. */
static bool is_nul_escape(const struct yaml *y, size_t i)
{
    char letter = y->text.ptr[i + 1];
    size_t digits = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;

    for (size_t k = 0; k < digits; k++) {
        if (i + 2 + k >= y->end || y->text.ptr[i + 2 + k] != '0')
            return false;
    }
    return digits > 0 || letter == '0';
}

size_t yaml_find_nul(const struct yaml *y, size_t offset)
{
    for (size_t i = offset; i + 1 < y->end; i++) {
        if (y->text.ptr[i] != '\\')
            continue;
        if (is_nul_escape(y, i))
            return i;
        i++;
    }
    return offset;
}
