/* SPDX-License-Identifier: Apache-2.0 */
#include "webhook/cli/options.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "planner/base/arena.h"
#include "webhook/cli/status.h"
#include "webhook/cli/output.h"

#define HELP_COLUMN 30     /* where the explanations of --help begin */
#define LONG_ONLY_BASE 256 /* getopt's value of row i is this plus i, beyond any letter */

int options_refuse(const char *command, const char *format, ...)
{
    char what[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    complain("%s (see `%s --help`)", what, command);
    return COMMAND_FAILED;
}

static void options_print_row(const struct option_row *row)
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

static void options_print_help(const struct options *options, const char *command)
{
    /* examples begin with two blanks and `sandgate` */
    bool plugin = strncmp(command, "kubectl ", sizeof("kubectl ") - 1) == 0;

    printf("Usage: %s [OPTION…]%s%s\n\n%s\n\nOptions:\n", command,
           options->arguments[0] != '\0' ? " " : "", options->arguments, options->about);
    for (size_t i = 0; i < options->row_count; i++)
        options_print_row(&options->rows[i]);
    printf("%-*s%s\n", HELP_COLUMN, "  -h, --help", "this text");
    printf("\nExit status:\n%s\n\nExample:\n%s%s\n", options->statuses, plugin ? "  kubectl" : "",
           options->example + (plugin ? 1 : 0));
}

static bool options_read_choice(const struct option_row *row, const char *command,
                                const char *value)
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
    (void)options_refuse(command, "--%s is one of: %s", row->name, names);
    return false;
}

static bool options_take(const struct option_row *row, const char *command, const char *value)
{
    if (row == NULL)
        return false; /* getopt gives only what options_prepare() listed */
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
        return options_read_choice(row, command, value);
    }
    return false;
}

/* Tables for getopt_long() made of ours; room for every value of OPTION_TEXTS. */
static bool options_prepare(const struct options *options, size_t argument_count,
                            struct arena *arena, struct option *longs, char *shorts)
{
    *shorts++ = ':'; /* a missing value is told apart from an unknown option */
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

static const struct option_row *options_find(const struct options *options, int value)
{
    for (size_t i = 0; i < options->row_count; i++) {
        if (value == LONG_ONLY_BASE + (int)i || value == options->rows[i].letter)
            return &options->rows[i];
    }
    return NULL;
}

enum options_result options_read(const struct options *options, int argc, char **argv,
                                 struct arena *arena, struct operands *ret_operands)
{
    struct option longs[OPTIONS_MAX_ROWS + 2];
    char shorts[2 * OPTIONS_MAX_ROWS + 3];
    int value = 0;

    if (options->row_count > OPTIONS_MAX_ROWS ||
        !options_prepare(options, (size_t)argc, arena, longs, shorts)) {
        complain("out of memory");
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
            options_print_help(options, argv[0]);
            return OPTIONS_HELPED;
        }
        shown = argv[optind - 1];
        if (value == ':') {
            (void)options_refuse(argv[0], "%s wants a value", shown);
            return OPTIONS_WRONG;
        }
        if (value == '?') {
            if (optopt > 0 && optopt < LONG_ONLY_BASE)
                (void)options_refuse(argv[0], "there is no option -%c", optopt);
            else
                (void)options_refuse(argv[0], "there is no option %s, or it takes no value", shown);
            return OPTIONS_WRONG;
        }
        if (!options_take(options_find(options, value), argv[0], optarg))
            return OPTIONS_WRONG;
    }
    *ret_operands = (struct operands){.items = argv + optind, .count = (size_t)(argc - optind)};
    return OPTIONS_READ;
}

int options_status(enum options_result result)
{
    return result == OPTIONS_HELPED ? COMMAND_YES : COMMAND_FAILED;
}
