/* SPDX-License-Identifier: Apache-2.0 */
/* reaper - sweeps the connection table ten times a second, and watches parked handshakes by epoll.
 * See reaper.h for the reason. */

#include "webhook/server/reaper.h"

#include <assert.h>
#include <errno.h>
#include <microhttpd.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "k8s/util/clock.h"
#include "webhook/server/connection.h"
#include "webhook/server/connection_table.h"

#define REAPER_TURN_MSEC 100 /* between two sweeps: limits of time are exact to this */
#define REAPER_MAX_EVENTS 64

static int watch(struct reaper *reaper, int operation, int fd, uint32_t events, void *ptr)
{
    struct epoll_event event = {.events = events, .data.ptr = ptr};

    return epoll_ctl(reaper->epoll_fd, operation, fd, &event) == 0 ? 0 : -errno;
}

void reaper_park(void *context, struct connection *connection)
{
    struct reaper *reaper = context;
    int operation = connection->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

    MHD_suspend_connection(connection->mhd);
    if (watch(reaper, operation, connection->fd, EPOLLIN | EPOLLRDHUP | EPOLLONESHOT, connection) <
        0)
        MHD_resume_connection(connection->mhd);
    else
        connection->watched = true;
}

void reaper_forget(struct reaper *reaper, struct connection *connection)
{
    if (connection->watched)
        (void)watch(reaper, EPOLL_CTL_DEL, connection->fd, 0, NULL);
}

static void handle_event(struct reaper *reaper, const struct epoll_event *event)
{
    uint64_t count = 0;

    if (event->data.ptr == &reaper->wake_fd) {
        (void)!read(reaper->wake_fd, &count, sizeof(count));
    } else {
        struct connection *parked = event->data.ptr;

        MHD_resume_connection(parked->mhd);
    }
}

static void *run_reaper(void *argument)
{
    struct reaper *reaper = argument;
    struct epoll_event events[REAPER_MAX_EVENTS];
    uint64_t swept_msec = 0;

    while (!atomic_load(&reaper->stop)) {
        int n = epoll_wait(reaper->epoll_fd, events, REAPER_MAX_EVENTS, REAPER_TURN_MSEC);
        uint64_t now_msec = clock_msec();

        for (int i = 0; i < n; i++)
            handle_event(reaper, &events[i]);
        if (now_msec < swept_msec + REAPER_TURN_MSEC)
            continue;
        swept_msec = now_msec;
        connection_table_sweep(reaper->table, now_msec);
    }
    return NULL;
}

int reaper_start(struct reaper *reaper, struct connection_table *table)
{
    int r = 0;

    assert(!reaper->running);
    *reaper = (struct reaper){.table = table};
    reaper->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    reaper->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (reaper->epoll_fd < 0 || reaper->wake_fd < 0)
        r = -errno;
    if (r == 0)
        r = watch(reaper, EPOLL_CTL_ADD, reaper->wake_fd, EPOLLIN, &reaper->wake_fd);
    if (r == 0)
        r = -pthread_create(&reaper->thread, NULL, run_reaper, reaper);
    reaper->running = r == 0;
    if (r < 0)
        reaper_done(reaper);
    return r;
}

static void wake(struct reaper *reaper)
{
    uint64_t one = 1;

    (void)!write(reaper->wake_fd, &one, sizeof(one));
}

void reaper_done(struct reaper *reaper)
{
    if (reaper->running) {
        atomic_store(&reaper->stop, true);
        wake(reaper);
        (void)pthread_join(reaper->thread, NULL);
        reaper->running = false;
    }
    if (reaper->epoll_fd >= 0)
        (void)close(reaper->epoll_fd);
    if (reaper->wake_fd >= 0)
        (void)close(reaper->wake_fd);
    reaper->epoll_fd = reaper->wake_fd = -1;
}
