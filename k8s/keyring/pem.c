/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/keyring/pem.h"

#define PEM_MARKER_BEGIN "-----BEGIN "
#define PEM_MARKER_END "-----END "

enum line_kind {
    LINE_OTHER = 0,
    LINE_BEGIN,
    LINE_END,
    LINE_PRIVATE,     /* begins a private key */
    LINE_CERTIFICATE, /* begins a certificate */
    LINE_FOREIGN,     /* begins or ends another block, or holds a marker and more */
};

struct pem_scan pem_scan_make(struct str text)
{
    const struct str mark = STR("\xef\xbb\xbf");

    if (str_starts_with(text, mark))
        text = (struct str){.ptr = text.ptr + mark.len, .len = text.len - mark.len};
    return (struct pem_scan){.rest = text};
}

/* The next line without its end, which is LF, CRLF or CR. */
static bool pem_take_line(struct pem_scan *scan, struct str *ret_line)
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

static enum line_kind pem_line_kind(struct str line)
{
    struct str trimmed = str_trim(line);

    if (str_equal(trimmed, STR("-----BEGIN PUBLIC KEY-----")))
        return LINE_BEGIN;
    if (str_equal(trimmed, STR("-----END PUBLIC KEY-----")))
        return LINE_END;
    if (!str_contains(line, STR(PEM_MARKER_BEGIN)) && !str_contains(line, STR(PEM_MARKER_END)))
        return LINE_OTHER;
    if (str_contains(line, STR("PRIVATE KEY-----")))
        return LINE_PRIVATE;
    if (str_contains(line, STR("CERTIFICATE-----")))
        return LINE_CERTIFICATE;
    return LINE_FOREIGN;
}

static void pem_problem(const struct pem_scan *scan, enum line_kind kind, struct pem_item *ret_item)
{
    const char *what =
        "a block or line that is no PUBLIC KEY block on lines of its own; take it out";

    if (kind == LINE_PRIVATE)
        what = "a private key; take it out and count that key as lost";
    else if (kind == LINE_CERTIFICATE)
        what = "a certificate; put its public key there instead";
    else if (kind == LINE_END)
        what = "an END line without a BEGIN line; write the file again";
    *ret_item = (struct pem_item){.line = scan->line, .what = what};
}

/* From the line behind BEGIN to the END line. A marker of another kind ends the block too: its
 * line is given back, to be met again. */
static enum pem_result pem_body(struct pem_scan *scan, size_t begin_line, struct pem_item *ret_item)
{
    const char *from = scan->rest.ptr;
    struct pem_scan before = *scan;
    struct str line = {0};

    while (pem_take_line(scan, &line)) {
        enum line_kind kind = pem_line_kind(line);

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
    *ret_item =
        (struct pem_item){.line = begin_line,
                          .what = "a PUBLIC KEY block without its END line; write the file again"};
    return PEM_PROBLEM;
}

/* Over a block of another label, so that it is one problem and not two. */
static void pem_skip_foreign(struct pem_scan *scan)
{
    struct pem_scan before = *scan;
    struct str line = {0};

    while (pem_take_line(scan, &line)) {
        enum line_kind kind = pem_line_kind(line);

        if (kind == LINE_OTHER) {
            before = *scan;
            continue;
        }
        if (kind == LINE_BEGIN || kind == LINE_END || str_contains(line, STR(PEM_MARKER_BEGIN)))
            *scan = before;
        return;
    }
}

enum pem_result pem_next(struct pem_scan *scan, struct pem_item *ret_item)
{
    struct str line = {0};

    while (pem_take_line(scan, &line)) {
        enum line_kind kind = pem_line_kind(line);

        if (kind == LINE_BEGIN)
            return pem_body(scan, scan->line, ret_item);
        if (kind == LINE_OTHER)
            continue;
        pem_problem(scan, kind, ret_item);
        if (kind != LINE_END)
            pem_skip_foreign(scan);
        return PEM_PROBLEM;
    }
    return PEM_END;
}
