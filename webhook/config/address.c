/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address - reads a listening address: host and port.
 */

#include <arpa/inet.h>
#include <string.h>

#include "webhook/config/config.h"

#define PORT_MAX 65535
#define HOST_MAX_BYTES (sizeof(((struct config_address *)NULL)->host) - 1)

static bool host_is_plain(struct str host)
{
    for (size_t i = 0; i < host.len; i++) {
        char c = host.ptr[i];

        if (!text_is_alnum(c) && c != '.' && c != '-')
            return false;
    }
    return true;
}

static const char *read_host(struct str host, bool in_brackets, char *ret_host)
{
    char copy[HOST_MAX_BYTES + 1];
    struct in6_addr ignored;

    if (host.len > HOST_MAX_BYTES)
        return "has a host that is longer than 63 bytes";
    if (host.len > 0)
        memcpy(copy, host.ptr, host.len);
    copy[host.len] = '\0';
    if (in_brackets && inet_pton(AF_INET6, copy, &ignored) != 1)
        return "has brackets around something that is not an IPv6 address";
    if (!in_brackets && memchr(copy, ':', host.len) != NULL)
        return "has an IPv6 address without brackets; write it as in \"[::1]:8443\"";
    if (!in_brackets && !host_is_plain(host))
        return "has a host that is neither a name nor an address";
    memcpy(ret_host, copy, host.len + 1);
    return NULL;
}

/* The index of the last colon, or text.len. */
static size_t last_colon(struct str text)
{
    for (size_t i = text.len; i > 0; i--) {
        if (text.ptr[i - 1] == ':')
            return i - 1;
    }
    return text.len;
}

const char *config_read_address(struct str text, struct config_address *ret_address)
{
    struct config_address address = {0};
    const char *problem = NULL;
    size_t colon = last_colon(text);
    struct str host = {.ptr = text.ptr, .len = colon};
    struct str port = {0};
    uint64_t number = 0;
    bool in_brackets = text.len > 0 && text.ptr[0] == '[';

    if (colon == text.len)
        return "has no port, as in \"[::]:8443\"";
    port = (struct str){.ptr = text.ptr + colon + 1, .len = text.len - colon - 1};
    if (in_brackets) {
        if (host.len < 2 || host.ptr[host.len - 1] != ']')
            return "has no port after the bracket, as in \"[::]:8443\"";
        host = (struct str){.ptr = host.ptr + 1, .len = host.len - 2};
    }
    problem = read_host(host, in_brackets, address.host);
    if (problem != NULL)
        return problem;
    if (!text_read_number(port, 0, PORT_MAX, &number))
        return "has a port that is not a number from 0 to 65535";
    address.port = (uint16_t)number;
    *ret_address = address;
    return NULL;
}
