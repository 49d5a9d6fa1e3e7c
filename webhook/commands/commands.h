/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_COMMANDS_COMMANDS_H
#define WEBHOOK_COMMANDS_COMMANDS_H

/*
 * commands - the subcommands of the program (gate-v1, section 9), one file each.
 *
 * Each reads its own options, reports errors on standard error in the form
 * `sandgate: FILE:LINE:COL: what`, and returns an exit status (cli/status.h). argv[0] is the name
 * for messages: "sandgate plan", or "kubectl sandgate plan".
 */

#include "webhook/cli/status.h"

struct command {
    const char *name;
    const char *summary; /* one line for the list of commands */
    int (*run)(int argc, char **argv);
};

extern const struct command command_check;
extern const struct command command_evidence;
extern const struct command command_plan;
extern const struct command command_replay;
extern const struct command command_review;
extern const struct command command_serve;
extern const struct command command_sign;
extern const struct command command_verify;
extern const struct command command_version;

#endif
