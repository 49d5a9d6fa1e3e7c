/* SPDX-License-Identifier: Apache-2.0 */
/*
 * body - writes an AdmissionReview as JSON, or as YAML in block style.
 *
 * Written directly, without a tree: a response is small, its form is fixed, and every request needs
 * one.
 */

#include "webhook/answer/internal.h"

#include <errno.h>

/* Limit of everything but the uid: annotations and message, escaped, and the text around them. */
#define MAX_BODY_BYTES ((size_t)1 << 20)
#define MAX_BYTES_PER_BYTE 6 /* an escape, as \u0000 */

static struct buffer body_buffer(const struct answer_response *r, struct arena *arena)
{
    return buffer_make(arena, MAX_BODY_BYTES + r->uid.len * MAX_BYTES_PER_BYTE);
}

static int finish(struct buffer *b, struct str *ret_body)
{
    struct str body = buffer_text(b);

    if (!str_present(body))
        return -ENOMEM;
    *ret_body = body;
    return 0;
}

static void add_key(struct buffer *b, const char *key)
{
    buffer_add_format(b, "\"%s\":", key);
}

static void add_status_json(struct buffer *b, const struct answer_response *r)
{
    buffer_add_format(b, ",\"status\":{\"code\":%d,\"reason\":\"%s\",\"message\":", r->code,
                      r->reason);
    buffer_add_json(b, r->message);
    if (r->retry_after_sec > 0)
        buffer_add_format(b, ",\"details\":{\"retryAfterSeconds\":%d}", r->retry_after_sec);
    buffer_add_char(b, '}');
}

int answer_write_json(const struct answer_response *r, struct arena *arena, struct str *ret_body)
{
    struct buffer b = body_buffer(r, arena);

    buffer_add(&b, STR("{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\","
                       "\"response\":{\"uid\":"));
    buffer_add_json(&b, r->uid);
    buffer_add(&b, r->allowed ? STR(",\"allowed\":true") : STR(",\"allowed\":false"));
    if (!r->allowed)
        add_status_json(&b, r);
    for (size_t i = 0; i < r->warning_count; i++) {
        buffer_add(&b, i == 0 ? STR(",\"warnings\":[") : STR(","));
        buffer_add_json(&b, r->warnings[i]);
    }
    if (r->warning_count > 0)
        buffer_add_char(&b, ']');
    for (size_t i = 0; i < r->pair_count; i++) {
        buffer_add(&b, i == 0 ? STR(",\"auditAnnotations\":{") : STR(","));
        add_key(&b, r->pairs[i].key);
        buffer_add_json(&b, r->pairs[i].value);
    }
    if (r->pair_count > 0)
        buffer_add_char(&b, '}');
    buffer_add(&b, STR("}}"));
    return finish(&b, ret_body);
}

/* Characters that a JSON string can contain as they are, but that YAML does not allow, or reads
 * differently, in double quotes. */
static bool needs_escape_in_yaml(uint32_t c)
{
    return (c >= 0x7f && c <= 0x9f) || c == 0x2028 || c == 0x2029 || c == 0xfeff || c == 0xfffe ||
           c == 0xffff;
}

/* A double-quoted scalar: a JSON string with some more escapes. */
static void add_yaml_text(struct buffer *b, struct str s, struct arena *arena)
{
    struct buffer json = buffer_make(arena, s.len * MAX_BYTES_PER_BYTE + 2);
    struct str text = {0};
    size_t copied = 0;

    buffer_add_json(&json, s);
    text = buffer_text(&json);
    if (!str_present(text)) {
        b->error = json.error;
        return;
    }
    for (size_t i = 0; i < text.len;) {
        uint32_t c = 0;
        size_t n = str_utf8_next((struct str){.ptr = text.ptr + i, .len = text.len - i}, &c);

        if (n == 0)
            break;
        if (needs_escape_in_yaml(c)) {
            buffer_add(b, (struct str){.ptr = text.ptr + copied, .len = i - copied});
            buffer_add_format(b, "\\u%04x", (unsigned)c);
            copied = i + n;
        }
        i += n;
    }
    buffer_add(b, (struct str){.ptr = text.ptr + copied, .len = text.len - copied});
}

static void add_yaml_line(struct buffer *b, const char *indented_key, struct str value,
                          struct arena *arena)
{
    buffer_add(b, str_of(indented_key));
    buffer_add(b, STR(": "));
    add_yaml_text(b, value, arena);
    buffer_add_char(b, '\n');
}

static void add_status_yaml(struct buffer *b, const struct answer_response *r, struct arena *arena)
{
    buffer_add_format(b, "  status:\n    code: %d\n    reason: %s\n", r->code, r->reason);
    add_yaml_line(b, "    message", r->message, arena);
    if (r->retry_after_sec > 0)
        buffer_add_format(b, "    details:\n      retryAfterSeconds: %d\n", r->retry_after_sec);
}

int answer_write_yaml(const struct answer_response *r, struct arena *arena, struct str *ret_body)
{
    struct buffer b = body_buffer(r, arena);

    buffer_add(&b, STR("apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nresponse:\n"));
    add_yaml_line(&b, "  uid", r->uid, arena);
    buffer_add_format(&b, "  allowed: %s\n", r->allowed ? "true" : "false");
    if (!r->allowed)
        add_status_yaml(&b, r, arena);
    for (size_t i = 0; i < r->warning_count; i++) {
        if (i == 0)
            buffer_add(&b, STR("  warnings:\n"));
        buffer_add(&b, STR("  - "));
        add_yaml_text(&b, r->warnings[i], arena);
        buffer_add_char(&b, '\n');
    }
    for (size_t i = 0; i < r->pair_count; i++) {
        if (i == 0)
            buffer_add(&b, STR("  auditAnnotations:\n"));
        buffer_add(&b, STR("    "));
        add_yaml_line(&b, r->pairs[i].key, r->pairs[i].value, arena);
    }
    return finish(&b, ret_body);
}
