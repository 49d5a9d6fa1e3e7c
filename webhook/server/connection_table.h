#ifndef WEBHOOK_SERVER_CONNECTION_TABLE_H
#define WEBHOOK_SERVER_CONNECTION_TABLE_H

/*
 * connection_table - all open connections of the server and the addresses they come from: who is late, and who
 * goes where there are too many (gate-v1, section 8).
 *
 * Beyond the limit the longest idle one goes first, else the oldest unfinished one of the address
 * that holds most unfinished ones; never one whose body is complete.
 *
 * Threads    any; one lock, held for a walk over the list at most, never while a request is served.
 * Ownership  a connection lives from book_open() to book_close(), both called by its own thread
 *            while its descriptor is open. So a descriptor seen in the book is the right one.
 */

#include <pthread.h>

#include "webhook/server/connection.h"
#include "webhook/metrics/metrics.h"

#define BOOK_PEER_BUCKETS 256

/* An address, shared by its connections. */
struct peer {
    struct peer *next; /* in its bucket */
    struct budget_share share;
    unsigned char address[16]; /* IPv6, or IPv4 mapped into it */
    unsigned count;            /* connections */
    unsigned tally;            /* scratch of the walk that looks for who goes */
};

struct book {
    pthread_mutex_t lock;
    struct connection *first;
    struct peer *peers[BOOK_PEER_BUCKETS];
    struct metrics *metrics;
    _Atomic uint64_t max_connections;
    _Atomic uint64_t count;
    uint64_t cut; /* of these, on their way out */
    uint64_t slow_msec;
};

int book_init(struct book *book, struct metrics *metrics, uint64_t max_connections,
              uint64_t slow_msec) __attribute__((warn_unused_result));
void book_done(struct book *book);

/* Makes room for it where there is none. NULL: out of memory. */
struct connection *book_open(struct book *book, struct server *server, struct MHD_Connection *mhd,
                             int fd, const struct sockaddr *address)
    __attribute__((warn_unused_result));
void book_close(struct book *book, struct connection *connection);

/* Cuts what is late. Answers how many are open. */
uint64_t book_sweep(struct book *book, uint64_t now_msec);

/* Cuts all that has no request begun. Answers how many are left that have. */
uint64_t book_cut_idle(struct book *book);
void book_cut_all(struct book *book);

/* Text of the address, without port. */
#define PEER_TEXT_BYTES 46
void peer_write(const struct peer *peer, char ret_text[static PEER_TEXT_BYTES]);

#endif
