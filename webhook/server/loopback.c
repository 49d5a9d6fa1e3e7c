/* SPDX-License-Identifier: Apache-2.0 */
/* loopback - checks addresses and values of the header Host. See loopback.h. */

#include "webhook/server/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#define LOOPBACK_NET 127

static bool is_ipv4(const unsigned char *bytes)
{
    return bytes[0] == LOOPBACK_NET;
}

static bool is_ipv6(const struct in6_addr *address)
{
    return IN6_IS_ADDR_LOOPBACK(address) ||
           (IN6_IS_ADDR_V4MAPPED(address) && is_ipv4(&address->s6_addr[12]));
}

bool loopback_is_address(const struct sockaddr *address)
{
    const void *any = address;

    if (address == NULL)
        return false;
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *ipv4 = any;
        uint32_t number = ntohl(ipv4->sin_addr.s_addr);

        return number >> 24 == LOOPBACK_NET;
    }
    if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *ipv6 = any;

        return is_ipv6(&ipv6->sin6_addr);
    }
    return false;
}

static bool is_port(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
    }
    return true;
}

/* Removes `:port`; false where something else follows the host. Colons in brackets belong to the
 * address. */
static bool cut_port(struct str *host)
{
    size_t end = 0;

    while (end < host->len && host->ptr[end] != (host->ptr[0] == '[' ? ']' : ':'))
        end++;
    if (end < host->len && host->ptr[end] == ']')
        end++;
    if (end < host->len &&
        (host->ptr[end] != ':' ||
         !is_port((struct str){.ptr = host->ptr + end + 1, .len = host->len - end - 1})))
        return false;
    host->len = end;
    return true;
}

bool loopback_is_host(struct str host)
{
    char text[INET6_ADDRSTRLEN + 2] = "";
    struct in6_addr ipv6 = {0};
    struct in_addr ipv4 = {0};

    if (host.len == 0 || !cut_port(&host) || host.len == 0 || host.len >= sizeof(text))
        return false;
    if (str_equal_ascii_nocase(host, STR("localhost")))
        return true;
    memcpy(text, host.ptr, host.len);
    if (text[0] == '[' && text[host.len - 1] == ']') {
        text[host.len - 1] = '\0';
        return inet_pton(AF_INET6, text + 1, &ipv6) == 1 && is_ipv6(&ipv6);
    }
    return inet_pton(AF_INET, text, &ipv4) == 1 && ntohl(ipv4.s_addr) >> 24 == LOOPBACK_NET;
}
