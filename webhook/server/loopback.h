/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_LOOPBACK_H
#define WEBHOOK_SERVER_LOOPBACK_H

/*
 * loopback - whether somebody speaks from this host, and to it.
 *
 * Pure.
 */

#include <stdbool.h>
#include <sys/socket.h>

#include "planner/base/text.h"

/* 127.0.0.0/8, ::1, and the former mapped into IPv6. */
bool loopback_is_address(const struct sockaddr *address);

/* The value of a header Host: `localhost` or such an address, with or without a port. A name that
 * somebody else's resolver answers with our address is none. */
bool loopback_is_host(struct str host);

#endif
