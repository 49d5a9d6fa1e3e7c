/* SPDX-License-Identifier: Apache-2.0 */
/* boundary_json - writes what pods' own specs asked for as a member of a report in JSON. */

#include <errno.h>

#include "webhook/report/internal.h"
#include "webhook/report/json.h"

#define MAX_ENTRY_JSON_BYTES ((size_t)64 * 1024) /* of one namespace or workload */

_Static_assert(MAX_ENTRY_JSON_BYTES > 3 * 6 * REPORT_MAX_SUM_BYTES + 128 * BOUNDARY_CODE_COUNT,
               "names, each byte escaped, and all codes fit");

static void add_controls(struct buffer *b, const struct report_boundary *boundary)
{
    for (int i = 0; i < BOUNDARY_CONTROL_COUNT; i++) {
        buffer_add_format(b, "%s{\"control\":\"%s\"", i > 0 ? ",\n  " : "",
                          boundary_control_text((enum boundary_control)i));
        for (int k = BOUNDARY_HELD; k <= BOUNDARY_CONTRADICTED; k++)
            buffer_add_format(b, ",\"%s\":%llu", boundary_state_text((enum boundary_state)k),
                              (unsigned long long)boundary->controls[i][k]);
        buffer_add_char(b, '}');
    }
}

static void add_namespace(struct buffer *b, const struct report_boundary_namespace *space)
{
    bool first = true;

    buffer_add(b, STR("{\"namespace\":"));
    report_add_safe(b, space->name);
    buffer_add_format(b, ",\"reads\":%llu,\"broken\":%llu,\"workloads\":%llu,\"contradicted\":%llu",
                      (unsigned long long)space->reads, (unsigned long long)space->broken,
                      (unsigned long long)space->workloads,
                      (unsigned long long)space->contradicted);
    buffer_add(b, report_may_block(space) ? STR(",\"block\":true") : STR(",\"block\":false"));
    buffer_add(b, STR(",\"hold\":["));
    for (int i = 0; i < BOUNDARY_CONTROL_COUNT; i++) {
        enum boundary_control control = (enum boundary_control)i;

        if (!report_may_hold(space, control))
            continue;
        buffer_add_format(b, "%s\"%s\"", first ? "" : ",", boundary_control_text(control));
        first = false;
    }
    buffer_add(b, STR("]}"));
}

static void add_workload(struct buffer *b, const struct report_workload *w)
{
    bool first = true;

    buffer_add(b, STR("{\"namespace\":"));
    report_add_safe(b, w->namespace_name);
    buffer_add(b, STR(",\"kind\":"));
    report_add_safe(b, w->kind);
    buffer_add(b, STR(",\"workload\":"));
    report_add_safe(b, w->name);
    buffer_add_format(b, ",\"count\":%llu,\"states\":{", (unsigned long long)w->count);
    for (int i = 0; i < BOUNDARY_CONTROL_COUNT; i++)
        buffer_add_format(b, "%s\"%s\":\"%s\"", i > 0 ? "," : "",
                          boundary_control_text((enum boundary_control)i),
                          boundary_state_text(w->states[i]));
    buffer_add(b, STR("},\"codes\":["));
    for (int i = 0; i < BOUNDARY_CODE_COUNT; i++) {
        enum boundary_code code = (enum boundary_code)i;

        if ((w->codes & event_boundary_bit(code)) == 0)
            continue;
        buffer_add_format(b, "%s\"%s\"", first ? "" : ",", boundary_code_text(code));
        first = false;
    }
    buffer_add(b, STR("]}"));
}

/* One namespace or workload at a time, so that the whole is never in memory as one text. */
static int write_entry(const struct report_boundary *boundary, size_t i, bool is_workload,
                       FILE *stream)
{
    struct arena cleanup_arena arena = {0};
    struct buffer b = buffer_make(&arena, MAX_ENTRY_JSON_BYTES);
    struct str text = {0};

    buffer_add(&b, i > 0 ? STR(",\n  ") : STR(""));
    if (is_workload)
        add_workload(&b, &boundary->workloads[i]);
    else
        add_namespace(&b, &boundary->namespaces[i]);
    text = buffer_text(&b);
    if (!str_present(text))
        return -ENOMEM;
    return fwrite(text.ptr, 1, text.len, stream) == text.len ? 0 : -EIO;
}

static int write_head(const struct report_boundary *boundary, FILE *stream)
{
    struct arena cleanup_arena arena = {0};
    struct buffer b = buffer_make(&arena, MAX_ENTRY_JSON_BYTES);
    struct str text = {0};

    buffer_add_format(&b,
                      ",\n\"boundary\":{\"reads\":%llu,\"broken\":%llu,\"workloadsLeftOut\":%llu,"
                      "\"namespacesLeftOut\":%llu,\n \"controls\":[",
                      (unsigned long long)boundary->reads, (unsigned long long)boundary->broken,
                      (unsigned long long)boundary->workloads_left_out,
                      (unsigned long long)boundary->namespaces_left_out);
    add_controls(&b, boundary);
    buffer_add(&b, STR("],\n \"namespaces\":["));
    text = buffer_text(&b);
    if (!str_present(text))
        return -ENOMEM;
    return fwrite(text.ptr, 1, text.len, stream) == text.len ? 0 : -EIO;
}

int report_boundary_json(const struct report_boundary *boundary, FILE *stream)
{
    int r = 0;

    if (boundary->reads + boundary->broken == 0)
        return 0;
    r = write_head(boundary, stream);
    for (size_t i = 0; r == 0 && i < boundary->namespace_count; i++)
        r = write_entry(boundary, i, false, stream);
    if (r == 0 && fputs("],\n \"workloads\":[", stream) < 0)
        r = -EIO;
    for (size_t i = 0; r == 0 && i < boundary->workload_count; i++)
        r = write_entry(boundary, i, true, stream);
    if (r == 0 && fputs("]}", stream) < 0)
        r = -EIO;
    return r;
}
