/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html - writes the report as a self-contained page: page/report.html with its style, its script
 * and the JSON of the report in it. Its Content-Security-Policy allows only this style and this
 * script, and no request to any server.
 */
#define _GNU_SOURCE /* memmem */

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "k8s/util/base64.h"
#include "k8s/util/digest.h"
#include "webhook/report/report.h"

/* .cmake/Embed.cmake */
extern const unsigned char page_report_html[], page_report_css[], page_report_js[];
extern const unsigned long page_report_html_bytes, page_report_css_bytes, page_report_js_bytes;

#define PART(name) ((struct str){(const char *)page_report_##name, page_report_##name##_bytes})

static int write_text(FILE *stream, struct str text)
{
    if (fwrite(text.ptr, 1, text.len, stream) != text.len)
        return errno != 0 ? -errno : -EIO;
    return 0;
}

/* 'sha256-<base64>': allows exactly this style or script. */
static int write_hash(FILE *stream, struct str text)
{
    struct arena cleanup_arena arena = {0};
    unsigned char digest[DIGEST_BYTES];
    struct str base64 = {0};
    int r = digest_make(text, digest);

    if (r == 0)
        r = base64_encode((struct str){.ptr = (const char *)digest, .len = sizeof(digest)}, &arena,
                          &base64);
    if (r == 0 && fprintf(stream, "'sha256-%.*s'", (int)base64.len, base64.ptr) < 0)
        r = -EIO;
    return r;
}

static int write_policy(const struct report *report, FILE *stream)
{
    int r = write_text(stream, STR("default-src 'none'; base-uri 'none'; form-action 'none'; "
                                   "style-src "));

    (void)report;
    if (r == 0)
        r = write_hash(stream, PART(css));
    if (r == 0)
        r = write_text(stream, STR("; script-src "));
    return r == 0 ? write_hash(stream, PART(js)) : r;
}

static int write_style(const struct report *report, FILE *stream)
{
    (void)report;
    return write_text(stream, PART(css));
}

static int write_script(const struct report *report, FILE *stream)
{
    (void)report;
    return write_text(stream, PART(js));
}

/* The marks in the page and what replaces them, in the order of the page. */
static const struct {
    struct str mark;
    int (*write)(const struct report *report, FILE *stream);
} marks[] = {
    {STR_INIT("@POLICY@"), write_policy},
    {STR_INIT("@STYLE@"), write_style},
    {STR_INIT("@DATA@"), report_json},
    {STR_INIT("@SCRIPT@"), write_script},
};

int report_html(const struct report *report, FILE *stream)
{
    struct str rest = PART(html);

    errno = 0;
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        const char *at = memmem(rest.ptr, rest.len, marks[i].mark.ptr, marks[i].mark.len);
        struct str before = {rest.ptr, at != NULL ? (size_t)(at - rest.ptr) : 0};
        int r = 0;

        assert(at != NULL); /* the page is a part of the program */
        r = write_text(stream, before);

        if (r == 0)
            r = marks[i].write(report, stream);
        if (r != 0)
            return r;
        rest.ptr += before.len + marks[i].mark.len;
        rest.len -= before.len + marks[i].mark.len;
    }
    return write_text(stream, rest);
}
