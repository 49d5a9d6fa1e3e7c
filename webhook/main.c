/* SPDX-License-Identifier: Apache-2.0 */
/* main - finds the subcommand that the first argument names, and runs it. */

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "webhook/cli/output.h"
#include "webhook/commands/commands.h"
#include "webhook/util/core_dump.h"
#include "webhook/util/nearest.h"

#define NAME_MAX_BYTES 64

static const struct command *const commands[] = {
    &command_check, &command_evidence, &command_plan,   &command_replay,  &command_review,
    &command_serve, &command_sign,     &command_verify, &command_version,
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

/* kubectl finds its plugins by their file names. Only the name in messages differs. */
static const char *shown_name(const char *argv0)
{
    const char *slash = argv0 != NULL ? strrchr(argv0, '/') : NULL;
    const char *file = slash != NULL ? slash + 1 : argv0;

    return file != NULL && strcmp(file, "kubectl-sandgate") == 0 ? "kubectl sandgate" : "sandgate";
}

static void print_usage(FILE *stream, const char *name)
{
    fprintf(stream,
            "Usage: %s COMMAND [OPTION…] [ARGUMENT…]\n\n"
            "Decides whether the declared sandbox of a Kubernetes pod is admitted, and gives the "
            "reasons.\n\nCommands:\n",
            name);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(stream, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(stream,
            "\n`%s COMMAND --help` describes the options of a command.\n\n"
            "Example:\n  %s check -f deployment.yaml --evidence evidence/ --keyring keys/\n",
            name, name);
}

static int refuse_command(const char *name, const char *given)
{
    const char *names[COMMAND_COUNT];
    const char *nearest = NULL;

    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i]->name;
    nearest = nearest_name(str_of(given), names, COMMAND_COUNT);
    if (nearest != NULL)
        output_error("unknown command %s; did you mean %s? (see `%s --help`)", given, nearest,
                     name);
    else
        output_error("unknown command %s (see `%s --help`)", given, name);
    return COMMAND_FAILED;
}

static int dispatch(int argc, char **argv, const char *name)
{
    char shown[NAME_MAX_BYTES];

    if (argc < 2) {
        print_usage(stderr, name);
        return COMMAND_FAILED;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_usage(stdout, name);
        return COMMAND_YES;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        bool asked = strcmp(argv[1], commands[i]->name) == 0 ||
                     (strcmp(argv[1], "--version") == 0 && commands[i] == &command_version);

        if (asked) {
            (void)snprintf(shown, sizeof(shown), "%s %s", name, commands[i]->name);
            argv[1] = shown;
            return commands[i]->run(argc - 1, argv + 1);
        }
    }
    return refuse_command(name, argv[1]);
}

int main(int argc, char **argv)
{
    int status = COMMAND_FAILED;

    core_dump_disable();
    status = dispatch(argc, argv, shown_name(argc > 0 ? argv[0] : NULL));

    /* if the disk is full, the exit status must not say success */
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        output_error("standard output cannot be written");
        return COMMAND_FAILED;
    }
    return status;
}
