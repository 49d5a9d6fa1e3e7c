/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_REAPER_H
#define WEBHOOK_SERVER_REAPER_H

/*
 * reaper - one thread that cuts connections that are too slow, and resumes handshakes that wait for
 * their peer.
 *
 * With epoll, libmicrohttpd retries an unfinished handshake in a busy loop. A handshake that has
 * nothing to read is therefore parked: its connection is suspended in libmicrohttpd, its socket is
 * watched here, and it is resumed when the socket has data.
 *
 * Errors     0 or negative errno.
 * Threads    reaper_park() and reaper_forget() are called by the connection's own thread.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct connection;
struct connection_table;

struct reaper {
    struct connection_table *table;
    int epoll_fd; /* owned; -1: not open */
    int wake_fd;  /* owned; -1: not open */
    _Atomic bool stop;
    bool running;
    pthread_t thread;
};

int reaper_start(struct reaper *reaper, struct connection_table *table)
    __attribute__((warn_unused_result, nonnull));
/* Ends the thread and closes its descriptors. */
void reaper_done(struct reaper *reaper);

/* The park function for connection_begin(); context is the reaper. */
void reaper_park(void *context, struct connection *connection);
/* To be called before the connection's descriptor is closed. */
void reaper_forget(struct reaper *reaper, struct connection *connection);

#endif
