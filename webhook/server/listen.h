/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_LISTEN_H
#define WEBHOOK_SERVER_LISTEN_H

/*
 * listen - opens a port for connections, of both families where no host is named.
 *
 * Errors     0; -EINVAL with reterr_reason (address, what), in the arena; -ENOMEM.
 */

#include "planner/base/arena.h"
#include "webhook/config/config.h"

struct listener {
    int fd; /* the caller's; non-blocking */
    uint16_t port;
    bool without_ipv6; /* all addresses were asked for, and this system has IPv4 only */
};

int listen_open(const struct config_address *address, const char *setting, struct arena *arena,
                struct listener *ret_listener, struct str *reterr_reason)
    __attribute__((warn_unused_result, nonnull));

/* "[::]:8443" */
struct str listen_text(const struct config_address *address, uint16_t port, struct arena *arena);

#endif
