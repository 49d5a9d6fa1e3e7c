#ifndef WEBHOOK_COMMANDS_OPEN_WORLD_H
#define WEBHOOK_COMMANDS_OPEN_WORLD_H

/* open_world - configuration, keyring and evidence for a command that ends soon: check, evidence.
 */

#include <stdbool.h>

#include "planner/moment.h"
#include "webhook/world.h"

struct open_world {
    struct world *world;
    struct snapshot *snapshot;
    struct config *config;
};

/* NULL stands for what the configuration says. Says on standard error what is wrong. */
int open_world(const char *config, const char *evidence, const char *keyring,
               struct open_world *ret_open) __attribute__((warn_unused_result, nonnull(4)));
void open_world_done(struct open_world *open);
#define cleanup_open_world __attribute__((cleanup(open_world_done)))

/* The moment of a text, or of the clock where text is NULL; false where it is no time. */
bool open_world_moment(const char *text, struct moment *ret_moment);

#endif
