/* SPDX-License-Identifier: Apache-2.0 */
/* loopback - checks addresses and values of the header Host. See loopback.h. */

#include "webhook/server/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#define LOOPBACK_NET 127

#define LOOPBACK_NET_SHIFT 24

static uint32_t mapped_ipv4(const struct in6_addr *address)
{
    const unsigned char *bytes = &address->s6_addr[12];

    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

bool loopback_is_address(const struct sockaddr *address)
{
    const void *any = address;

    if (address == NULL)
        return false;
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *ipv4 = any;

        return ntohl(ipv4->sin_addr.s_addr) == INADDR_LOOPBACK;
    }
    if (address->sa_family == AF_INET6) {
        const struct in6_addr *ipv6 = &((const struct sockaddr_in6 *)any)->sin6_addr;

        return IN6_IS_ADDR_LOOPBACK(ipv6) ||
               (IN6_IS_ADDR_V4MAPPED(ipv6) && mapped_ipv4(ipv6) == INADDR_LOOPBACK);
    }
    return false;
}

bool loopback_is_proxy_field(struct str name)
{
    static const struct str names[] = {
        {"forwarded", 9},
        {"via", 3},
        {"x-real-ip", 9},
        {"x-client-ip", 11},
        {"x-cluster-client-ip", 19},
        {"x-original-forwarded-for", 24},
        {"true-client-ip", 14},
        {"cf-connecting-ip", 16},
        {"fastly-client-ip", 16},
    };
    static const struct str prefixes[] = {{"x-forwarded", 11}, {"x-envoy-", 8}, {"l5d-", 4}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (str_equal_ascii_nocase(name, names[i]))
            return true;
    }
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        if (str_starts_with_ascii_nocase(name, prefixes[i]))
            return true;
    }
    return false;
}

/* The host that a client names can be any address of the net: `kubectl port-forward --address`
 * listens on it. */
static bool is_loopback_net(uint32_t ipv4)
{
    return ipv4 >> LOOPBACK_NET_SHIFT == LOOPBACK_NET;
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
        return inet_pton(AF_INET6, text + 1, &ipv6) == 1 &&
               (IN6_IS_ADDR_LOOPBACK(&ipv6) ||
                (IN6_IS_ADDR_V4MAPPED(&ipv6) && is_loopback_net(mapped_ipv4(&ipv6))));
    }
    return inet_pton(AF_INET, text, &ipv4) == 1 && is_loopback_net(ntohl(ipv4.s_addr));
}
