/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_CLI_PASSPHRASE_H
#define WEBHOOK_CLI_PASSPHRASE_H

/*
 * passphrase - where the passphrase of a private key comes from: a file, a variable of the
 * environment, or the terminal, without echo.
 *
 * Errors     0; negative errno, and says on standard error what is wrong. The caller wipes it.
 */

#include <stddef.h>

#define PASSPHRASE_MAX_BYTES 1024

struct passphrase {
    char text[PASSPHRASE_MAX_BYTES]; /* ends with NUL */
};

/* The file's first line, without its end. */
int passphrase_read_file(const char *path, struct passphrase *ret_passphrase)
    __attribute__((warn_unused_result, nonnull));
int passphrase_read_environment(const char *name, struct passphrase *ret_passphrase)
    __attribute__((warn_unused_result, nonnull));
/* -ENXIO where there is no terminal; -ECANCELED at Ctrl-C. */
int passphrase_ask(const char *key_file, struct passphrase *ret_passphrase)
    __attribute__((warn_unused_result, nonnull));

void passphrase_wipe(struct passphrase *passphrase);
#define cleanup_passphrase __attribute__((cleanup(passphrase_wipe)))

#endif
