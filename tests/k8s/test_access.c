/* SPDX-License-Identifier: Apache-2.0 */
/* test_access - address and credentials from kubeconfig files, as kubectl reads them. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "planner/base/buffer.h"
#include "tests/k8s/access_site.h"
#include "tests/k8s/evidence_helper.h"

TestSuite(access, .init = access_begin, .fini = access_done);

/* One given file. */
static void expect_config(const char *cluster, const char *user, int result, const char *text)
{
    const struct access_choice choice = {.kubeconfig = with_directory("@/config")};

    write_config("config", cluster, user);
    expect_access(&choice, result, text);
}

Test(access, the_kubeconfig_of_case_f06_is_read)
{
    const struct access_choice choice = {.kubeconfig = TESTS_DIR
                                         "/cases/F06-watch-410-bookmarks-restart/kubeconfig.yaml"};

    expect_access(
        &choice, 0,
        "server=https://good.example.test:6443 ca=A token=dummy-token namespace=sandgate-system "
        "context=c");
}

Test(access, accepted_fields_of_a_cluster)
{
    static const struct {
        const char *cluster;
        const char *text;
    } rows[] = {
        {"server: 'https://a.test:6443/'", "server=https://a.test:6443 context=c"},
        {"server: 'HTTPS://a.test/base//'", "server=HTTPS://a.test/base context=c"},
        {"server: 'https://[fd00::1]:6443'", "server=https://[fd00::1]:6443 context=c"},
        {"server: 'http://127.0.0.1:8080'", "server=http://127.0.0.1:8080 context=c"},
        {"server: 'https://a.test', tls-server-name: b.test, extra: [1, {}]",
         "server=https://a.test name=b.test context=c"},
        {"server: 'https://a.test', tls-server-name: ''", "server=https://a.test context=c"},
        {"server: 'https://a.test', insecure-skip-tls-verify: true",
         "server=https://a.test insecure context=c"},
        {"server: 'https://a.test', insecure-skip-tls-verify: yes",
         "server=https://a.test insecure context=c"},
        {"server: 'https://a.test', proxy-url: 'socks5://b.test:1080'",
         "server=https://a.test proxy=socks5://b.test:1080 context=c"},
        {"server: 'https://a.test', certificate-authority: ca.crt",
         "server=https://a.test ca=file context=c"},
        {"server: 'https://a.test', certificate-authority: deep/../ca.crt",
         "server=https://a.test ca=file context=c"},
        {"server: 'https://a.test', certificate-authority: missing, "
         "certificate-authority-data: ZGF0YQ==",
         "server=https://a.test ca=data context=c"},
    };

    helper_write(home.folder, "ca.crt", STR("file"));
    cr_assert_eq(mkdir(with_directory("@/deep"), 0700), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect_config(rows[i].cluster, "", 0, rows[i].text);
    helper_write(home.folder, "absolute", STR("far"));
    expect_config(with_directory("server: 'https://a.test', certificate-authority: '@/absolute'"),
                  "", 0, "server=https://a.test ca=far context=c");
}

Test(access, accepted_fields_of_a_user)
{
    static const struct {
        const char *user;
        const char *text;
    } rows[] = {
        {"token: abc", "token=abc"},
        {"token: ~, username: ''", ""},
        {"tokenFile: token", "token-file=@/token"},
        {"tokenFile: token, token: abc", "token=abc token-file=@/token"},
        {"tokenFile: missing, token: abc", "token=abc token-file=@/missing"},
        {"client-certificate: crt, client-key: key",
         "certificate=CRT key=KEY certificate-file=@/crt key-file=@/key"},
        {"client-certificate: crt, client-key-data: a2V5", "certificate=CRT key=key"},
        {"client-certificate: missing, client-certificate-data: Y3J0, client-key: key",
         "certificate=crt key=KEY"},
        {"username: me, password: word", "username=me password=word"},
        {"as: you, as-uid: '7', as-groups: [a, b], token: abc",
         "token=abc as=you as-uid=7 as-group=a as-group=b"},
    };

    helper_write(home.folder, "token", STR("filed"));
    helper_write(home.folder, "crt", STR("CRT"));
    helper_write(home.folder, "key", STR("KEY"));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect_config("server: 'https://a.test'", rows[i].user, 0,
                      helper_text(&home.arena, "server=https://a.test %s%scontext=c", rows[i].text,
                                  *rows[i].text != '\0' ? " " : "")
                          .ptr);
}

Test(access, rejected_fields_of_a_cluster)
{
    static const struct {
        const char *cluster;
        const char *reason;
    } rows[] = {
        {"", "it has no server"},
        {"server: 7", "server must be text; quote it"},
        {"server: 'a.test:6443'", "its server must begin with https://"},
        {"server: 'https://'", "its server has no host name"},
        {"server: 'https:///x'", "its server has no host name"},
        {"server: 'https://me:word@a.test'",
         "its server must be https://host:port, without user, query and fragment"},
        {"server: 'https://a.test?x'",
         "its server must be https://host:port, without user, query and fragment"},
        {"server: 'https://a b'", "its server has a character that is not allowed in a URL"},
        {"server: 'https://a.test', insecure-skip-tls-verify: 'true'",
         "insecure-skip-tls-verify must be true or false"},
        {"server: 'https://a.test', insecure-skip-tls-verify: true, certificate-authority-data: "
         "QQ==",
         "it has both a certificate authority and "
         "insecure-skip-tls-verify; remove insecure-skip-tls-verify"},
        {"server: 'https://a.test', certificate-authority: missing",
         "certificate-authority: @/missing cannot be read: No such file or directory"},
        {"server: 'https://a.test', certificate-authority: .",
         "certificate-authority: @/. cannot be read: it is not a regular file"},
        {"server: 'https://a.test', certificate-authority-data: '-'",
         "certificate-authority-data is not base64"},
        {"server: 'https://a.test', proxy-url: 'ftp://b.test'",
         "proxy-url must begin with http://, https:// or socks5:// and name a host"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect_config(rows[i].cluster, "", -EINVAL,
                      helper_text(&home.arena, "@/config: cluster \"k\": %s", rows[i].reason).ptr);
}

Test(access, rejected_fields_of_a_user)
{
    static const char programs[] = " is not supported, because it runs other programs; use a "
                                   "client certificate, a tokenFile or "
                                   "a token (kubectl create token makes one for a service account)";
    const struct {
        const char *user;
        const char *reason;
    } rows[] = {
        {"exec: {command: x}, token: s3cret", helper_text(&home.arena, "exec%s", programs).ptr},
        {"auth-provider: {name: gcp}", helper_text(&home.arena, "auth-provider%s", programs).ptr},
        {"token: 12345", "token must be text; quote it"},
        {"tokenFile: missing", "tokenFile: @/missing cannot be read: No such file or directory"},
        {"client-certificate-data: s3cret!, client-key-data: QQ==",
         "client-certificate-data is not base64"},
        {"client-certificate-data: QQ==, client-key-data: s3cret!",
         "client-key-data is not base64"},
        {"client-certificate-data: QQ==", "it has a client-certificate but no client-key"},
        {"client-key-data: QQ==", "it has a client-key but no client-certificate"},
        {"token: s3cret, username: me, password: s3cret",
         "it has both a token and a password; remove one"},
        {"as-groups: [a]", "as-uid and as-groups require as, the name of the user"},
        {"as: x, as-groups: a", "as-groups must be a list of text"},
        {"as: x, as-groups: [1]", "as-groups must be a list of text"},
        {"as: x, as-user-extra: {a: [b]}", "as-user-extra is not supported; remove it"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cr_expect_null(strstr(rows[i].reason, "s3cret"));
        expect_config("server: 'https://a.test'", rows[i].user, -EINVAL,
                      helper_text(&home.arena, "@/config: user \"u\": %s", rows[i].reason).ptr);
    }
}

Test(access, credentials_without_tls_are_rejected)
{
    static const char *const users[] = {"token: s3cret", "username: me, password: s3cret",
                                        "tokenFile: token",
                                        "client-certificate-data: QQ==, client-key-data: QQ=="};

    helper_write(home.folder, "token", STR("s3cret"));
    for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++)
        expect_config("server: 'http://a.test'", users[i], -EINVAL,
                      "@/config: cluster \"k\": its server begins with http://, and credentials "
                      "are never sent unencrypted; use https://");
}

Test(access, invalid_files_are_rejected)
{
    static const struct {
        const char *text;
        const char *reason;
    } rows[] = {
        {"[]", "@/config: not a kubeconfig: it must be an object"},
        {"kind: Secret", "@/config: not a kubeconfig: kind must be Config"},
        {"kind: Config\napiVersion: v2",
         "@/config: not a supported kubeconfig: apiVersion must be v1"},
        {"current-context: 7", "@/config: current-context must be text; quote it"},
        {"clusters: {}", "@/config: clusters must be a list"},
        {"clusters: [{name: a}, {cluster: {}}]", "@/config: clusters[1] must have a name"},
        {"users: [x]", "@/config: users[0] must have a name"},
        {"users: [{name: a}, {name: b}, {name: a}]",
         "@/config: user \"a\" is defined twice; remove one"},
        {"kind: Config\n---\nkind: Config\n",
         "@/config: it has more than one document; use one file for each"},
        {"", "@/config: no current-context is set; name a context, or set one with kubectl config "
             "use-context"},
        {"current-context: c", "@/config: there is no context \"c\"; kubectl config get-contexts "
                               "lists the contexts"},
        {"current-context: \"c\\e[2J\"", "@/config: there is no context \"c?[2J\"; kubectl config "
                                         "get-contexts lists the contexts"},
        {"current-context: c\ncontexts: [{name: c}]", "@/config: context \"c\": it has no cluster"},
        {"current-context: c\ncontexts: [{name: c, context: {cluster: k}}]",
         "@/config: context \"c\": its cluster \"k\" is not defined in any file"},
        {"current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
         "clusters: [{name: k, cluster: {server: 'https://a.test'}}]",
         "@/config: context \"c\": its user \"u\" is not defined in any file"},
        {"current-context: c\ncontexts: [{name: c, context: {cluster: k, namespace: [x]}}]",
         "@/config: context \"c\": namespace must be text; quote it"},
    };
    const struct access_choice choice = {.kubeconfig = with_directory("@/config")};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        helper_write(home.folder, "config", str_of(rows[i].text));
        expect_access(&choice, -EINVAL, rows[i].reason);
    }
}

Test(access, a_duplicate_key_is_rejected_at_its_place)
{
    const struct access_choice choice = {.kubeconfig = with_directory("@/config")};
    struct access access = {0};
    struct str reason = {0};

    helper_write(home.folder, "config",
                 STR("users:\n- name: u\n  user:\n    token: a\n    token: b\n"));
    cr_assert_eq(access_from_kubeconfig(&choice, &home.arena, &access, &reason), -EINVAL);
    cr_expect(str_starts_with(reason, str_of(with_directory("@/config:5:5: "))), "%s", reason.ptr);
}

Test(access, json_is_read_too)
{
    const struct access_choice choice = {.kubeconfig = with_directory("@/config")};

    helper_write(home.folder, "config",
                 STR("{\"current-context\": \"c\", \"contexts\": [{\"name\": \"c\", \"context\": "
                     "{\"cluster\": \"k\"}}], \"clusters\": [{\"name\": \"k\", \"cluster\": "
                     "{\"server\": \"https://a.test\"}}]}"));
    expect_access(&choice, 0, "server=https://a.test context=c");
}

/* ---- which file ---- */

Test(access, the_first_file_with_an_entry_wins)
{
    struct access_choice choice = {0};

    helper_write(
        home.folder, "one",
        STR("clusters:\n- {name: k, cluster: {server: 'https://one.test', "
            "certificate-authority: ca}}\n"
            "contexts:\n- {name: first, context: {cluster: k, user: u, namespace: ns}}\n"));
    write_config("two", "server: 'https://two.test', tls-server-name: two", "token: two");
    cr_assert_eq(mkdir(with_directory("@/far"), 0700), 0);
    helper_write(home.folder, "far/three",
                 STR("current-context: first\nusers: [{name: v, user: "
                     "{tokenFile: token}}]\n"
                     "contexts: [{name: d, context: {cluster: k, user: v}}]"));
    helper_write(home.folder, "far/token", STR("three"));
    helper_write(home.folder, "ca", STR("ONE"));
    cr_assert_eq(setenv("KUBECONFIG", with_directory(":@/missing:@/one::@/two:@/far/three:"), 1),
                 0);
    /* no field of the second file's cluster is used */
    expect_access(&choice, 0, "server=https://one.test ca=ONE token=two context=c");
    choice.context = "first";
    expect_access(&choice, 0,
                  "server=https://one.test ca=ONE token=two namespace=ns context=first");
    choice.context = "d";
    expect_access(&choice, 0, "server=https://one.test ca=ONE token-file=@/far/token context=d");
    choice.context = "e";
    expect_access(
        &choice, -EINVAL,
        "@/one:@/two:@/far/three: there is no context \"e\"; kubectl config get-contexts lists "
        "the contexts");
    /* a file that is named wins over the environment */
    choice = (struct access_choice){.kubeconfig = with_directory("@/two")};
    expect_access(&choice, 0, "server=https://two.test name=two token=two context=c");
}

Test(access, an_error_names_its_file)
{
    const struct access_choice choice = {0};

    helper_write(home.folder, "one", STR("users: [{name: u, user: {exec: {}}}]"));
    write_config("two", "server: 'https://two.test'", "token: two");
    cr_assert_eq(setenv("KUBECONFIG", with_directory("@/one:@/two"), 1), 0);
    expect_access(
        &choice, -EINVAL,
        "@/one: user \"u\": exec is not supported, because it runs other programs; use a client "
        "certificate, a tokenFile or a token (kubectl create token makes one for a service "
        "account)");
}

Test(access, the_file_in_the_home_directory_is_the_last_choice)
{
    const struct access_choice choice = {0};

    expect_access(&choice, -ENOENT,
                  "no kubeconfig found: name one, set KUBECONFIG, or create ~/.kube/config");
    cr_assert_eq(mkdir(with_directory("@/.kube"), 0700), 0);
    write_config(".kube/config", "server: 'https://home.test'", "");
    expect_access(&choice, 0, "server=https://home.test context=c");
    cr_assert_eq(setenv("KUBECONFIG", "", 1), 0);
    expect_access(&choice, 0, "server=https://home.test context=c");
    cr_assert_eq(setenv("KUBECONFIG", with_directory("@/missing"), 1), 0);
    expect_access(&choice, -ENOENT,
                  "no kubeconfig found: name one, set KUBECONFIG, or create ~/.kube/config");
}

Test(access, unreadable_files_are_rejected)
{
    struct access_choice choice = {.kubeconfig = with_directory("@/missing")};
    struct buffer many = buffer_make(&home.arena, 65536);

    expect_access(&choice, -EINVAL,
                  "@/missing: the kubeconfig cannot be read: No such file or directory");
    choice.kubeconfig = home.folder;
    expect_access(&choice, -EINVAL, "@: the kubeconfig cannot be read: it is not a regular file");
    write_config("config", "server: 'https://a.test'", "");
    for (int i = 0; i <= ACCESS_MAX_FILES; i++)
        buffer_add_format(&many, "%s/config:", home.folder);
    cr_assert_eq(setenv("KUBECONFIG", buffer_text(&many).ptr, 1), 0);
    choice.kubeconfig = NULL;
    expect_access(&choice, -EINVAL, "@/config: there are more than 16 files");
}

Test(access, out_of_memory_is_an_error)
{
    const struct access_choice choice = {.kubeconfig = with_directory("@/config")};
    size_t limit = 0;
    int r = -ENOMEM;

    write_config("config",
                 "server: 'https://a.test', certificate-authority-data: QQ==", "tokenFile: config");
    while (r == -ENOMEM) {
        cleanup_arena struct arena small = {.limit_bytes = limit += 512};
        struct access access = {0};
        struct str reason = {0};

        cr_assert_lt(limit, (size_t)1 << 20);
        r = access_from_kubeconfig(&choice, &small, &access, &reason);
    }
    cr_expect_eq(r, 0);
}
