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

#define OPEN_WORLD_ROWS 5
#define OPEN_WORLD_READ_MSEC 60000 /* for the lists of a cluster */

/* What the command line says; NULL stands for what the configuration says. */
struct open_world_choice {
    const char *config;
    const char *evidence;
    const char *keyring;
    const char *kubeconfig;
    const char *context;
};

struct open_world {
    struct world *world;
    struct snapshot *snapshot;
    struct config *config;
};

/* Rows of these options. */
void open_world_rows(struct open_world_choice *choice,
                     struct option_row ret_rows[static OPEN_WORLD_ROWS]);

/* What is wrong about the choice, for options_refuse(); NULL: nothing. */
const char *open_world_problem(const struct open_world_choice *choice);

/* Says on standard error what is wrong. */
int open_world(const struct open_world_choice *choice, struct open_world *ret_open)
    __attribute__((warn_unused_result, nonnull));
void open_world_done(struct open_world *open);
#define cleanup_open_world __attribute__((cleanup(open_world_done)))

/* The moment of a text, or of the clock where text is NULL; false where it is no time. */
bool open_world_moment(const char *text, struct moment *ret_moment);

#endif
