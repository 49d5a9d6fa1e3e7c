/* SPDX-License-Identifier: Apache-2.0 */
/* listen - resolves an address, binds and listens. See listen.h. */

#include "webhook/server/listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LISTEN_BACKLOG 4096 /* the system can have a smaller limit (net.core.somaxconn) */

struct str listen_text(const struct config_address *address, uint16_t port, struct arena *arena)
{
    const char *host = address->host[0] != '\0' ? address->host : "::";

    return arena_format(arena, strchr(host, ':') != NULL ? "[%s]:%u" : "%s:%u", host,
                        (unsigned)port);
}

static int bind_address(const struct sockaddr *address, socklen_t bytes,
                        struct listener *ret_listener)
{
    static const int on = 1, off = 0;
    struct sockaddr_storage bound = {0};
    struct sockaddr_in6 six = {0};
    struct sockaddr_in four = {0};
    socklen_t bound_bytes = sizeof(bound);
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -errno;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    /* accepted sockets inherit it */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    /* IPv4 too, whatever net.ipv6.bindv6only is */
    if (address->sa_family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    if (bind(fd, address, bytes) < 0 || listen(fd, LISTEN_BACKLOG) < 0 ||
        getsockname(fd, (struct sockaddr *)&bound, &bound_bytes) < 0) {
        int error = errno;

        (void)close(fd);
        return -error;
    }
    memcpy(&six, &bound, sizeof(six));
    memcpy(&four, &bound, sizeof(four));
    *ret_listener = (struct listener){
        .fd = fd,
        .port = ntohs(bound.ss_family == AF_INET6 ? six.sin6_port : four.sin_port),
    };
    return 0;
}

static int bind_all(uint16_t port, struct listener *ret_listener)
{
    struct sockaddr_in6 six = {
        .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT, .sin6_port = htons(port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
    int r = bind_address((const struct sockaddr *)&six, sizeof(six), ret_listener);

    if (r != -EAFNOSUPPORT && r != -EADDRNOTAVAIL)
        return r;
    r = bind_address((const struct sockaddr *)&four, sizeof(four), ret_listener);
    if (r == 0)
        ret_listener->without_ipv6 = true;
    return r;
}

static int bind_host(const char *host, uint16_t port, struct listener *ret_listener,
                     const char **reterr_what)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char service[8];
    int r = 0;

    (void)snprintf(service, sizeof(service), "%u", (unsigned)port);
    r = getaddrinfo(host, service, &hints, &found);
    if (r != 0) {
        *reterr_what = gai_strerror(r);
        return -EINVAL;
    }
    r = -EADDRNOTAVAIL;
    for (const struct addrinfo *a = found; a != NULL && r < 0; a = a->ai_next)
        r = bind_address(a->ai_addr, a->ai_addrlen, ret_listener);
    freeaddrinfo(found);
    return r;
}

int listen_open(const struct config_address *address, const char *setting, struct arena *arena,
                struct listener *ret_listener, struct str *reterr_reason)
{
    const char *what = NULL;
    bool all = address->host[0] == '\0' || strcmp(address->host, "::") == 0;
    int r = all ? bind_all(address->port, ret_listener)
                : bind_host(address->host, address->port, ret_listener, &what);
    struct str text = {0};

    if (r == 0)
        return 0;
    text = listen_text(address, address->port, arena);
    if (!str_present(text))
        return -ENOMEM;
    *reterr_reason = arena_format(arena, "%s: cannot listen on %s: %s", setting, text.ptr,
                                  what != NULL ? what : strerror(-r));
    return str_present(*reterr_reason) ? -EINVAL : -ENOMEM;
}
