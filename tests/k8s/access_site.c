/* SPDX-License-Identifier: Apache-2.0 */
/* access_site - an empty environment and a temporary home directory, for tests of access. */
#include "tests/k8s/access_site.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

#include "planner/base/buffer.h"
#include "tests/k8s/evidence_helper.h"

#define MAX_SHOWN_BYTES 4096

struct access_site home;

void access_begin(void)
{
    home.folder = helper_new_folder(&home.arena);
    cr_assert_eq(setenv("HOME", home.folder, 1), 0);
    cr_assert_eq(unsetenv("KUBECONFIG"), 0);
    cr_assert_eq(unsetenv("KUBERNETES_SERVICE_HOST"), 0);
    cr_assert_eq(unsetenv("KUBERNETES_SERVICE_PORT"), 0);
}

void access_done(void)
{
    static const char *const deeper[] = {"deep", "far", ".kube"};

    for (size_t i = 0; i < sizeof(deeper) / sizeof(deeper[0]); i++) {
        const char *path = helper_text(&home.arena, "%s/%s", home.folder, deeper[i]).ptr;

        if (access(path, F_OK) == 0)
            helper_remove_folder(path);
    }
    helper_remove_folder(home.folder);
    arena_release(&home.arena);
}

static void show(struct buffer *out, const char *name, struct str text)
{
    if (!str_present(text))
        return;
    buffer_add_format(out, "%s=", name);
    buffer_add(out, text);
    buffer_add_char(out, ' ');
}

const char *access_shown(const struct access *access)
{
    struct buffer out = buffer_make(&home.arena, MAX_SHOWN_BYTES);

    show(&out, "server", access->server);
    show(&out, "name", access->tls_server_name);
    if (access->insecure)
        buffer_add(&out, STR("insecure "));
    show(&out, "ca", access->ca_pem);
    show(&out, "certificate", access->certificate_pem);
    show(&out, "key", access->key_pem);
    show(&out, "certificate-file", str_of(access->certificate_file));
    show(&out, "key-file", str_of(access->key_file));
    show(&out, "token", access->token);
    show(&out, "token-file", str_of(access->token_file));
    show(&out, "username", access->username);
    show(&out, "password", access->password);
    show(&out, "as", access->as);
    show(&out, "as-uid", access->as_uid);
    for (size_t i = 0; i < access->as_groups.count; i++)
        show(&out, "as-group", access->as_groups.items[i]);
    show(&out, "proxy", access->proxy_url);
    show(&out, "namespace", access->namespace_name);
    show(&out, "context", access->context_name);
    return str_trim(buffer_text(&out)).ptr;
}

const char *with_directory(const char *text)
{
    struct buffer out = buffer_make(&home.arena, (size_t)1 << 20);

    for (; *text != '\0'; text++) {
        if (*text == '@')
            buffer_add(&out, str_of(home.folder));
        else
            buffer_add_char(&out, *text);
    }
    return buffer_text(&out).ptr;
}

void expect_access(const struct access_choice *choice, int result, const char *text)
{
    struct access access = {0};
    struct str reason = {0};
    int r = access_from_kubeconfig(choice, &home.arena, &access, &reason);
    struct str got = r == 0 ? str_trim(str_of(access_shown(&access))) : reason;

    cr_expect_eq(r, result, "%d: %.*s", r, (int)got.len, got.ptr);
    cr_expect(str_equal(got, str_of(with_directory(text))), "%.*s\ninstead of\n%s", (int)got.len,
              got.ptr, with_directory(text));
}

void write_config(const char *name, const char *cluster, const char *user)
{
    helper_write(home.folder, name,
                 helper_text(&home.arena,
                             "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
                             "clusters:\n- {name: k, cluster: {%s}}\n"
                             "users:\n- {name: u, user: {%s}}\n"
                             "contexts:\n- {name: c, context: {cluster: k, user: u}}\n",
                             cluster, user));
}
