/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_LOOPBACK_H
#define WEBHOOK_SERVER_LOOPBACK_H

/*
 * loopback - whether a client is on this host itself, not behind a proxy on it, and addresses this
 * host by a name that no foreign DNS server controls.
 *
 * Pure.
 */

#include <stdbool.h>
#include <sys/socket.h>

#include "planner/base/text.h"

/* 127.0.0.1, ::1 and ::ffff:127.0.0.1 only: the sidecar of a service mesh connects from another
 * address of 127.0.0.0/8 for clients elsewhere. NULL: false. */
bool loopback_is_address(const struct sockaddr *address);

/* A header field that proxies add: the client is then elsewhere, whatever its address is. */
bool loopback_is_proxy_field(struct str name);

/* A value of the header Host: `localhost` or a loopback address, with or without a port. False for
 * any other name, also for one that resolves to a loopback address. */
bool loopback_is_host(struct str host);

#endif
