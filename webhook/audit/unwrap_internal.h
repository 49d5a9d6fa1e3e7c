/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_AUDIT_UNWRAP_INTERNAL_H
#define WEBHOOK_AUDIT_UNWRAP_INTERNAL_H

/* unwrap_internal - what unwrap.c uses of unwrap_json.c. Errors as in unwrap.h. */

#include <stdbool.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"

/* A text that was found in a field. */
struct unwrap_field {
    struct str text;
    bool piece; /* of a file of Docker: without a line feed at its end, more of the line follows */
    bool of_stderr;
};

typedef int unwrap_found(void *context, const struct unwrap_field *field);

/* Calls found for each text that a field of the table holds. *ret_found is false if there is none.
 * Texts out of JSON strings are in the arena. */
int unwrap_json(struct str text, struct arena *arena, unwrap_found *found, void *context,
                bool *ret_found) __attribute__((warn_unused_result, nonnull(2, 3, 5)));

#endif
