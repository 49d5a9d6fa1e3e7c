/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_COMMANDS_SIGN_TARGET_H
#define WEBHOOK_COMMANDS_SIGN_TARGET_H

/*
 * sign_target - what is to be signed: a document, or the one in a ConfigMap's manifest, and
 * whether it is valid evidence.
 *
 * Errors     0; -EINVAL, said on standard error with its place; -ENOMEM, -EIO.
 * Ownership  everything lies in the given arena.
 */

#include <cjson/cJSON.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"
#include "webhook/commands/sign_manifest.h"
#include "webhook/commands/signer.h"

struct sign_target {
    const char *file;
    const cJSON *configmap; /* NULL: the file is the document */
    size_t line;            /* of the ConfigMap in the file */
    size_t column;
    struct str document; /* the exact bytes */
    const cJSON *tree;   /* read from them */
    struct str name;     /* of the ConfigMap; absent: the one it has */
};

/* name: what the command line says, or NULL. */
int sign_target_read(const char *file, const char *name, struct arena *arena,
                     struct sign_target *ret_target)
    __attribute__((warn_unused_result, nonnull(1, 3, 4)));

/* Whether the gate would take it, signed like this. -EINVAL: said why not. */
int sign_target_judge(const struct sign_target *target, const struct signer *signer,
                      const struct sign_manifest *signed_as, struct arena *arena)
    __attribute__((warn_unused_result, nonnull));

#endif
