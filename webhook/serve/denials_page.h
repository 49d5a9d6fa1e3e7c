/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVE_DENIALS_PAGE_H
#define WEBHOOK_SERVE_DENIALS_PAGE_H

/*
 * denials_page - the last denials of a replica as the HTML page that `review --output html` writes.
 *
 * Errors     0; -ENOMEM; -EIO the crypto library failed, or the system gave no random numbers.
 * Ownership  the page is in the arena.
 * Threads    any number.
 */

#include "planner/base/arena.h"
#include "planner/base/moment.h"
#include "planner/base/text.h"
#include "webhook/record/denials.h"

int denials_page_write(const struct denials_view *view, struct moment now, struct arena *arena,
                       struct str *ret_html) __attribute__((warn_unused_result, nonnull));

#endif
