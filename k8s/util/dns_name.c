/* SPDX-License-Identifier: Apache-2.0 */
/* dns_name - see dns_name.h. */
#include "k8s/util/dns_name.h"

#include <stdint.h>

static bool is_lower_or_digit(char c)
{
    return text_is_lower(c) || text_is_digit(c);
}

static bool is_label_up_to(struct str s, size_t max_bytes)
{
    if (s.len == 0 || s.len > max_bytes || s.ptr[0] == '-' || s.ptr[s.len - 1] == '-')
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (!is_lower_or_digit(s.ptr[i]) && s.ptr[i] != '-')
            return false;
    return true;
}

static bool is_dotted(struct str s, size_t max_bytes, size_t max_label_bytes)
{
    size_t begin = 0;

    if (s.len > max_bytes)
        return false;
    for (size_t i = 0; i <= s.len; i++) {
        if (i < s.len && s.ptr[i] != '.')
            continue;
        if (!is_label_up_to((struct str){.ptr = s.ptr + begin, .len = i - begin}, max_label_bytes))
            return false;
        begin = i + 1;
    }
    return true;
}

bool dns_is_label(struct str s)
{
    return is_label_up_to(s, DNS_LABEL_MAX_BYTES);
}

bool dns_is_subdomain(struct str s, size_t max_bytes)
{
    return is_dotted(s, max_bytes, SIZE_MAX);
}

bool dns_is_host_name(struct str s)
{
    return is_dotted(s, DNS_SUBDOMAIN_MAX_BYTES, DNS_LABEL_MAX_BYTES);
}
