/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_CONNECTION_TABLE_H
#define WEBHOOK_SERVER_CONNECTION_TABLE_H

/*
 * connection_table - all open connections of the server and the addresses they come from: who is
 * late, and who goes where there are too many (gate-v1, section 8).
 *
 * Beyond the limit the longest idle one goes first, else the oldest unfinished one of the address
 * that holds most unfinished ones; never one whose body is complete.
 *
 * Threads    any; one lock, held for a walk over the list at most, never while a request is served.
 * Ownership  a connection lives from connection_table_open() to connection_table_close(), both
 * called by its own thread while its descriptor is open. So a descriptor seen in the table is the
 * right one.
 */

#include <microhttpd.h>
#include <pthread.h>
#include <sys/socket.h>

#include "webhook/metrics/metrics.h"
#include "webhook/server/budget.h"

#define CONNECTION_TABLE_PEER_BUCKETS 256

struct connection;
struct server_shared;

/* An address, shared by its connections. */
struct peer {
    struct peer *next; /* in its bucket */
    struct budget_share share;
    unsigned char address[16]; /* IPv6, or IPv4 mapped into it */
    unsigned count;            /* connections */
    unsigned tally;            /* scratch of the walk that looks for who goes */
};

struct connection_table {
    pthread_mutex_t lock;
    struct connection *first;
    struct peer *peers[CONNECTION_TABLE_PEER_BUCKETS];
    struct metrics *metrics;
    _Atomic uint64_t max_connections;
    _Atomic uint64_t count;
    uint64_t cut; /* of these, on their way out */
    uint64_t slow_msec;
};

int connection_table_init(struct connection_table *table, struct metrics *metrics,
                          uint64_t max_connections, uint64_t slow_msec)
    __attribute__((warn_unused_result));
void connection_table_done(struct connection_table *table);

/* Makes room for it where there is none. NULL: out of memory. */
struct connection *connection_table_open(struct connection_table *table,
                                         struct server_shared *shared, struct MHD_Connection *mhd,
                                         int fd, const struct sockaddr *address)
    __attribute__((warn_unused_result));
void connection_table_close(struct connection_table *table, struct connection *connection);

/* Cuts what is late. Answers how many are open. */
uint64_t connection_table_sweep(struct connection_table *table, uint64_t now_msec);

/* Cuts all that has no request begun. Answers how many are left that have. */
uint64_t connection_table_cut_idle(struct connection_table *table);
void connection_table_cut_all(struct connection_table *table);

/* Text of the address, without port. */
#define PEER_TEXT_BYTES 46
void peer_write(const struct peer *peer, char ret_text[static PEER_TEXT_BYTES]);

#endif
