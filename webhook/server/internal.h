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

#define ADMIN_MAX_PAGES 4 /* sent at once: each can hold DENIALS_MAX_BYTES and more */

/* An answer of /denials that is being sent. */
struct admin_page {
    uint64_t charged_bytes; /* to the budget; 0: this place is free */
};

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
    struct admin_page admin_pages[ADMIN_MAX_PAGES];
};

/* Starts the plain HTTP port for probes and metrics. Takes over the descriptor, also on failure. 0,
 * -EIO. */
int admin_start(struct server *server, int listen_fd) __attribute__((warn_unused_result));

/* admin_denials.c: the answer of /denials and /denials.json. *ret_page is the place of an answer
 * with denials, until admin_page_done(); NULL for an answer without. */
struct answer_text admin_denials(struct server *server, struct MHD_Connection *mhd, const char *url,
                                 int *ret_status, struct admin_page **ret_page);
void admin_page_done(struct server *server, struct admin_page *page);

#endif
