#include "webhook/server/reaper.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "webhook/server/internal.h"

#define KEEPER_TURN_MSEC 100 /* how exactly times are kept */
#define KEEPER_MAX_EVENTS 64

static int keeper_watch(struct keeper *keeper, int operation, int fd, uint32_t events, void *ptr)
{
    struct epoll_event event = {.events = events, .data.ptr = ptr};

    return epoll_ctl(keeper->epoll_fd, operation, fd, &event) == 0 ? 0 : -errno;
}

void keeper_park(struct connection *connection)
{
    struct keeper *keeper = &connection->server->keeper;
    int operation = connection->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

    MHD_suspend_connection(connection->mhd);
    if (keeper_watch(keeper, operation, connection->fd, EPOLLIN | EPOLLRDHUP | EPOLLONESHOT,
                     connection) < 0)
        MHD_resume_connection(connection->mhd);
    else
        connection->watched = true;
}

void keeper_forget(struct connection *connection)
{
    if (connection->watched)
        (void)keeper_watch(&connection->server->keeper, EPOLL_CTL_DEL, connection->fd, 0, NULL);
}

static void keeper_handle(struct keeper *keeper, const struct epoll_event *event)
{
    uint64_t count = 0;

    if (event->data.ptr == &keeper->wake_fd) {
        (void)!read(keeper->wake_fd, &count, sizeof(count));
    } else {
        struct connection *parked = event->data.ptr;

        MHD_resume_connection(parked->mhd);
    }
}

static void *keeper_run(void *argument)
{
    struct keeper *keeper = argument;
    struct epoll_event events[KEEPER_MAX_EVENTS];
    uint64_t swept_msec = 0;

    while (!atomic_load(&keeper->stop)) {
        int n = epoll_wait(keeper->epoll_fd, events, KEEPER_MAX_EVENTS, KEEPER_TURN_MSEC);
        uint64_t now_msec = connection_clock_msec();

        for (int i = 0; i < n; i++)
            keeper_handle(keeper, &events[i]);
        if (now_msec < swept_msec + KEEPER_TURN_MSEC)
            continue;
        swept_msec = now_msec;
        connection_table_sweep(keeper->table, now_msec);
    }
    return NULL;
}

int keeper_start(struct keeper *keeper, struct connection_table *table)
{
    int r = 0;

    *keeper = (struct keeper){.table = table};
    keeper->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    keeper->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (keeper->epoll_fd < 0 || keeper->wake_fd < 0)
        r = -errno;
    if (r == 0)
        r = keeper_watch(keeper, EPOLL_CTL_ADD, keeper->wake_fd, EPOLLIN, &keeper->wake_fd);
    if (r == 0)
        r = -pthread_create(&keeper->thread, NULL, keeper_run, keeper);
    keeper->running = r == 0;
    if (r < 0)
        keeper_done(keeper);
    return r;
}

static void keeper_wake(struct keeper *keeper)
{
    uint64_t one = 1;

    (void)!write(keeper->wake_fd, &one, sizeof(one));
}

void keeper_done(struct keeper *keeper)
{
    if (keeper->running) {
        atomic_store(&keeper->stop, true);
        keeper_wake(keeper);
        (void)pthread_join(keeper->thread, NULL);
        keeper->running = false;
    }
    if (keeper->epoll_fd >= 0)
        (void)close(keeper->epoll_fd);
    if (keeper->wake_fd >= 0)
        (void)close(keeper->wake_fd);
    keeper->epoll_fd = keeper->wake_fd = -1;
}
