/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotations - writes the audit annotations of a decision within their limits (gate-v1, section
 * 7).
 */

#include "webhook/answer/internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "k8s/util/digest.h"

#define MAX_CODES ((size_t)GATE_CODE_COUNT + PLAN_CODE_COUNT)
#define MAX_VIOLATIONS_BYTES (MAX_CODES * 64)
#define MAX_BYTES_PER_BYTE 6 /* an escape, as \u0000 */
#define MAX_EVIDENCE_BYTES (ANSWER_MAX_ANNOTATIONS_BYTES * 2)

static void add_pair(struct answer_response *response, const char *key, struct str value)
{
    assert(response->pair_count < ANSWER_MAX_PAIRS);
    response->pairs[response->pair_count++] = (struct answer_pair){.key = key, .value = value};
}

static void drop_pair(struct answer_response *response, const char *key)
{
    size_t kept = 0;

    for (size_t i = 0; i < response->pair_count; i++) {
        if (strcmp(response->pairs[i].key, key) != 0)
            response->pairs[kept++] = response->pairs[i];
    }
    response->pair_count = kept;
}

static bool all_fit(const struct answer_response *response)
{
    size_t left = ANSWER_MAX_ANNOTATIONS_BYTES;
    size_t unescaped = 0;

    for (size_t i = 0; i < response->pair_count; i++)
        unescaped += response->pairs[i].value.len;
    if (unescaped <= left / MAX_BYTES_PER_BYTE)
        return true; /* fits whatever has to be escaped */
    for (size_t i = 0; i < response->pair_count; i++) {
        size_t size = buffer_audit_size(response->pairs[i].value);

        if (size > left)
            return false;
        left -= size;
    }
    return true;
}

static int annotate_plan(const struct decision *d, struct arena *arena,
                         struct answer_response *response)
{
    struct str packet = {0}, digest = {0}, input = {0};
    int r = plan_packet_fit(&d->plan, ANSWER_MAX_PACKET_BYTES, arena, &packet);

    if (r == 0)
        r = digest_make_text(d->plan.packet, arena, &digest);
    if (r == 0)
        r = plan_input_write(d->plan_input, arena, &input);
    if (r < 0)
        return r;
    add_pair(response, "packet", packet);
    add_pair(response, "packet-sha256", digest);
    if (!str_equal(packet, d->plan.packet))
        add_pair(response, "packet-truncated", STR("true"));
    if (buffer_audit_fits(input, ANSWER_MAX_INPUT_BYTES))
        add_pair(response, "input", input);
    return 0;
}

/* One finding as JSON. */
static int write_finding(const struct gate_finding *f, struct arena *arena, struct str *ret_text)
{
    struct buffer b = buffer_make(arena, SIZE_MAX / 2);
    struct str text = {0};

    buffer_add(&b, STR("{\"code\":"));
    buffer_add_json(&b, str_of(gate_code_text(f->code)));
    buffer_add(&b, STR(",\"message\":"));
    buffer_add_json(&b, f->message);
    buffer_add(&b, STR(",\"place\":"));
    buffer_add_json(&b, f->place);
    buffer_add_char(&b, '}');
    text = buffer_text(&b);
    if (!str_present(text))
        return -ENOMEM;
    *ret_text = text;
    return 0;
}

/* As many complete findings as fit, from the first. */
static int annotate_findings(const struct decision *d, struct arena *arena,
                             struct answer_response *response)
{
    struct buffer b = buffer_make(arena, ANSWER_MAX_FINDINGS_BYTES);
    struct str text = {0};
    size_t size = 2; /* the brackets */

    if (d->finding_count == 0)
        return 0;
    buffer_add_char(&b, '[');
    for (size_t i = 0; i < d->finding_count; i++) {
        int r = write_finding(&d->findings[i], arena, &text);

        if (r < 0)
            return r;
        size += buffer_audit_size(text) + (i > 0 ? 1 : 0);
        if (size > ANSWER_MAX_FINDINGS_BYTES)
            break;
        if (i > 0)
            buffer_add_char(&b, ',');
        buffer_add(&b, text);
    }
    buffer_add_char(&b, ']');
    text = buffer_text(&b);
    if (!str_present(text))
        return -ENOMEM;
    add_pair(response, "findings", text);
    return 0;
}

