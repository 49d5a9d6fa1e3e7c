/* SPDX-License-Identifier: Apache-2.0 */
/*
 * review_boundary - prints what admitted pods' own specs ask for beside their declarations
 * (boundary-v1), as short tables: by control, by namespace, and what contradicts by workload.
 */

#include <stdio.h>

#include "planner/base/buffer.h"
#include "webhook/cli/output.h"
#include "webhook/commands/review.h"
#include "webhook/util/clean.h"

#define MAX_CELL_BYTES ((size_t)64 * 1024)
#define MAX_CELL_CHARACTERS 100 /* of a name; -o json has the whole name */
#define SHOWN_WORKLOADS 20      /* that contradict their declaration; the others are counted */

static struct str number_text(uint64_t number, struct arena *arena)
{
    return arena_format(arena, "%llu", (unsigned long long)number);
}

static struct str cell_text(struct str s, struct arena *arena)
{
    struct str cut = clean_cut_characters(s, MAX_CELL_CHARACTERS);

    return cut.len < s.len ? arena_format(arena, "%.*s…", (int)cut.len, cut.ptr) : s;
}

static int print_table(struct table *table)
{
    int r = table_print(table, stdout);

    fputc('\n', stdout);
    return r;
}

static int print_controls(const struct report_boundary *boundary, struct arena *arena)
{
    struct table table = table_make(arena, 5);

    table_add(&table, (struct table_cell[]){{STR("CONTROL"), COLOUR_FAINT},
                                            {STR("HELD"), COLOUR_FAINT},
                                            {STR("UNKNOWN"), COLOUR_FAINT},
                                            {STR("OPEN"), COLOUR_FAINT},
                                            {STR("CONTRADICTED"), COLOUR_FAINT}});
    for (int i = 0; i < BOUNDARY_CONTROL_COUNT; i++) {
        const uint64_t *counts = boundary->controls[i];
        struct table_cell cells[] = {
            {.text = str_of(boundary_control_text((enum boundary_control)i))},
            {.text = number_text(counts[BOUNDARY_HELD], arena)},
            {.text = number_text(counts[BOUNDARY_UNKNOWN], arena)},
            {.text = number_text(counts[BOUNDARY_OPEN], arena)},
            {number_text(counts[BOUNDARY_CONTRADICTED], arena),
             counts[BOUNDARY_CONTRADICTED] > 0 ? COLOUR_BAD : COLOUR_PLAIN},
        };

        table_add(&table, cells);
    }
    return print_table(&table);
}

static struct str hold_text(const struct report_boundary_namespace *space, struct arena *arena)
{
    struct buffer b = buffer_make(arena, MAX_CELL_BYTES);

    for (int i = 0; i < BOUNDARY_CONTROL_COUNT; i++) {
        if (report_may_hold(space, (enum boundary_control)i))
            buffer_add_format(&b, "%s%s", b.len > 0 ? ", " : "",
                              boundary_control_text((enum boundary_control)i));
    }
    return b.len > 0 || b.error != 0 ? buffer_text(&b) : STR("-");
}

/* `unknown`: the log has no admissions of this namespace. */
static struct table_cell block_cell(const struct report_boundary_namespace *space)
{
    if (report_may_block(space))
        return (struct table_cell){STR("possible"), COLOUR_GOOD};
    if (space->contradicted == 0 && space->broken == 0)
        return (struct table_cell){STR("unknown"), COLOUR_WARN};
    return (struct table_cell){STR("no"), COLOUR_WARN};
}

static int print_namespaces(const struct report_boundary *boundary, struct arena *arena)
{
    struct table table = table_make(arena, 5);

    table_add(&table, (struct table_cell[]){{STR("NAMESPACE"), COLOUR_FAINT},
                                            {STR("READ"), COLOUR_FAINT},
                                            {STR("CONTRADICTED"), COLOUR_FAINT},
                                            {STR("BLOCK"), COLOUR_FAINT},
                                            {STR("HOLD"), COLOUR_FAINT}});
    for (size_t i = 0; i < boundary->namespace_count; i++) {
        const struct report_boundary_namespace *space = &boundary->namespaces[i];
        struct table_cell cells[] = {
            {.text = cell_text(space->name, arena)},
            {.text = number_text(space->reads, arena)},
            {number_text(space->contradicted, arena),
             space->contradicted > 0 ? COLOUR_BAD : COLOUR_PLAIN},
            block_cell(space),
            {.text = hold_text(space, arena)},
        };

        table_add(&table, cells);
    }
    return print_table(&table);
}

static struct str contradictions_text(const struct report_workload *w, struct arena *arena)
{
    struct buffer b = buffer_make(arena, MAX_CELL_BYTES);

    for (int i = 0; i < BOUNDARY_CODE_COUNT; i++) {
        enum boundary_code code = (enum boundary_code)i;

        if ((w->codes & event_boundary_bit(code)) != 0 &&
            boundary_code_state(code) == BOUNDARY_CONTRADICTED)
            buffer_add_format(&b, "%s%s", b.len > 0 ? ", " : "", boundary_code_text(code));
    }
    return b.len > 0 || b.error != 0 ? buffer_text(&b) : STR("-");
}

/* Workloads are sorted: those that contradict their declaration come first. */
static int print_contradictions(const struct report_boundary *boundary, struct arena *arena)
{
    struct table table = table_make(arena, 2);
    size_t count = 0;

    while (count < boundary->workload_count &&
           report_count_states(boundary->workloads[count].states, BOUNDARY_CONTRADICTED) > 0)
        count++;
    if (count == 0)
        return 0;
    table_add(&table, (struct table_cell[]){{STR("CONTRADICTS ITS DECLARATION"), COLOUR_FAINT},
                                            {STR("FINDINGS"), COLOUR_FAINT}});
    for (size_t i = 0; i < count && i < SHOWN_WORKLOADS; i++) {
        const struct report_workload *w = &boundary->workloads[i];
        struct str object =
            arena_format(arena, "%.*s/%.*s/%.*s", (int)w->namespace_name.len, w->namespace_name.ptr,
                         (int)w->kind.len, w->kind.ptr, (int)w->name.len, w->name.ptr);
        struct table_cell cells[] = {
            {str_present(object) ? cell_text(object, arena) : object, COLOUR_BAD},
            {.text = contradictions_text(w, arena)},
        };

        table_add(&table, cells);
    }
    if (count > SHOWN_WORKLOADS)
        table_add(&table, (struct table_cell[]){{.text = arena_format(arena, "and %zu more",
                                                                      count - SHOWN_WORKLOADS)},
                                                {.text = STR("-")}});
    return print_table(&table);
}

int review_print_boundary(const struct report_boundary *boundary, struct arena *arena)
{
    int r = 0;

    if (boundary->reads + boundary->broken == 0)
        return 0;
    r = print_controls(boundary, arena);
    if (r == 0)
        r = print_namespaces(boundary, arena);
    return r == 0 ? print_contradictions(boundary, arena) : r;
}
