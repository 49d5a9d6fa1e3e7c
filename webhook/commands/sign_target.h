/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_COMMANDS_SIGN_TARGET_H
#define WEBHOOK_COMMANDS_SIGN_TARGET_H

/*
 * sign_target - reads the document to be signed, from a file of its own or from the manifest of a
 * ConfigMap, and checks that it is valid evidence.
 *
 * Errors     0; -EINVAL: the error and its place are reported on standard error; -ENOMEM, -EIO.
 * Ownership  everything is in the given arena.
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
    struct str name;     /* of the ConfigMap; absent: the existing name stays */
};

/* name: the value of --name, or NULL. */
int sign_target_read(const char *file, const char *name, struct arena *arena,
                     struct sign_target *ret_target)
    __attribute__((warn_unused_result, nonnull(1, 3, 4)));

/* 0: the gate will accept the document with this signature. -EINVAL: the reason is reported. */
int sign_target_judge(const struct sign_target *target, const struct signer *signer,
                      const struct sign_manifest *signed_as, struct arena *arena)
    __attribute__((warn_unused_result, nonnull));

#endif
