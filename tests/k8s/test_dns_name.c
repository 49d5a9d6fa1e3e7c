/* SPDX-License-Identifier: Apache-2.0 */
/* Names of objects, namespaces and hosts: what Kubernetes takes, and nothing else. */
#include <criterion/criterion.h>

#include "k8s/util/dns_name.h"

#define A63 "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggg"

Test(dns_name, label)
{
    static const char *const good[] = {"a", "0", "a-b", "a--b", "0a", A63};
    static const char *const bad[] = {"",    "-",   "-a",  "a-",    "A",
                                      "a.b", "a_b", "a b", A63 "g", "\xc3\xa4"};

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        cr_expect(dns_is_label(str_of(good[i])), "%s", good[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        cr_expect(!dns_is_label(str_of(bad[i])), "%s", bad[i]);
}

Test(dns_name, subdomain_has_no_limit_for_each_label)
{
    cr_expect(dns_is_subdomain(STR("a.b-c.d"), 7));
    cr_expect(!dns_is_subdomain(STR("a.b-c.d"), 6));
    cr_expect(dns_is_subdomain(STR(A63 "g"), 253));
    cr_expect(!dns_is_subdomain(STR("a..b"), 253));
    cr_expect(!dns_is_subdomain(STR(".a"), 253));
    cr_expect(!dns_is_subdomain(STR("a."), 253));
    cr_expect(!dns_is_subdomain(STR("a-.b"), 253));
    cr_expect(!dns_is_subdomain(STR(""), 253));
}

Test(dns_name, host_name_limits_each_label)
{
    cr_expect(dns_is_host_name(STR("sandgate.sandgate-system.svc")));
    cr_expect(dns_is_host_name(STR(A63 "." A63 "." A63)));
    cr_expect(!dns_is_host_name(STR(A63 "g.a")));
    cr_expect(!dns_is_host_name(STR(A63 "." A63 "." A63 "." A63)), "255 bytes");
}
