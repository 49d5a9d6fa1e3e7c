/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_CONNECTION_H
#define WEBHOOK_SERVER_CONNECTION_H

/*
 * connection - one TLS connection: its current phase, since when, and reading and writing its
 * socket.
 *
 * libmicrohttpd's own timeout counts inactivity, so it never ends a connection that sends one byte
 * now and then, and it does not report when a handshake ended or a request began. GnuTLS therefore
 * reads and writes the socket through functions of connection.c, which see both (gate-v1, section
 * 8: a handshake, and a request that has begun, must be complete within 10 s).
 *
 * Phases     HANDSHAKE -> IDLE -> REQUEST -> WORK -> ANSWER -> IDLE ...; from each of them to CUT,
 *            which is final. Phase and time are one atomic word: cutting a connection and
 *            completing a body exclude each other, so a complete body is never cut for being slow
 *            or because there are too many connections.
 * Threads    a connection belongs to the thread that serves it. Any thread may read the phase, and
 *            may call connection_cut() while it holds the lock of the connection table.
 * Units      milliseconds of the monotonic clock.
 */

#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "webhook/server/request.h"
#include "webhook/tls/credentials.h"

#define CONNECTION_MAX_HELD_BYTES 1024

enum connection_phase {
    CONNECTION_NONE = 0,
    CONNECTION_HANDSHAKE,
    CONNECTION_IDLE,    /* between two requests, or before the first */
    CONNECTION_REQUEST, /* the first byte of a request has arrived, the last has not */
    CONNECTION_WORK,    /* the request is complete, the answer is not */
    CONNECTION_ANSWER,  /* the answer is being sent */
    CONNECTION_CUT,
};

struct peer;
struct server_shared;

struct connection {
    struct connection *next; /* in the list of the table */
    struct connection *before;
    struct peer *peer; /* owned by the table */
    struct server_shared *shared;
    struct MHD_Connection *mhd;
    int fd; /* owned by libmicrohttpd */
    _Atomic uint64_t phase;

    void (*park)(void *context, struct connection *connection);
    void *park_context;

    gnutls_session_t session;            /* owned by libmicrohttpd */
    struct tls_credentials *credentials; /* those that the handshake began with; one reference */
    bool finished_in;                    /* the client's Finished message was received */
    bool finished_out;                   /* ours was sent */
    bool watched;                        /* the reaper's epoll has the descriptor */

    /* The result of connection_client_allowed() for the credentials of that generation. */
    bool client_checked;
    bool client_allowed;
    uint64_t checked_generation;

    /* The head of an answer, held back until its body follows: one packet instead of two. */
    bool hold_next;
    size_t held_bytes;
    unsigned char held[CONNECTION_MAX_HELD_BYTES];

    struct str uri;         /* of its request line, in the library's buffer */
    struct request request; /* the one that is being served */
};

enum connection_phase connection_phase(const struct connection *connection, uint64_t *ret_since);

/* The connection is in the phase HANDSHAKE from now on. */
void connection_init(struct connection *connection, struct server_shared *shared,
                     struct MHD_Connection *mhd, int fd);

/* Takes over reading and writing of the session. park(park_context, connection) is called when a
 * handshake has nothing to read: it suspends the connection until its socket has data. 0, or
 * -EIO. */
int connection_begin(struct connection *connection,
                     void (*park)(void *context, struct connection *connection), void *park_context)
    __attribute__((warn_unused_result));

/* Goes from one phase to another. False, and no change, where it is in another phase than `from`:
 * the connection was cut. */
bool connection_step(struct connection *connection, enum connection_phase from,
                     enum connection_phase to);

/* Cuts a connection that is still in the phase that was seen. False where it went on since then. An
 * idle connection gets a TLS close notification. */
bool connection_cut(struct connection *connection, enum connection_phase seen, uint64_t since);

/* The next record that is written is the head of an answer, and its body follows at once. */
static inline void connection_hold_head(struct connection *connection)
{
    connection->hold_next = true;
}

/* Whether the client may ask for reviews, by the newest credentials. */
bool connection_client_allowed(struct connection *connection, struct tls *tls);

#endif
