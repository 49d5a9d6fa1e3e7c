#ifndef WEBHOOK_KEEPER_H
#define WEBHOOK_KEEPER_H

/*
 * keeper - the server's one thread beside those that serve: it accepts, ends what is late, and
 * waits for handshakes that stand still.
 *
 * libmicrohttpd with epoll tries an unfinished handshake again and again without waiting. So a
 * handshake that has nothing to read is parked: suspended there, watched here, resumed once the
 * socket has something.
 *
 * Errors     0 or negative errno.
 * Threads    keeper_park() is called by the connection's own thread.
 */

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "webhook/book.h"

struct keeper {
    struct book *book;
    struct MHD_Daemon *daemon;
    const struct log *log;
    int listen_fd; /* owned; -1 once closed */
    int epoll_fd;
    int wake_fd;
    bool full; /* accepting waits for the next turn: no descriptors left */
    _Atomic bool stop_accepting;
    _Atomic bool stop;
    bool running;
    pthread_t thread;
};

/* Takes over the descriptor, even where it fails. */
int keeper_init(struct keeper *keeper, struct book *book, int listen_fd, const struct log *log)
    __attribute__((warn_unused_result));
int keeper_start(struct keeper *keeper, struct MHD_Daemon *daemon)
    __attribute__((warn_unused_result));
/* Closes the port; the rest goes on. */
void keeper_stop_accepting(struct keeper *keeper);
/* Ends the thread and what belongs to it. */
void keeper_done(struct keeper *keeper);

void keeper_park(struct connection *connection);
/* Before the descriptor is closed. */
void keeper_forget(struct connection *connection);

#endif
