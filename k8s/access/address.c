/* SPDX-License-Identifier: Apache-2.0 */
/* address - checks the address of an API server.
 *
 * Each problem ends a sentence that names the cluster entry of a kubeconfig. */
#include "k8s/access/internal.h"

const char *access_address_problem(struct str server)
{
    size_t scheme_len = 0;

    if (server.len == 0)
        return "it has no server";
    if (str_starts_with_ascii_nocase(server, STR("https://")))
        scheme_len = sizeof("https://") - 1;
    else if (str_starts_with_ascii_nocase(server, STR("http://")))
        scheme_len = sizeof("http://") - 1;
    if (scheme_len == 0)
        return "its server must begin with https://";
    if (server.len == scheme_len || server.ptr[scheme_len] == '/')
        return "its server has no host name";
    for (size_t i = 0; i < server.len; i++) {
        const char c = server.ptr[i];

        if (c <= ' ' || c >= 0x7f || strchr("\"<>\\^`{|}", c) != NULL)
            return "its server has a character that is not allowed in a URL";
        if (c == '@' || c == '?' || c == '#')
            return "its server must be https://host:port, without user, query and fragment";
    }
    return NULL;
}
