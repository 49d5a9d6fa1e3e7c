/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_CLI_KNOWN_H
#define WEBHOOK_CLI_KNOWN_H

/* known - options that mean the same in every command that has them.
 *
 * Their --help texts and short letters are in one table. */

#include "webhook/cli/options.h"

enum option_known {
    OPTION_CONFIG = 0,
    OPTION_EVIDENCE,
    OPTION_KEYRING,
    OPTION_KUBECONFIG,
    OPTION_CONTEXT,
    OPTION_NAMESPACE,
    OPTION_AS_OF,
    OPTION_RECURSIVE,
    OPTION_OUTPUT,
    OPTION_KNOWN_COUNT
};

struct option_row option_known_text(enum option_known which, const char **target);
struct option_row option_known_flag(enum option_known which, bool *target);
/* -o, --output: one of these choices; the list ends with NULL. */
struct option_row option_output(const char *const *choices, const char *help, unsigned *target);

/* The row with another --help text. */
struct option_row option_explained(struct option_row row, const char *help);

#endif
