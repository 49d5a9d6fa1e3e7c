/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_INTERNAL_H
#define WEBHOOK_SERVER_INTERNAL_H

/*
 * internal - what the server's files share; nobody else includes it.
 */

#include "webhook/server/connection_table.h"
#include "webhook/server/reaper.h"
#include "webhook/server/request.h"
#include "webhook/server/shared.h"

struct server {
    struct server_options options;
    struct server_shared shared;
    struct connection_table table;
    struct reaper reaper;
    struct MHD_Daemon *daemon;
    struct MHD_Daemon *admin;
    int listen_fd; /* owned; closed after the daemon, which polls it */
    uint16_t webhook_port;
    uint16_t admin_port;
    uint64_t max_descriptors; /* that the process may have open */

    /* the admin port's own thread's */
    struct metrics_evidence evidence;
    unsigned admin_pages; /* of /denials, on their way */
};

/* The plain port for probes and metrics. Takes over the descriptor, even where it fails. */
int admin_start(struct server *server, int listen_fd) __attribute__((warn_unused_result));

/* admin_denials.c: the answer of /denials and /denials.json. A confidential one counts among
 * admin_pages until it is sent. */
struct answer_text admin_denials(struct server *server, struct MHD_Connection *mhd, const char *url,
                                 int *ret_status);

#endif
