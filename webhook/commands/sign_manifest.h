/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_COMMANDS_SIGN_MANIFEST_H
#define WEBHOOK_COMMANDS_SIGN_MANIFEST_H

/*
 * sign_manifest - the ConfigMap that carries a signed document (gate-v1, section 4): made anew, or
 * an existing one with a signature more. It is read back before it is given out, and carries the
 * signed bytes exactly.
 *
 * Errors     0; -EINVAL the manifest does not read back as the signed bytes; -ENOMEM, -EIO.
 */

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"

struct sign_manifest {
    const cJSON *before;       /* the ConfigMap that is signed once more; NULL: a new one */
    struct str name;           /* present, but for `before`, where absent means its own */
    struct str namespace_name; /* absent: none is written, or the one of `before` stays */
    struct str key_id;
    struct str signature; /* base64 */
    struct str document;
};

int sign_manifest_write(const struct sign_manifest *manifest, struct arena *arena,
                        struct str *ret_text) __attribute__((warn_unused_result, nonnull));

/* The name of an object made of any text: `acme/report@1.4.0` gives `acme-report-1.4.0`. An absent
 * text where nothing is left, or too much. */
int sign_make_name(struct str text, struct arena *arena, struct str *ret_name)
    __attribute__((warn_unused_result, nonnull));

#endif
