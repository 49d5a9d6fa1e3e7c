/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_CONNECTION_H
#define WEBHOOK_SERVER_CONNECTION_H

/*
 * connection - one TLS connection: which phase it is in since when, and its way to the socket.
 *
 * libmicrohttpd's own timeout counts inactivity, so a trickle would live for ever, and it does not
 * say when a handshake ended or a request began. GnuTLS reads and writes the socket through
 * functions of ours instead, which see both (gate-v1, section 8: a handshake, or a request once
 * begun, is complete within 10 s, however it trickles).
 *
 * Phases     handshake → idle → request → answer → idle …; from any of them to cut, which is final.
 *            A phase and its beginning are one atomic word: who cuts must win against who completes
 *            a body, and a complete body is never cut for being slow or for want of room.
 * Threads    a connection belongs to the thread that serves it; the phase may be read by any, and
 *            connection_cut() be called by any that holds the table's lock.
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
    CONNECTION_IDLE,    /* between requests, or not asked yet */
    CONNECTION_REQUEST, /* its first byte has come, its last has not */
    CONNECTION_WORK,    /* complete; the answer is being made */
    CONNECTION_ANSWER,  /* the answer is on its way */
    CONNECTION_CUT,
};

struct peer;
struct server_shared;

struct connection {
    struct connection *next; /* the table's list */
    struct connection *before;
    struct peer *peer; /* the table's */
    struct server_shared *shared;
    struct MHD_Connection *mhd;
    int fd; /* owned by libmicrohttpd */
    _Atomic uint64_t phase;

    /* Suspends a connection until its socket has something to read. */
    void (*park)(void *context, struct connection *connection);
    void *park_context;

    gnutls_session_t session;            /* owned by libmicrohttpd */
    struct tls_credentials *credentials; /* those the handshake began with */
    bool finished_in;                    /* the peer's half of the handshake */
    bool finished_out;                   /* ours */
    bool watched;                        /* the reaper's epoll has it */
    bool may_ask;                        /* the verdict of that generation */
    bool asked;
    uint64_t asked_generation;

    /* The head of an answer, until its body follows: one packet instead of two. */
    bool hold_next;
    size_t held_bytes;
    unsigned char held[CONNECTION_MAX_HELD_BYTES];

    struct request request; /* the one being served */
};

enum connection_phase connection_phase(const struct connection *connection, uint64_t *ret_since);

/* In the phase of the handshake from now on. */
void connection_init(struct connection *connection, struct server_shared *shared,
                     struct MHD_Connection *mhd, int fd);

/* Takes over the session's reading and writing. park is called where a handshake has nothing to
 * read. 0, or -EIO. */
int connection_begin(struct connection *connection,
                     void (*park)(void *context, struct connection *connection), void *park_context)
    __attribute__((warn_unused_result));

/* The steps of a request; false where the connection was cut meanwhile. */
bool connection_step(struct connection *connection, enum connection_phase from,
                     enum connection_phase to);

/* Ends it where it still is as it was seen: false where it went on meanwhile. Idle ones get a
 * close notification. */
bool connection_cut(struct connection *connection, enum connection_phase seen, uint64_t since);

/* The next record written is the head of an answer, and more will follow at once. */
static inline void connection_hold_head(struct connection *connection)
{
    connection->hold_next = true;
}

/* Whether who is at the other end may ask for a review. */
bool connection_may_ask(struct connection *connection, struct tls *tls);

#endif
