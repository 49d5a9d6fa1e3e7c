/* SPDX-License-Identifier: Apache-2.0 */
/* access - finds the service account of a pod, or the kubeconfig files of a user. */
#include "k8s/access/access.h"

#include <errno.h>
#include <stdlib.h>

#include "k8s/access/internal.h"
#include "k8s/util/file.h"

#define MAX_NAMESPACE_BYTES 4096 /* of its file */
#define MAX_PORT 65535

/* ---- in a cluster ---- */

/* A file of the service account. */
static int read_account(const char *folder, const char *name, size_t max_bytes, struct arena *arena,
                        const char **ret_path, struct str *ret_text, struct str *reterr_reason)
{
    struct str path = arena_format(arena, "%s/%s", folder, name);
    struct str bytes = {0};
    int r = 0;

    if (!str_present(path))
        return -ENOMEM;
    *ret_path = path.ptr;
    r = file_read_path(path.ptr, max_bytes, arena, &bytes);
    if (r == -ENOMEM)
        return r;
    if (r < 0)
        return access_give_reason(
            -EINVAL,
            arena_format(arena,
                         "%s: the service account's file cannot be read: %s; see "
                         "automountServiceAccountToken of the pod",
                         path.ptr, file_error_text(r)),
            reterr_reason);
    *ret_text = str_trim(bytes);
    return 0;
}

static int find_server(struct arena *arena, struct str *ret_server, struct str *reterr_reason)
{
    const char *host = getenv("KUBERNETES_SERVICE_HOST");
    const char *port = getenv("KUBERNETES_SERVICE_PORT");
    uint64_t number = 0;
    struct str server = {0};

    if (host == NULL || *host == '\0' || port == NULL || *port == '\0')
        return access_give_reason(
            -ENOENT,
            STR("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: "
                "this is not a pod; name a kubeconfig"),
            reterr_reason);
    if (!text_read_number(str_of(port), 1, MAX_PORT, &number))
        return access_give_reason(-EINVAL,
                                  STR("KUBERNETES_SERVICE_PORT must be a number from 1 to 65535"),
                                  reterr_reason);
    server = arena_format(arena, strchr(host, ':') != NULL ? "https://[%s]:%s" : "https://%s:%s",
                          host, port);
    if (!str_present(server))
        return -ENOMEM;
    if (access_address_problem(server) != NULL || strpbrk(host, "/[]") != NULL)
        return access_give_reason(
            -EINVAL, STR("KUBERNETES_SERVICE_HOST must be a host name or an IP address"),
            reterr_reason);
    *ret_server = server;
    return 0;
}

int access_in_cluster(const char *folder, struct arena *arena, struct access *ret_access,
                      struct str *reterr_reason)
{
    struct access access = {0};
    struct str token = {0};
    const char *path = NULL;
    struct str ignored = {0};
    int r = find_server(arena, &access.server, reterr_reason);

    if (r == 0)
        r = read_account(folder, "token", ACCESS_MAX_TOKEN_BYTES, arena, &access.token_file, &token,
                         reterr_reason);
    if (r == 0)
        r = read_account(folder, "ca.crt", ACCESS_MAX_FILE_BYTES, arena, &path, &access.ca_pem,
                         reterr_reason);
    if (r == 0 && (token.len == 0 || access.ca_pem.len == 0))
        r = access_give_reason(-EINVAL,
                               arena_format(arena, "%s: the service account's file is empty",
                                            token.len == 0 ? access.token_file : path),
                               reterr_reason);
    if (r < 0)
        return r;
    r = read_account(folder, "namespace", MAX_NAMESPACE_BYTES, arena, &path, &access.namespace_name,
                     &ignored);
    if (r == -ENOMEM)
        return r;
    if (access.namespace_name.len == 0)
        access.namespace_name = (struct str){0};
    *ret_access = access;
    return 0;
}

/* ---- from a kubeconfig ---- */

/* optional: a missing file is ignored, as for $KUBECONFIG. */
static int add_file(struct kubeconfig *config, const char *path, bool optional,
                    struct str *reterr_reason)
{
    struct str text = {0};
    struct str name = {0};
    int r = file_read_path(path, ACCESS_MAX_FILE_BYTES, config->arena, &text);

    if (r == -ENOMEM || (r == -ENOENT && optional))
        return r == -ENOMEM ? r : 0;
    name = file_shown_name(path, config->arena);
    if (!str_present(name))
        return -ENOMEM;
    if (r < 0)
        return access_give_reason(-EINVAL,
                                  arena_format(config->arena,
                                               "%s: the kubeconfig cannot be read: %s", name.ptr,
                                               file_error_text(r)),
                                  reterr_reason);
    return kubeconfig_add(config, path, text, reterr_reason);
}

/* Adds the files of a list that is separated by colons. */
static int add_list(struct kubeconfig *config, const char *list, struct str *reterr_reason)
{
    while (*list != '\0') {
        size_t len = strcspn(list, ":");
        int r = 0;

        if (len > 0) {
            const char *path = arena_copy(config->arena, (struct str){.ptr = list, .len = len});

            r = path != NULL ? add_file(config, path, true, reterr_reason) : -ENOMEM;
        }
        if (r < 0)
            return r;
        list += len;
        list += *list == ':' ? 1 : 0;
    }
    return 0;
}

static int add_from_environment(struct kubeconfig *config, struct str *reterr_reason)
{
    const char *list = getenv("KUBECONFIG");
    const char *home = getenv("HOME");
    struct str path = {0};

    if (list != NULL && *list != '\0')
        return add_list(config, list, reterr_reason);
    if (home == NULL || *home == '\0')
        return 0;
    path = arena_format(config->arena, "%s/.kube/config", home);
    return str_present(path) ? add_file(config, path.ptr, true, reterr_reason) : -ENOMEM;
}

int access_from_kubeconfig(const struct access_choice *choice, struct arena *arena,
                           struct access *ret_access, struct str *reterr_reason)
{
    struct kubeconfig config = {.arena = arena, .read_file = file_read_path};
    int r = choice->kubeconfig != NULL ? add_file(&config, choice->kubeconfig, false, reterr_reason)
                                       : add_from_environment(&config, reterr_reason);

    if (r < 0)
        return r;
    if (config.file_count == 0)
        return access_give_reason(-ENOENT,
                                  STR("no kubeconfig found: name one, set KUBECONFIG, or create "
                                      "~/.kube/config"),
                                  reterr_reason);
    return kubeconfig_resolve(&config, choice->context, ret_access, reterr_reason);
}

int access_find(const struct access_choice *choice, struct arena *arena, struct access *ret_access,
                struct str *reterr_reason)
{
    int r = -ENOENT;

    if (choice->kubeconfig == NULL && choice->context == NULL)
        r = access_in_cluster(ACCESS_SERVICE_ACCOUNT, arena, ret_access, reterr_reason);
    return r != -ENOENT ? r : access_from_kubeconfig(choice, arena, ret_access, reterr_reason);
}
