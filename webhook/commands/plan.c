/* SPDX-License-Identifier: Apache-2.0 */
/* plan - `sandgate plan`: plans the sandbox of one workload from the input of the planner. */

#include <errno.h>
#include <stdio.h>

#include "k8s/document/document.h"
#include "k8s/util/file.h"
#include "planner/base/arena.h"
#include "planner/base/tree.h"
#include "planner/plan.h"
#include "webhook/cli/known.h"
#include "webhook/cli/output.h"
#include "webhook/cli/yaml.h"
#include "webhook/commands/commands.h"
#include "webhook/util/input.h"

#define PLAN_MAX_FILE_BYTES ((size_t)16 * 1024 * 1024)

enum plan_output { PLAN_OUTPUT_JSON = 0, PLAN_OUTPUT_YAML, PLAN_OUTPUT_TABLE };

static const char *const plan_outputs[] = {"json", "yaml", "table", NULL};

static int complain_memory(const char *file)
{
    output_error("%s: out of memory", file);
    return COMMAND_FAILED;
}

static int read_input(const char *file, struct arena *arena, struct str *ret_text, cJSON **ret_tree)
{
    const struct document_options options = {.syntax = DOCUMENT_EITHER, .rules = DOCUMENT_OWN};
    struct document_error error = {0};
    int r = input_read_file(file, PLAN_MAX_FILE_BYTES, arena, ret_text);

    if (r == -EFBIG) {
        output_error("%s: larger than %zu bytes, the limit of plan", file, PLAN_MAX_FILE_BYTES);
        return COMMAND_FAILED;
    }
    if (r != 0) {
        output_error("%s: %s", file, file_error_text(r));
        return COMMAND_FAILED;
    }
    r = document_read(*ret_text, &options, arena, ret_tree, &error);
    if (r == -EBADMSG) {
        output_error_at(file, error.line, error.column, str_of(error.what));
        return COMMAND_FAILED;
    }
    if (r == -E2BIG) {
        output_error("%s: more than %u nodes, the limit of plan", file, DOCUMENT_MAX_NODES);
        return COMMAND_FAILED;
    }
    return r == 0 ? COMMAND_YES : complain_memory(file);
}

static struct str list_text(struct arena *arena, const cJSON *list)
{
    struct str text = list == NULL ? STR("(no list given)") : STR("none");
    const cJSON *item = NULL;

    cJSON_ArrayForEach(item, list)
    {
        struct str entry = tree_text(item);

        text = item == list->child ? entry
                                   : arena_format(arena, "%.*s, %.*s", (int)text.len, text.ptr,
                                                  (int)entry.len, entry.ptr);
    }
    return text;
}

static void add_line(struct table *table, struct str name, struct str text,
                     enum output_colour colour)
{
    const struct table_cell cells[] = {{.text = name}, {.text = text, .colour = colour}};

    table_add(table, cells);
}

static void add_declaration(struct table *table, struct arena *arena, const cJSON *profile)
{
    const cJSON *declaration = tree_get(profile, "declaration");
    const cJSON *workload = tree_get(profile, "workload");
    struct str form = tree_get_text(workload, "ref_form");

    add_line(table, STR("workload"),
             form.len == 0 ? STR("(none)") : tree_get_text(workload, form.ptr), COLOUR_PLAIN);
    add_line(table, STR("profile"), tree_get_text(declaration, "profile"), COLOUR_PLAIN);
    add_line(table, STR("network"),
             cJSON_IsTrue(tree_get(declaration, "network")) ? STR("yes") : STR("no"), COLOUR_PLAIN);
    add_line(table, STR("writable paths"),
             list_text(arena, tree_get(declaration, "writable_paths")), COLOUR_PLAIN);
    add_line(table, STR("environment"), list_text(arena, tree_get(declaration, "env_allowlist")),
             COLOUR_PLAIN);
}

static int print_table(const struct plan *plan, const cJSON *packet, struct arena *arena)
{
    const cJSON *profile = tree_get(packet, "hardening_profile");
    struct table table = table_make(arena, 2);
    enum output_colour colour = plan_admits(plan) ? COLOUR_GOOD : COLOUR_BAD;

    add_line(&table, STR("decision"), str_of(plan_decision_text(plan->decision)), colour);
    add_declaration(&table, arena, profile);
    for (size_t i = 0; i < plan->finding_count; i++) {
        const struct plan_finding *finding = &plan->findings[i];

        add_line(&table, str_of(plan_code_text(finding->code)), finding->message, COLOUR_PLAIN);
    }
    return table_print(&table, stdout);
}

static int print_packet(const struct plan *plan, enum plan_output output, struct arena *arena)
{
    const struct document_options options = {.syntax = DOCUMENT_JSON, .rules = DOCUMENT_OWN};
    struct document_error error = {0};
    cJSON *packet = NULL;
    int r = 0;

    if (output == PLAN_OUTPUT_JSON) {
        printf("%.*s\n", (int)plan->packet.len, plan->packet.ptr);
        return 0;
    }
    r = document_read(plan->packet, &options, arena, &packet, &error);
    if (r != 0)
        return r;
    return output == PLAN_OUTPUT_YAML ? yaml_print(packet, arena, stdout)
                                      : print_table(plan, packet, arena);
}

static int plan_and_print(const char *file, enum plan_output output, struct arena *arena)
{
    struct str text = {0};
    cJSON *tree = NULL;
    struct plan plan = {0};
    int r = read_input(file, arena, &text, &tree);

    if (r != COMMAND_YES)
        return r;
    r = plan_evaluate(tree, PLAN_CALLER_SUPPLIED, arena, &plan);
    if (r == -EINVAL) {
        size_t line = 1, column = 1;

        (void)document_place(text, tree, false, &line, &column);
        output_error_at(file, line, column, STR("the planner's input must be an object"));
        return COMMAND_FAILED;
    }
    if (r == 0)
        r = print_packet(&plan, output, arena);
    if (r != 0)
        return complain_memory(file);
    return plan_admits(&plan) ? COMMAND_YES : COMMAND_NO;
}

static int run(int argc, char **argv)
{
    unsigned output = PLAN_OUTPUT_JSON;
    const struct option_row rows[] = {
        option_output(plan_outputs, "output format of the packet (default: json)", &output),
    };
    const struct options options = {
        .arguments = "FILE",
        .about = "Plans the sandbox of one workload: reads the input of the planner (JSON or YAML, "
                 "- for\n"
                 "standard input) and prints the runx.hardening.v1 packet.",
        .statuses = "  0  the plan is ready\n"
                    "  1  the plan is not ready: the findings in the packet say why\n"
                    "  2  the input cannot be read, or an option is wrong",
        .example = "  sandgate plan --output table input.yaml\n"
                   "  sandgate plan - <input.json >packet.json",
        .rows = rows,
        .row_count = sizeof(rows) / sizeof(rows[0]),
    };
    struct arena cleanup_arena arena = {0};
    struct operands operands = {0};
    enum options_result result = options_read(&options, argc, argv, &arena, &operands);

    if (result != OPTIONS_READ)
        return options_status(result);
    if (operands.count != 1)
        return options_refuse(argv[0], "one FILE is needed, or - for standard input");
    return plan_and_print(operands.items[0], (enum plan_output)output, &arena);
}

const struct command command_plan = {
    .name = "plan",
    .summary = "plan the sandbox of one workload",
    .run = run,
};
