/* SPDX-License-Identifier: Apache-2.0 */
/* thread_server - an HTTP server without TLS, with a thread for each connection. */
#include "tests/k8s/thread_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct connection {
    int fd;
    bool (*respond)(int fd, const char *head);
};

void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    exit(EXIT_FAILURE);
}

/* Reads heads of requests without a body, one after the other. */
static void *serve_connection(void *context)
{
    const struct connection connection = *(const struct connection *)context;
    char head[4096];
    size_t len = 0;

    free(context);
    for (;;) {
        ssize_t n = read(connection.fd, head + len, sizeof(head) - 1 - len);

        if (n <= 0)
            break;
        len += (size_t)n;
        head[len] = '\0';
        if (len < 4 || memcmp(head + len - 4, "\r\n\r\n", 4) != 0)
            continue;
        if (!connection.respond(connection.fd, head))
            break;
        len = 0;
    }
    (void)close(connection.fd);
    return NULL;
}

static void *serve(void *context)
{
    const struct thread_server *server = context;

    for (;;) {
        struct connection *connection = malloc(sizeof(*connection));
        pthread_t thread;

        check(connection != NULL, "malloc failed");
        connection->respond = server->respond;
        connection->fd = accept(server->listener, NULL, NULL);
        if (connection->fd < 0) {
            free(connection);
            return NULL;
        }
        check(pthread_create(&thread, NULL, serve_connection, connection) == 0,
              "pthread_create failed");
        (void)pthread_detach(thread);
    }
}

void thread_server_start(struct thread_server *server, bool (*respond)(int fd, const char *head))
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);

    *server = (struct thread_server){.respond = respond};
    server->listener = socket(AF_INET, SOCK_STREAM, 0);
    check(bind(server->listener, (struct sockaddr *)&address, len) == 0 &&
              listen(server->listener, 64) == 0 &&
              getsockname(server->listener, (struct sockaddr *)&address, &len) == 0,
          "the server cannot listen");
    (void)snprintf(server->url, sizeof(server->url), "http://127.0.0.1:%u",
                   (unsigned)ntohs(address.sin_port));
    check(pthread_create(&server->thread, NULL, serve, server) == 0, "pthread_create failed");
}

void thread_server_stop(struct thread_server *server)
{
    (void)shutdown(server->listener, SHUT_RDWR);
    (void)pthread_join(server->thread, NULL);
    (void)close(server->listener);
}
