/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_CONNECTION_TABLE_H
#define WEBHOOK_SERVER_CONNECTION_TABLE_H

/*
 * connection_table - all open connections of the webhook port and the addresses that they come
 * from. It cuts connections that are too slow, and one connection for each that exceeds the limit
 * (gate-v1, section 8).
 *
 * Above the limit the connection that has been idle longest is cut. If none is idle, it is the
 * oldest unfinished one of the address that has the most unfinished ones. A connection whose
 * request body is complete is never cut.
 *
 * Threads    any. One lock is held for a walk over the list at most, never while a request is
 *            served.
 * Ownership  a connection lives from connection_table_open() to connection_table_close(). Both are
 *            called by its own thread while its descriptor is open, so a descriptor in the table
 *            always belongs to its connection.
 */

#include <microhttpd.h>
#include <pthread.h>
#include <sys/socket.h>

#include "webhook/metrics/metrics.h"
#include "webhook/server/budget.h"

#define CONNECTION_TABLE_PEER_BUCKETS 256

struct connection;
struct server_shared;

/* An address, shared by all connections that come from it. */
struct peer {
    struct peer *next; /* in its bucket */
    struct budget_share share;
    unsigned char address[16]; /* IPv6, or IPv4 mapped into it */
    unsigned count;            /* connections */
    unsigned unfinished;       /* scratch of the walk that chooses which connection is cut */
};

struct connection_table {
    pthread_mutex_t lock;
    struct connection *first;
    struct peer *peers[CONNECTION_TABLE_PEER_BUCKETS];
    struct metrics *metrics;
    _Atomic uint64_t max_connections;
    _Atomic uint64_t count;
    uint64_t cut; /* of these, cut but not closed yet */
    uint64_t slow_msec;
};

/* 0, -ENOMEM. */
int connection_table_init(struct connection_table *table, struct metrics *metrics,
                          uint64_t max_connections, uint64_t slow_msec)
    __attribute__((warn_unused_result));
void connection_table_done(struct connection_table *table);

/* Cuts another connection where there are too many. NULL: out of memory. */
struct connection *connection_table_open(struct connection_table *table,
                                         struct server_shared *shared, struct MHD_Connection *mhd,
                                         int fd, const struct sockaddr *address)
    __attribute__((warn_unused_result));
void connection_table_close(struct connection_table *table, struct connection *connection);

/* Cuts connections that are too slow. Returns how many are open. */
uint64_t connection_table_sweep(struct connection_table *table, uint64_t now_msec);

/* Cuts idle connections and unfinished handshakes. Returns how many have a request in progress. */
uint64_t connection_table_cut_idle(struct connection_table *table);
void connection_table_cut_all(struct connection_table *table);

/* The address as text, without the port. */
#define PEER_TEXT_BYTES 46
void peer_write(const struct peer *peer, char ret_text[static PEER_TEXT_BYTES]);

#endif