static int annotate_boundary(const struct decision *d, struct arena *arena,
                             struct answer_response *response)
{
    struct str text = {0};
    int r = boundary_write(&d->boundary, arena, &text);

    if (r == 0)
        add_pair(response, "boundary", text);
    return r;
}

/* `<namespace>/<name> sha256:<hex> keys=<id>,<id>`, and for an exemption ` until=<expires_at>`. */
static int annotate_document(const struct evidence *e, const char *key, bool with_end,
                             struct arena *arena, struct answer_response *response)
{
    struct buffer b = buffer_make(arena, MAX_EVIDENCE_BYTES);
    struct str text = {0};

    buffer_add(&b, e->namespace_name);
    buffer_add_char(&b, '/');
    buffer_add(&b, e->name);
    buffer_add_char(&b, ' ');
    buffer_add(&b, e->digest);
    buffer_add(&b, STR(" keys="));
    for (size_t i = 0; i < e->key_ids.count; i++) {
        if (i > 0)
            buffer_add_char(&b, ',');
        buffer_add(&b, e->key_ids.items[i]);
    }
    if (with_end) {
        buffer_add(&b, STR(" until="));
        buffer_add(&b, e->expires_at_text);
    }
    text = buffer_text(&b);
    if (!str_present(text))
        return -ENOMEM;
    add_pair(response, key, text);
    return 0;
}

static int by_text(const void *a, const void *b)
{
    const struct str *x = a, *y = b;

    return str_compare(*x, *y);
}

/* The codes of all findings, each once, sorted. */
static int annotate_violations(const struct decision *d, struct arena *arena,
                               struct answer_response *response)
{
    bool gate[GATE_CODE_COUNT] = {false}, plan[PLAN_CODE_COUNT] = {false};
    struct str codes[MAX_CODES];
    struct buffer b = buffer_make(arena, MAX_VIOLATIONS_BYTES);
    struct str text = {0};
    size_t count = 0;

    for (size_t i = 0; i < d->finding_count; i++)
        gate[d->findings[i].code] = true;
    for (size_t i = 0; d->planned && i < d->plan.finding_count; i++)
        plan[d->plan.findings[i].code] = true;
    for (int i = 0; i < GATE_CODE_COUNT; i++) {
        if (gate[i])
            codes[count++] = str_of(gate_code_text((enum gate_code)i));
    }
    for (int i = 0; i < PLAN_CODE_COUNT; i++) {
        if (plan[i])
            codes[count++] = str_of(plan_code_text((enum plan_code)i));
    }
    assert(count <= MAX_CODES);
    qsort(codes, count, sizeof(codes[0]), by_text);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buffer_add_char(&b, ',');
        buffer_add(&b, codes[i]);
    }
    text = buffer_text(&b);
    if (!str_present(text))
        return -ENOMEM;
    add_pair(response, "violations", text);
    return 0;
}

int answer_annotate(const struct decision *d, struct arena *arena, struct answer_response *response)
{
    int r = 0;

    add_pair(response, "outcome", str_of(gate_outcome_text(d->outcome)));
    if (d->planned)
        r = annotate_plan(d, arena, response);
    if (r == 0)
        r = annotate_findings(d, arena, response);
    if (r == 0 && d->boundary_read)
        r = annotate_boundary(d, arena, response);
    if (r == 0 && d->evidence != NULL)
        r = annotate_document(d->evidence, "evidence", false, arena, response);
    if (r == 0 && d->exemption != NULL)
        r = annotate_document(d->exemption, "exemption", true, arena, response);
    if (r == 0 && d->violates_audit)
        r = annotate_violations(d, arena, response);
    if (r < 0)
        return r;
    if (d->exempt_by_configuration)
        add_pair(response, "exemption", STR("configuration"));
    add_pair(response, "subject", d->subject);
    if (str_present(d->error))
        add_pair(response, "error", d->error);
    if (!all_fit(response))
        drop_pair(response, "input");
    if (!all_fit(response))
        drop_pair(response, "findings");
    return 0;
}
