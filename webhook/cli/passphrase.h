/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_CLI_PASSPHRASE_H
#define WEBHOOK_CLI_PASSPHRASE_H

/*
 * passphrase - reads the passphrase of a private key from a file, an environment variable or the
 * terminal (without echo).
 *
 * Errors     0 or negative errno; an error is reported on standard error.
 * Ownership  the caller wipes the passphrase (cleanup_passphrase).
 */

#include <stddef.h>

#define PASSPHRASE_MAX_BYTES 1024

struct passphrase {
    char text[PASSPHRASE_MAX_BYTES]; /* ends with NUL */
};

/* The first line of the file, without the line end. */
int passphrase_read_file(const char *path, struct passphrase *ret_passphrase)
    __attribute__((warn_unused_result, nonnull));
/* The variable is empty afterwards. */
int passphrase_read_environment(const char *name, struct passphrase *ret_passphrase)
    __attribute__((warn_unused_result, nonnull));
/* -ENXIO: there is no terminal; -ECANCELED: Ctrl-C. */
int passphrase_ask(const char *key_file, struct passphrase *ret_passphrase)
    __attribute__((warn_unused_result, nonnull));

void passphrase_wipe(struct passphrase *passphrase);
#define cleanup_passphrase __attribute__((cleanup(passphrase_wipe)))

#endif
