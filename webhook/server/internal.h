/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_INTERNAL_H
#define WEBHOOK_SERVER_INTERNAL_H

/*
 * internal - struct server, which only server.c and the files of the admin port see.
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
    uint64_t max_descriptors; /* RLIMIT_NOFILE */

    /* used by the thread of the admin port only, so without a lock */
    struct metrics_evidence evidence;
    unsigned admin_pages; /* answers of /denials that are being sent */
};

/* Starts the plain HTTP port for probes and metrics. Takes over the descriptor, also on failure. 0,
 * -EIO. */
int admin_start(struct server *server, int listen_fd) __attribute__((warn_unused_result));

/* admin_denials.c: the answer of /denials and /denials.json. An answer that is confidential is
 * counted in admin_pages until it is sent. */
struct answer_text admin_denials(struct server *server, struct MHD_Connection *mhd, const char *url,
                                 int *ret_status);

#endif
