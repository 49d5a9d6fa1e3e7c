/* SPDX-License-Identifier: Apache-2.0 */
/* test_access_pod - address and credentials from the service account of a pod. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#include "tests/k8s/access_site.h"
#include "tests/k8s/evidence_helper.h"

TestSuite(access_pod, .init = access_begin, .fini = access_done);

static void expect_in_cluster(const char *host, const char *port, int result, const char *text)
{
    struct access access = {0};
    struct str reason = {0};
    struct str got = {0};
    int r = 0;

    cr_assert_eq(host != NULL ? setenv("KUBERNETES_SERVICE_HOST", host, 1)
                              : unsetenv("KUBERNETES_SERVICE_HOST"),
                 0);
    cr_assert_eq(setenv("KUBERNETES_SERVICE_PORT", port, 1), 0);
    r = access_in_cluster(home.folder, &home.arena, &access, &reason);
    got = r == 0 ? str_trim(str_of(access_shown(&access))) : reason;
    cr_expect_eq(r, result);
    cr_expect(str_equal(got, str_of(with_directory(text))), "%.*s\ninstead of\n%s", (int)got.len,
              got.ptr, with_directory(text));
}

Test(access_pod, the_service_account_of_a_pod_is_read)
{
    static const char remedy[] = "see automountServiceAccountToken of the pod";

    expect_in_cluster("10.0.0.1", "443", -EINVAL,
                      helper_text(&home.arena,
                                  "@/token: the service account's file cannot be read: No such "
                                  "file or directory; %s",
                                  remedy)
                          .ptr);
    helper_write(home.folder, "token", STR("s3cret\n"));
    expect_in_cluster("10.0.0.1", "443", -EINVAL,
                      helper_text(&home.arena,
                                  "@/ca.crt: the service account's file cannot be read: No such "
                                  "file or directory; %s",
                                  remedy)
                          .ptr);
    helper_write(home.folder, "ca.crt", STR("CA\n"));
    expect_in_cluster("10.0.0.1", "443", 0, "server=https://10.0.0.1:443 ca=CA token-file=@/token");
    helper_write(home.folder, "namespace", STR("own\n"));
    expect_in_cluster("fd00::1", "6443", 0,
                      "server=https://[fd00::1]:6443 ca=CA token-file=@/token namespace=own");
    helper_write(home.folder, "token", STR(" \n"));
    expect_in_cluster("10.0.0.1", "443", -EINVAL, "@/token: the service account's file is empty");
}

Test(access_pod, an_invalid_environment_is_rejected)
{
    static const char none[] = "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: "
                               "this is not a pod; name a kubeconfig";
    static const char number[] = "KUBERNETES_SERVICE_PORT must be a number from 1 to 65535";
    static const char host[] = "KUBERNETES_SERVICE_HOST must be a host name or an IP address";

    expect_in_cluster(NULL, "443", -ENOENT, none);
    expect_in_cluster("", "443", -ENOENT, none);
    expect_in_cluster("10.0.0.1", "", -ENOENT, none);
    expect_in_cluster("10.0.0.1", "0", -EINVAL, number);
    expect_in_cluster("10.0.0.1", "65536", -EINVAL, number);
    expect_in_cluster("10.0.0.1", "https", -EINVAL, number);
    expect_in_cluster("a/b", "443", -EINVAL, host);
    expect_in_cluster("[::1]", "443", -EINVAL, host);
    expect_in_cluster("me@a", "443", -EINVAL, host);
}

Test(access_pod, a_given_kubeconfig_has_priority_over_the_pod)
{
    const struct access_choice chosen = {.kubeconfig = with_directory("@/config")};
    const struct access_choice nothing = {0};
    struct access access = {0};
    struct str reason = {0};

    write_config("config", "server: 'https://a.test'", "");
    cr_assert_eq(setenv("KUBECONFIG", chosen.kubeconfig, 1), 0);
    cr_assert_eq(access_find(&nothing, &home.arena, &access, &reason), 0);
    cr_expect(str_equal(access.server, STR("https://a.test")));
    cr_assert_eq(setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1), 0);
    cr_assert_eq(setenv("KUBERNETES_SERVICE_PORT", "443", 1), 0);
    cr_assert_eq(access_find(&chosen, &home.arena, &access, &reason), 0);
    cr_expect(str_equal(access.server, STR("https://a.test")));
    if (access_find(&nothing, &home.arena, &access, &reason) == 0)
        cr_expect(str_equal(access.server, STR("https://10.0.0.1:443")));
    else
        cr_expect(str_starts_with(reason, STR(ACCESS_SERVICE_ACCOUNT "/token: ")));
}
