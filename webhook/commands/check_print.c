/* SPDX-License-Identifier: Apache-2.0 */
/* check_print - prints the decisions of `sandgate check` as table, list or response. */

#include <assert.h>
#include <errno.h>
#include <stdio.h>

#include "k8s/document/document.h"
#include "planner/base/tree.h"
#include "webhook/answer/answer.h"
#include "webhook/answer/rows.h"
#include "webhook/cli/output.h"
#include "webhook/cli/yaml.h"
#include "webhook/commands/check.h"

#define LIST_MAX_NODES 50000000u

static void add_finding(struct buffer *b, const char *code, struct str message, struct str place,
                        bool first)
{
    buffer_add(b, first ? STR("{\"code\":") : STR(",{\"code\":"));
    buffer_add_json(b, str_of(code));
    buffer_add(b, STR(",\"message\":"));
    buffer_add_json(b, message);
    buffer_add(b, STR(",\"place\":"));
    buffer_add_json(b, place);
    buffer_add_char(b, '}');
}

/* The findings of the gate, then those of the planner. */
static void add_findings(struct buffer *b, const struct decision *d)
{
    for (size_t i = 0; i < d->finding_count; i++)
        add_finding(b, gate_code_text(d->findings[i].code), d->findings[i].message,
                    d->findings[i].place, i == 0);
    for (size_t i = 0; d->planned && i < d->plan.finding_count; i++)
        add_finding(b, plan_code_text(d->plan.findings[i].code), d->plan.findings[i].message,
                    (struct str){0}, d->finding_count + i == 0);
}

static void add_member(struct buffer *b, struct str name, struct str text)
{
    buffer_add(b, name);
    buffer_add_json(b, text);
}

/* What the pod's own spec asks for, as the audit annotation has it; only where it was read. */
static int add_boundary(struct buffer *b, const struct decision *d, struct arena *arena)
{
    struct str text = {0};
    int r = d->boundary_read ? boundary_write(&d->boundary, arena, &text) : 0;

    if (r == 0 && d->boundary_read) {
        buffer_add(b, STR(",\"boundary\":"));
        buffer_add(b, text);
    }
    return r;
}

static int list_add(struct check *check, const struct check_result *result, struct arena *arena)
{
    const struct decision *d = result->decision;
    struct str warnings[ANSWER_MAX_WARNINGS] = {0};
    size_t warning_count = 0;
    struct buffer *b = &check->list;
    int r = answer_warnings(d, arena, warnings, &warning_count);

    if (r != 0)
        return r;
    buffer_add(b, b->len > 0 ? STR(",\n") : STR("["));
    add_member(b, STR("{\"source\":"), result->source);
    add_member(b, STR(",\"kind\":"), result->kind);
    add_member(b, STR(",\"namespace\":"), result->namespace_name);
    add_member(b, STR(",\"name\":"), result->name);
    buffer_add(b, d->allowed ? STR(",\"allowed\":true") : STR(",\"allowed\":false"));
    add_member(b, STR(",\"outcome\":"), str_of(gate_outcome_text(d->outcome)));
    buffer_add(b, STR(",\"findings\":["));
    add_findings(b, d);
    buffer_add(b, STR("],\"warnings\":["));
    for (size_t i = 0; i < warning_count; i++) {
        if (i > 0)
            buffer_add_char(b, ',');
        buffer_add_json(b, warnings[i]);
    }
    buffer_add(b, STR("],\"packet\":"));
    buffer_add(b, d->planned ? d->plan.packet : STR("null"));
    r = add_boundary(b, d, arena);
    buffer_add_char(b, '}');
    return r == 0 ? b->error : r;
}

/* `payments/Pod/report-0: denied (blocked)  pod.yaml:12` */
static int print_head(const struct check_result *result, struct arena *arena)
{
    const struct decision *d = result->decision;
    bool scoped = result->namespace_name.len > 0; /* else possibly a kind without namespaces */
    struct str object = arena_format(arena, "%.*s%s%.*s/%.*s", (int)result->namespace_name.len,
                                     scoped ? result->namespace_name.ptr : "", scoped ? "/" : "",
                                     (int)result->kind.len, result->kind.ptr, (int)result->name.len,
                                     result->name.ptr);
    struct str source = result->line > 0 ? arena_format(arena, "%.*s:%zu", (int)result->source.len,
                                                        result->source.ptr, result->line)
                                         : result->source;

    object = str_present(object) ? output_visible(arena, object) : object;
    source = str_present(source) ? output_visible(arena, source) : source;
    if (!str_present(object) || !str_present(source))
        return -ENOMEM;
    progress_hide();
    printf("%.*s: ", (int)object.len, object.ptr);
    if (d->outcome == OUTCOME_NOT_EVALUATED)
        output_print(stdout, COLOUR_FAINT, STR("not evaluated"));
    else if (!d->allowed)
        output_print(stdout, COLOUR_BAD, STR("denied"));
    else if (d->would_deny_enforce)
        output_print(stdout, COLOUR_WARN, STR("admitted, but its pods will be denied"));
    else
        output_print(stdout, COLOUR_GOOD, STR("admitted"));
    if (d->outcome != OUTCOME_NOT_EVALUATED)
        printf(" (%s)", gate_outcome_text(d->outcome));
    printf("  ");
    output_print(stdout, COLOUR_FAINT, source);
    printf("\n");
    return 0;
}

