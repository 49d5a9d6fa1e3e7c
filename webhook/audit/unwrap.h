/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_AUDIT_UNWRAP_H
#define WEBHOOK_AUDIT_UNWRAP_H

/*
 * unwrap - takes off what platforms put around an audit event or a line of the decision log: a
 * prefix of the line, or JSON that holds the line in a field. One table for each of the two says
 * which (logs.md). Wrappings may be nested. Lines that a container runtime has split are put
 * together.
 *
 * Errors     0; -ENOMEM; what `take` returned.
 * Ownership  texts are borrowed during `take`. unwrap_done() frees parts of lines.
 */

#include <stddef.h>
#include <stdint.h>

#include "planner/base/text.h"

#define UNWRAP_MAX_DEPTH 4u
#define UNWRAP_MAX_BYTES ((size_t)16 << 20) /* of a line that is put together */
#define UNWRAP_STREAM_COUNT 2               /* standard output and standard error */

struct unwrap_part {
    char *bytes; /* owned; NULL if there is none */
    size_t len, capacity;
};

struct unwrap {
    struct unwrap_part parts[UNWRAP_STREAM_COUNT];
};

/* Called for each text; a text without a wrapping is handed on as it is. */
typedef int unwrap_take(void *context, struct str text);

int unwrap_text(struct unwrap *unwrap, struct str text, unwrap_take *take, void *context)
    __attribute__((warn_unused_result, nonnull(1, 3)));

/* At the end of a file: hands on what is left of lines that were not finished, as it is. */
int unwrap_end(struct unwrap *unwrap, unwrap_take *take, void *context)
    __attribute__((warn_unused_result, nonnull(1, 2)));
void unwrap_done(struct unwrap *unwrap);

#endif
