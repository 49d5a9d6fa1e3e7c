/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_COMMANDS_OPEN_RUNTIME_H
#define WEBHOOK_COMMANDS_OPEN_RUNTIME_H

/*
 * open_runtime - configuration, keyring and evidence for a command that ends soon: check, evidence.
 *
 * Evidence is that of the folder or cluster that the command line names, else of the configuration,
 * else of the cluster that kubectl would ask.
 */

#include <stdbool.h>

#include "planner/base/moment.h"
#include "webhook/cli/options.h"
#include "webhook/runtime/runtime.h"

#define OPEN_RUNTIME_ROWS 5
#define OPEN_RUNTIME_READ_MSEC 60000 /* for the lists of a cluster */

/* What the command line says; NULL stands for what the configuration says. */
struct open_runtime_choice {
    const char *config;
    const char *evidence;
    const char *keyring;
    const char *kubeconfig;
    const char *context;
};

struct open_runtime {
    struct runtime *runtime;
    struct snapshot *snapshot;
    struct config *config;
};

/* Rows of these options. */
void open_runtime_rows(struct open_runtime_choice *choice,
                       struct option_row ret_rows[static OPEN_RUNTIME_ROWS]);

/* What is wrong about the choice, for options_refuse(); NULL: nothing. */
const char *open_runtime_problem(const struct open_runtime_choice *choice);

/* Says on standard error what is wrong. */
int open_runtime(const struct open_runtime_choice *choice, struct open_runtime *ret_open)
    __attribute__((warn_unused_result, nonnull));
void open_runtime_done(struct open_runtime *open);
#define cleanup_open_runtime __attribute__((cleanup(open_runtime_done)))

/* The moment of a text, or of the clock where text is NULL; false where it is no time. */
bool open_runtime_moment(const char *text, struct moment *ret_moment);

#endif
