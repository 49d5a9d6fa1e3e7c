/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_REAPER_H
#define WEBHOOK_SERVER_REAPER_H

/*
 * reaper - the server's one thread beside those that serve: it ends what is late, and waits for
 * handshakes that stand still.
 *
 * libmicrohttpd with epoll tries an unfinished handshake again and again without waiting. So a
 * handshake that has nothing to read is parked: suspended there, watched here, resumed once the
 * socket has something.
 *
 * Errors     0 or negative errno.
 * Threads    reaper_park() is called by the connection's own thread.
 */

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct connection;
struct connection_table;

struct reaper {
    struct connection_table *table;
    int epoll_fd; /* owned, as the next */
    int wake_fd;
    _Atomic bool stop;
    bool running;
    pthread_t thread;
};

int reaper_start(struct reaper *reaper, struct connection_table *table)
    __attribute__((warn_unused_result));
/* Ends the thread and what belongs to it. */
void reaper_done(struct reaper *reaper);

/* For connection_begin(): context is the reaper. */
void reaper_park(void *context, struct connection *connection);
/* Before the descriptor is closed. */
void reaper_forget(struct reaper *reaper, struct connection *connection);

#endif
