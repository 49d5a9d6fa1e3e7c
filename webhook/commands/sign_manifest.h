/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_COMMANDS_SIGN_MANIFEST_H
#define WEBHOOK_COMMANDS_SIGN_MANIFEST_H

/*
 * sign_manifest - writes the ConfigMap of a signed document (gate-v1, section 4): a new one, or an
 * existing one with one more signature. The text is read back before it is returned, so that it is
 * certain to hold exactly the signed bytes.
 *
 * Errors     0; -EINVAL: the manifest does not read back as the signed bytes; -ENOMEM, -EIO.
 */

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"

struct sign_manifest {
    const cJSON *existing;     /* the ConfigMap that gets one more signature; NULL: a new one */
    struct str name;           /* absent: the name of `existing` stays */
    struct str namespace_name; /* absent: the one of `existing` stays; a new one has none */
    struct str key_id;
    struct str signature; /* base64 */
    struct str document;
};

int sign_manifest_write(const struct sign_manifest *manifest, struct arena *arena,
                        struct str *ret_text) __attribute__((warn_unused_result, nonnull));

/* Makes the name of an object from any text: `acme/report@1.4.0` gives `acme-report-1.4.0`. Absent
 * if the result is empty or too long. */
int sign_make_name(struct str text, struct arena *arena, struct str *ret_name)
    __attribute__((warn_unused_result, nonnull));

#endif
