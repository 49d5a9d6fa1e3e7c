/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pem - finds the PUBLIC KEY blocks in the text of a key file.
 *
 * Not GnuTLS's PEM reader: that one skips what it does not know, and a private key or a certificate
 * among public keys must be reported.
 */
#include "k8s/keyring/pem.h"

#define MARKER_BEGIN "-----BEGIN "
#define MARKER_END "-----END "

enum line_kind {
    LINE_OTHER = 0,
    LINE_BEGIN,
    LINE_END,
    LINE_PRIVATE,     /* the BEGIN line of a private key */
    LINE_CERTIFICATE, /* the BEGIN line of a certificate */
    LINE_FOREIGN,     /* a marker of another block, or a marker and more on one line */
};

struct pem_scan pem_scan_make(struct str text)
{
    const struct str mark = STR("\xef\xbb\xbf");

    if (str_starts_with(text, mark))
        text = (struct str){.ptr = text.ptr + mark.len, .len = text.len - mark.len};
    return (struct pem_scan){.rest = text};
}

/* The next line, without the line end (LF, CRLF or CR). */
static bool take_line(struct pem_scan *scan, struct str *ret_line)
{
    size_t len = 0;
    size_t end = 0;

    if (scan->rest.len == 0)
        return false;
    while (len < scan->rest.len && scan->rest.ptr[len] != '\n' && scan->rest.ptr[len] != '\r')
        len++;
    end = len;
    if (end < scan->rest.len)
        end += scan->rest.ptr[end] == '\r' && end + 1 < scan->rest.len &&
                       scan->rest.ptr[end + 1] == '\n'
                   ? 2
                   : 1;
    *ret_line = (struct str){.ptr = scan->rest.ptr, .len = len};
    scan->rest = (struct str){.ptr = scan->rest.ptr + end, .len = scan->rest.len - end};
    scan->line++;
    return true;
}

static enum line_kind kind_of(struct str line)
{
    struct str trimmed = str_trim(line);

    if (str_equal(trimmed, STR("-----BEGIN PUBLIC KEY-----")))
        return LINE_BEGIN;
    if (str_equal(trimmed, STR("-----END PUBLIC KEY-----")))
        return LINE_END;
    if (!str_contains(line, STR(MARKER_BEGIN)) && !str_contains(line, STR(MARKER_END)))
        return LINE_OTHER;
    if (str_contains(line, STR("PRIVATE KEY-----")))
        return LINE_PRIVATE;
    if (str_contains(line, STR("CERTIFICATE-----")))
        return LINE_CERTIFICATE;
    return LINE_FOREIGN;
}

static void set_problem(const struct pem_scan *scan, enum line_kind kind, struct pem_item *ret_item)
{
    const char *what =
        "not a PUBLIC KEY block with its BEGIN and END on lines of their own; remove it";

    if (kind == LINE_PRIVATE)
        what = "a private key; remove it and treat that key as compromised";
    else if (kind == LINE_CERTIFICATE)
        what = "a certificate; replace it by its public key";
    else if (kind == LINE_END)
        what = "an END line without a BEGIN line; export the key again";
    *ret_item = (struct pem_item){.line = scan->line, .what = what};
}

/* Reads from the line after BEGIN to the END line. A marker of another kind also ends the block;
 * the scan then goes on with the line of that marker. */
static enum pem_result read_body(struct pem_scan *scan, size_t begin_line,
                                 struct pem_item *ret_item)
{
    const char *from = scan->rest.ptr;
    struct pem_scan before = *scan;
    struct str line = {0};

    while (take_line(scan, &line)) {
        enum line_kind kind = kind_of(line);

        if (kind == LINE_END) {
            *ret_item = (struct pem_item){
                .line = begin_line,
                .body = {.ptr = from, .len = (size_t)(line.ptr - from)},
            };
            return PEM_BLOCK;
        }
        if (kind != LINE_OTHER) {
            *scan = before;
            break;
        }
        before = *scan;
    }
    *ret_item = (struct pem_item){
        .line = begin_line, .what = "a PUBLIC KEY block without an END line; export the key again"};
    return PEM_PROBLEM;
}

/* Skips to the end of a block with another label, so that it is one problem and not two. */
static void skip_foreign(struct pem_scan *scan)
{
    struct pem_scan before = *scan;
    struct str line = {0};

    while (take_line(scan, &line)) {
        enum line_kind kind = kind_of(line);

        if (kind == LINE_OTHER) {
            before = *scan;
            continue;
        }
        if (kind == LINE_BEGIN || kind == LINE_END || str_contains(line, STR(MARKER_BEGIN)))
            *scan = before;
        return;
    }
}

enum pem_result pem_next(struct pem_scan *scan, struct pem_item *ret_item)
{
    struct str line = {0};

    while (take_line(scan, &line)) {
        enum line_kind kind = kind_of(line);

        if (kind == LINE_BEGIN)
            return read_body(scan, scan->line, ret_item);
        if (kind == LINE_OTHER)
            continue;
        set_problem(scan, kind, ret_item);
        if (kind != LINE_END)
            skip_foreign(scan);
        return PEM_PROBLEM;
    }
    return PEM_END;
}
