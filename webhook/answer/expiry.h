/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_ANSWER_EXPIRY_H
#define WEBHOOK_ANSWER_EXPIRY_H

/*
 * expiry - the warning that a document in use ends soon (gate-v1, section 7): written for the
 * client, and read again out of a log.
 *
 * Decision logs written before the member `expiring` existed carry the end of a document in this
 * warning alone. Writer and reader use one table of texts, so a change of the words cannot separate
 * them: a new text becomes the first row, and the earlier ones stay readable.
 *
 * Errors     answer_expiry_write(): 0, -ENOMEM.
 * Ownership  what is written is in the arena; what is read points into the warning.
 */

#include <stdbool.h>

#include "planner/base/arena.h"
#include "planner/base/moment.h"
#include "planner/base/text.h"

struct answer_expiry {
    struct str kind; /* "evidence" or "exemption", without blanks */
    struct str name; /* `<namespace>/<name>` */
    struct moment at;
};

/* The caller cuts the warning to its limit. The time comes before the name, so it is never cut. */
int answer_expiry_write(const struct answer_expiry *expiry, struct arena *arena,
                        struct str *ret_warning) __attribute__((warn_unused_result, nonnull));

/* False for any other warning; then *ret_expiry is unchanged. */
bool answer_expiry_read(struct str warning, struct answer_expiry *ret_expiry)
    __attribute__((warn_unused_result, nonnull));

#endif
