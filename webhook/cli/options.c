/* SPDX-License-Identifier: Apache-2.0 */
/* options - reads the options of a subcommand with getopt_long(), and prints --help. */

#include "webhook/cli/options.h"

#include <assert.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "planner/base/arena.h"
#include "webhook/cli/output.h"
#include "webhook/cli/status.h"

#define HELP_COLUMN 30     /* column of the explanations in --help */
#define LONG_ONLY_BASE 256 /* getopt_long() returns this plus i for row i: above any letter */

int options_refuse(const char *command, const char *format, ...)
{
    char what[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    output_error("%s (see `%s --help`)", what, command);
    return COMMAND_FAILED;
}

static void print_row(const struct option_row *row)
{
    char left[128];
    char values[96] = "";

    if (row->kind == OPTION_CHOICE) {
        for (size_t i = 0; row->choices[i] != NULL; i++) {
            size_t used = strlen(values);

            (void)snprintf(values + used, sizeof(values) - used, "%s%s", i > 0 ? "|" : " ",
                           row->choices[i]);
        }
    } else if (row->value != NULL) {
        (void)snprintf(values, sizeof(values), " %s", row->value);
    }
    if (row->letter != 0)
        (void)snprintf(left, sizeof(left), "  -%c, --%s%s", row->letter, row->name, values);
    else
        (void)snprintf(left, sizeof(left), "      --%s%s", row->name, values);
    if (strlen(left) >= HELP_COLUMN)
        printf("%s\n%*s%s\n", left, HELP_COLUMN, "", row->help);
    else
        printf("%-*s%s\n", HELP_COLUMN, left, row->help);
}

/* Each line that begins with a command begins with `kubectl` in the plugin of kubectl. */
static void print_examples(const char *examples, bool plugin)
{
    while (examples[0] != '\0') {
        size_t len = strcspn(examples, "\n");
        bool is_command = strncmp(examples, "  sandgate ", sizeof("  sandgate ") - 1) == 0;

        assert(is_command || examples[0] == ' ');
        printf("%s%.*s\n", plugin && is_command ? "  kubectl" : "",
               (int)(plugin && is_command ? len - 1 : len),
               examples + (plugin && is_command ? 1 : 0));
        examples += len + (examples[len] == '\n' ? 1 : 0);
    }
}

static void print_help(const struct options *options, const char *command)
{
    bool plugin = strncmp(command, "kubectl ", sizeof("kubectl ") - 1) == 0;

    printf("Usage: %s [OPTION…]%s%s\n\n%s\n\nOptions:\n", command,
           options->arguments[0] != '\0' ? " " : "", options->arguments, options->about);
    for (size_t i = 0; i < options->row_count; i++)
        print_row(&options->rows[i]);
    printf("%-*s%s\n", HELP_COLUMN, "  -h, --help", "print this help");
    printf("\nExit status:\n%s\n\nExamples:\n", options->statuses);
    print_examples(options->example, plugin);
}

static bool read_choice(const struct option_row *row, const char *command, const char *value)
{
    char names[128] = "";

    for (unsigned i = 0; row->choices[i] != NULL; i++) {
        size_t used = strlen(names);

        if (strcmp(row->choices[i], value) == 0) {
            *row->target.choice = i;
            return true;
        }
        (void)snprintf(names + used, sizeof(names) - used, "%s%s", i > 0 ? ", " : "",
                       row->choices[i]);
    }
    (void)options_refuse(command, "--%s must be one of: %s", row->name, names);
    return false;
}

static bool take_value(const struct option_row *row, const char *command, const char *value)
{
    if (row == NULL)
        return false; /* cannot happen: getopt_long() returns only values of prepare_tables() */
    switch (row->kind) {
    case OPTION_FLAG:
        *row->target.flag = true;
        return true;
    case OPTION_TEXT:
        if (*row->target.text != NULL) {
            (void)options_refuse(command, "--%s is given twice", row->name);
            return false;
        }
        *row->target.text = value;
        return true;
    case OPTION_TEXTS:
        row->target.texts->items[row->target.texts->count++] = value;
        return true;
    case OPTION_CHOICE:
        return read_choice(row, command, value);
    }
    return false;
}

/* Fills the tables of getopt_long(); allocates space for the values of each OPTION_TEXTS. */
static bool prepare_tables(const struct options *options, size_t argument_count,
                           struct arena *arena, struct option *longs, char *shorts)
{
    *shorts++ = ':'; /* then a missing value is not reported as an unknown option */
    *shorts++ = 'h';
    for (size_t i = 0; i < options->row_count; i++) {
        const struct option_row *row = &options->rows[i];
        bool has_value = row->kind != OPTION_FLAG;

        longs[i] = (struct option){
            .name = row->name,
            .has_arg = has_value ? required_argument : no_argument,
            .val = LONG_ONLY_BASE + (int)i,
        };
        if (row->letter != 0) {
            *shorts++ = row->letter;
            if (has_value)
                *shorts++ = ':';
        }
        if (row->kind == OPTION_TEXTS) {
            row->target.texts->items =
                arena_alloc(arena, argument_count + 1, sizeof(*row->target.texts->items));
            if (row->target.texts->items == NULL)
                return false;
        }
    }
    longs[options->row_count] = (struct option){.name = "help", .val = 'h'};
    longs[options->row_count + 1] = (struct option){0};
    *shorts = '\0';
    return true;
}

static const struct option_row *find_row(const struct options *options, int value)
{
    for (size_t i = 0; i < options->row_count; i++) {
        if (value == LONG_ONLY_BASE + (int)i || value == options->rows[i].letter)
            return &options->rows[i];
    }
    return NULL;
}

/* value: getopt_long()'s optopt: 0 for an unknown or ambiguous long option. */
static void refuse_unknown(const char *command, const char *shown, int value)
{
    if (value >= LONG_ONLY_BASE || strncmp(shown, "--help=", sizeof("--help=") - 1) == 0)
        (void)options_refuse(command, "%s: this option takes no value", shown);
    else if (value > 0)
        (void)options_refuse(command, "unknown option -%c", value);
    else
        (void)options_refuse(command, "unknown or ambiguous option %s", shown);
}

enum options_result options_read(const struct options *options, int argc, char **argv,
                                 struct arena *arena, struct operands *ret_operands)
{
    struct option longs[OPTIONS_MAX_ROWS + 2];
    char shorts[2 * OPTIONS_MAX_ROWS + 3];
    int value = 0;

    assert(options->row_count <= OPTIONS_MAX_ROWS);
    if (!prepare_tables(options, (size_t)argc, arena, longs, shorts)) {
        output_error("out of memory");
        return OPTIONS_WRONG;
    }
    opterr = 0;
    optind = 1;
    for (;;) {
        const char *shown = NULL;

        value = getopt_long(argc, argv, shorts, longs, NULL);
        if (value == -1)
            break;
        if (value == 'h') {
            print_help(options, argv[0]);
            return OPTIONS_HELPED;
        }
        shown = argv[optind - 1];
        if (value == ':') {
            (void)options_refuse(argv[0], "%s needs a value", shown);
            return OPTIONS_WRONG;
        }
        if (value == '?') {
            refuse_unknown(argv[0], shown, optopt);
            return OPTIONS_WRONG;
        }
        if (!take_value(find_row(options, value), argv[0], optarg))
            return OPTIONS_WRONG;
    }
    *ret_operands = (struct operands){.items = argv + optind, .count = (size_t)(argc - optind)};
    return OPTIONS_READ;
}

int options_status(enum options_result result)
{
    return result == OPTIONS_HELPED ? COMMAND_YES : COMMAND_FAILED;
}
