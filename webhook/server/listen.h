/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_LISTEN_H
#define WEBHOOK_SERVER_LISTEN_H

/*
 * listen - opens a listening socket; for IPv4 and IPv6 where no host is named.
 *
 * Errors     0; -EINVAL with reterr_reason (setting, address, why), in the arena; -ENOMEM.
 */

#include "planner/base/arena.h"
#include "webhook/config/config.h"

struct listener {
    int fd; /* owned by the caller; non-blocking */
    uint16_t port;
    bool without_ipv6; /* all addresses were requested, but this system has IPv4 only */
};

/* `setting` names the configuration key in the reason. */
int listen_open(const struct config_address *address, const char *setting, struct arena *arena,
                struct listener *ret_listener, struct str *reterr_reason)
    __attribute__((warn_unused_result, nonnull));

/* "[::]:8443". Absent where the arena is full. */
struct str listen_text(const struct config_address *address, uint16_t port, struct arena *arena);

#endif