/* As the message of a denial has them. */
static int print_findings(const struct decision *d, struct arena *arena)
{
    struct answer_rows rows = {0};
    struct str also = {0};
    int r = answer_rows_make(d, arena, &rows);

    if (r == 0)
        r = answer_consequences(&rows, arena, &also);
    for (size_t i = 0; r == 0 && i < rows.cause_count; i++) {
        const struct answer_row *row = &rows.items[i];
        bool placed = row->place.len > 0;

        r = output_line(arena, arena_format(arena, "  %.*s%s%.*s: %.*s%s%s", (int)row->code.len,
                                            row->code.ptr, placed ? " " : "", (int)row->place.len,
                                            placed ? row->place.ptr : "", (int)row->message.len,
                                            row->message.ptr, row->hint != NULL ? "; " : "",
                                            row->hint != NULL ? row->hint : ""));
    }
    return r == 0 && str_present(also)
               ? output_line(arena, arena_format(arena, "  %.*s", (int)also.len, also.ptr))
               : r;
}

static int print_advice(const struct decision *d, struct arena *arena)
{
    struct str advice = {0};
    int r = answer_advice(d, arena, &advice);

    if (r != 0 || !str_present(advice))
        return r;
    return output_line(
        arena, arena_format(arena, "  the plan would be ready: %.*s", (int)advice.len, advice.ptr));
}

static int print_warnings(const struct decision *d, struct arena *arena)
{
    struct str warnings[ANSWER_MAX_WARNINGS] = {0};
    size_t count = 0;
    int r = answer_warnings(d, arena, warnings, &count);

    for (size_t i = 0; i < count && r == 0; i++) {
        printf("  ");
        output_print(stdout, COLOUR_WARN, STR("warning"));
        printf(": ");
        r = output_line(arena, warnings[i]);
    }
    return r;
}

static int table_show(struct check *check, const struct check_result *result, struct arena *arena)
{
    const struct decision *d = result->decision;
    int r = print_head(result, arena);

    /* here a label could change the decision */
    if (r == 0 && d->namespace_unseen && d->outcome == OUTCOME_UNMANAGED)
        r = output_line(arena,
                        arena_format(arena,
                                     "  note: the evidence has no Namespace %.*s; it is "
                                     "treated as one without labels",
                                     (int)result->namespace_name.len, result->namespace_name.ptr));
    /* findings of admitted objects are in the warnings, unless an exemption waives them */
    if (r == 0 && !d->allowed)
        r = print_findings(d, arena);
    if (r == 0 && !d->allowed)
        r = print_advice(d, arena);
    if (r == 0 && d->boundary_read)
        r = check_show_boundary(check, d, arena);
    return r == 0 ? print_warnings(d, arena) : r;
}

int check_show(struct check *check, const struct check_result *result, struct arena *arena)
{
    const struct decision *d = result->decision;
    struct str body = {0};
    int r = 0;

    assert(d != NULL);
    check->admitted += d->allowed;
    check->denied += !d->allowed;
    check->pods_denied += d->would_deny_enforce;
    check->not_evaluated += d->outcome == OUTCOME_NOT_EVALUATED;
    switch (check->output) {
    case CHECK_OUTPUT_JSON:
    case CHECK_OUTPUT_YAML:
        return list_add(check, result, arena);
    case CHECK_OUTPUT_REVIEW:
        progress_hide();
        r = answer_write(d, result->uid, ANSWER_JSON, arena, &body);
        if (r == 0)
            printf("%.*s\n", (int)body.len, body.ptr);
        return r;
    case CHECK_OUTPUT_TABLE:
    default:
        return table_show(check, result, arena);
    }
}

static int list_print_yaml(struct str list, struct arena *arena)
{
    const struct document_options options = {
        .syntax = DOCUMENT_JSON, .rules = DOCUMENT_OWN, .max_nodes = LIST_MAX_NODES};
    struct document_error error = {0};
    cJSON *tree = NULL;
    int r = document_read(list, &options, arena, &tree, &error);

    return r == 0 ? yaml_print(tree, arena, stdout) : r;
}

static void print_sums(const struct check *check)
{
    printf("%zu admitted", check->admitted - check->not_evaluated);
    if (check->pods_denied > 0)
        printf(" (%zu of them create pods that will be denied)", check->pods_denied);
    printf(", %zu denied, %zu not evaluated\n", check->denied, check->not_evaluated);
}

int check_show_end(struct check *check, struct arena *arena)
{
    struct str list = {0};

    if (check->output == CHECK_OUTPUT_REVIEW)
        return 0;
    if (check->output == CHECK_OUTPUT_TABLE) {
        int r = check_show_remedies(check, arena);

        if (r == 0 && check->admitted + check->denied > 0)
            print_sums(check);
        return r;
    }
    buffer_add(&check->list, check->list.len > 0 ? STR("]") : STR("[]"));
    list = buffer_text(&check->list);
    if (!str_present(list))
        return check->list.error;
    if (check->output == CHECK_OUTPUT_YAML)
        return list_print_yaml(list, arena);
    printf("%.*s\n", (int)list.len, list.ptr);
    return 0;
}
