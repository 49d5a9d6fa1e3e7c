/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write - the audit annotation `boundary` (section 4).
 *
 * While it is too long, the last finding of the control that has the most is left out. The order of
 * the codes is that of their controls, so the findings of one control follow each other.
 */
#include <assert.h>
#include <errno.h>

#include "k8s/boundary/internal.h"
#include "planner/base/buffer.h"

#define HEAD                                                                                       \
    "{\"schema\":\"sandbox.boundary.v1\",\"read\":\"pod spec at admission\",\"applied\":false,"    \
    "\"controls\":["

/* The shortest finding, {"code":"boundary.fs.root","place":""}, takes 46 bytes in the audit log. A
 * control with more findings than this can never be written in full. */
#define MAX_WRITTEN (BOUNDARY_MAX_AUDIT_BYTES / 46)

/* What is only counted lies behind findings that are left out already. */
static_assert(BOUNDARY_MAX_FINDINGS_PER_CODE > MAX_WRITTEN, "counted findings are never written");

/* Only the name of a NetworkPolicy makes a place long; its object is read from at most 64 MiB. */
#define MAX_TEXT_BYTES ((size_t)1 << 30)

struct writing {
    const struct boundary *boundary;
    struct arena *arena;
    size_t begin[BOUNDARY_CONTROL_COUNT]; /* the first finding of each control */
    size_t kept[BOUNDARY_CONTROL_COUNT];  /* how many of them are written */
    size_t left_out;
};

/* What stands before the place of a finding, and before the findings of a control with that state.
 * Whole texts: most of an annotation consists of them. */
