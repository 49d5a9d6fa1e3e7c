/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_COMMANDS_OPEN_RUNTIME_H
#define WEBHOOK_COMMANDS_OPEN_RUNTIME_H

/*
 * open_runtime - reads configuration, keyring and evidence once, for the commands check and
 * evidence. (runtime.h keeps them up to date for `serve`.)
 *
 * Evidence is read from the directory or cluster that the options name, else from that of the
 * configuration, else from the cluster that kubectl would use.
 */

#include <stdbool.h>

#include "planner/base/moment.h"
#include "webhook/cli/options.h"
#include "webhook/runtime/runtime.h"

#define OPEN_RUNTIME_ROWS 5
#define OPEN_RUNTIME_READ_MSEC 60000 /* limit for the lists of a cluster */

/* The values of the options; NULL: as the configuration says. */
struct open_runtime_choice {
    const char *config;
    const char *evidence;
    const char *keyring;
    const char *kubeconfig;
    const char *context;
    bool evidence_only; /* NetworkPolicies are not needed */
};

struct open_runtime {
    struct runtime *runtime;
    struct snapshot *snapshot;
    struct config *config;
};

/* The rows of these options, for options_read(). */
void open_runtime_rows(struct open_runtime_choice *choice,
                       struct option_row ret_rows[static OPEN_RUNTIME_ROWS]);

/* An error in the combination of options, for options_refuse(); NULL if there is none. */
const char *open_runtime_problem(const struct open_runtime_choice *choice);

/* 0 or negative errno; the error is reported on standard error. */
int open_runtime(const struct open_runtime_choice *choice, struct open_runtime *ret_open)
    __attribute__((warn_unused_result, nonnull));
void open_runtime_done(struct open_runtime *open);
#define cleanup_open_runtime __attribute__((cleanup(open_runtime_done)))

/* The moment in an RFC 3339 text, or now if text is NULL; false if the text is not a time. */
bool open_runtime_moment(const char *text, struct moment *ret_moment);

#endif