static const struct str finding_heads[BOUNDARY_CODE_COUNT] = {
#define X(name, text, control, state)                                                              \
    [BOUNDARY_CODE_##name] = STR_INIT("{\"code\":\"" text "\",\"place\":"),
    BOUNDARY_CODES(X)
#undef X
};

static const struct str control_heads[BOUNDARY_CONTROL_COUNT] = {
#define X(name, text) [BOUNDARY_##name] = STR_INIT("{\"control\":\"" text "\",\"state\":\""),
    BOUNDARY_CONTROLS(X)
#undef X
};

/* Only the name of a NetworkPolicy comes from outside. */
static bool has_foreign_place(enum boundary_code code)
{
    return code == BOUNDARY_CODE_EGRESS_ANY || code == BOUNDARY_CODE_EGRESS_SOME;
}

static void add_finding(struct buffer *b, const struct boundary_finding *finding)
{
    buffer_add(b, finding_heads[finding->code]);
    if (has_foreign_place(finding->code)) {
        buffer_add_json(b, finding->place);
        buffer_add_char(b, '}');
        return;
    }
    buffer_add_char(b, '"');
    buffer_add(b, finding->place);
    buffer_add(b, STR("\"}"));
}

static void add_control(struct buffer *b, const struct writing *w, int control)
{
    const struct boundary_finding *findings = w->boundary->findings + w->begin[control];

    if (control > 0)
        buffer_add_char(b, ',');
    buffer_add(b, control_heads[control]);
    buffer_add(b, str_of(boundary_state_text(w->boundary->states[control])));
    buffer_add(b, STR("\",\"findings\":["));
    for (size_t i = 0; i < w->kept[control]; i++) {
        if (i > 0)
            buffer_add_char(b, ',');
        add_finding(b, &findings[i]);
    }
    buffer_add(b, STR("]}"));
}

static int assemble(const struct writing *w, struct str *ret_json)
{
    struct buffer b = buffer_make(w->arena, MAX_TEXT_BYTES);

    buffer_add(&b, STR(HEAD));
    for (int i = 0; i < BOUNDARY_CONTROL_COUNT; i++)
        add_control(&b, w, i);
    buffer_add_char(&b, ']');
    if (w->left_out > 0)
        buffer_add_format(&b, ",\"left_out\":%zu", w->left_out);
    buffer_add_char(&b, '}');
    *ret_json = buffer_text(&b);
    return str_present(*ret_json) ? 0 : -ENOMEM;
}

/* Of the control that has the most findings, the first one on a tie. */
static int leave_one_out(struct writing *w)
{
    int most = 0;

    for (int i = 1; i < BOUNDARY_CONTROL_COUNT; i++) {
        if (w->kept[i] > w->kept[most])
            most = i;
    }
    assert(w->kept[most] > 0);
    w->kept[most]--;
    w->left_out++;
    return most;
}

/* What findings take in the audit log, with the comma before all but the first. */
static int measure(const struct writing *w, int control, size_t begin, size_t end,
                   size_t *ret_bytes)
{
    struct buffer b = buffer_make(w->arena, MAX_TEXT_BYTES);
    struct str text = {0};

    for (size_t i = begin; i < end; i++) {
        if (i > 0)
            buffer_add_char(&b, ',');
        add_finding(&b, &w->boundary->findings[w->begin[control] + i]);
    }
    text = buffer_text(&b);
    *ret_bytes = buffer_audit_size(text);
    return str_present(text) ? 0 : -ENOMEM;
}

/* The bytes of `,"left_out":N` in the audit log: its two quotes take two bytes each. */
static size_t left_out_bytes(size_t count)
{
    size_t bytes = sizeof(",\"left_out\":") - 1 + 2;

    if (count == 0)
        return 0;
    for (; count > 0; count /= 10)
        bytes++;
    return bytes;
}

/* Lowers w->kept until the text fits. audit_bytes: of the text without any finding. */
static int shorten(struct writing *w, size_t audit_bytes)
{
    int r = 0;

    for (int i = 0; i < BOUNDARY_CONTROL_COUNT; i++) {
        size_t bytes = 0;

        if (w->kept[i] > MAX_WRITTEN) {
            w->left_out += w->kept[i] - MAX_WRITTEN;
            w->kept[i] = MAX_WRITTEN;
        }
        r = measure(w, i, 0, w->kept[i], &bytes);
        if (r < 0)
            return r;
        audit_bytes += bytes;
    }
    while (audit_bytes + left_out_bytes(w->left_out) > BOUNDARY_MAX_AUDIT_BYTES) {
        size_t bytes = 0;
        int control = leave_one_out(w);

        r = measure(w, control, w->kept[control], w->kept[control] + 1, &bytes);
        if (r < 0)
            return r;
        audit_bytes -= bytes;
    }
    return 0;
}

static int write_shortened(struct writing *w, struct str *ret_json)
{
    struct writing empty = {.boundary = w->boundary, .arena = w->arena};
    struct str text = {0};
    int r = assemble(&empty, &text);

    if (r == 0)
        r = shorten(w, buffer_audit_size(text));
    if (r == 0)
        r = assemble(w, &text);
    if (r < 0)
        return r;
    assert(buffer_audit_size(text) <= BOUNDARY_MAX_AUDIT_BYTES);
    *ret_json = text;
    return 0;
}

/* Where no name from outside is in the text, quotes are all that the audit log escapes, each as two
 * bytes. */
static bool fits(struct str text, bool foreign)
{
    return (!foreign && text.len <= BOUNDARY_MAX_AUDIT_BYTES / 2) ||
           buffer_audit_fits(text, BOUNDARY_MAX_AUDIT_BYTES);
}

int boundary_write(const struct boundary *boundary, struct arena *arena, struct str *ret_json)
{
    struct writing w = {.boundary = boundary, .arena = arena};
    struct str text = {0};
    bool foreign = false;
    size_t next = 0;
    int r = 0;

    for (size_t i = 0; i < boundary->finding_count; i++) {
        w.kept[boundary_code_control(boundary->findings[i].code)]++;
        foreign |= has_foreign_place(boundary->findings[i].code);
    }
    for (int i = 0; i < BOUNDARY_CODE_COUNT; i++)
        w.left_out += boundary->more[i];
    for (int i = 0; i < BOUNDARY_CONTROL_COUNT; i++) {
        w.begin[i] = next;
        next += w.kept[i];
    }
    if (next > MAX_WRITTEN)
        return write_shortened(&w, ret_json);
    r = assemble(&w, &text);
    if (r < 0)
        return r;
    if (!fits(text, foreign))
        return write_shortened(&w, ret_json);
    *ret_json = text;
    return 0;
}
