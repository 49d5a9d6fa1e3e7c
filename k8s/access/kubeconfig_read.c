/* SPDX-License-Identifier: Apache-2.0 */
/* kubeconfig_read - reads the members of a cluster and of a user. */
#include <assert.h>
#include <errno.h>

#include "k8s/access/internal.h"
#include "k8s/util/base64.h"
#include "k8s/util/file.h"
#include "planner/base/tree.h"

/* A relative path starts at the folder of the kubeconfig that names it. NULL: out of memory. */
static const char *path_from(const struct kubeconfig_entry *entry, struct str path)
{
    const char *base = entry->file->path;
    const char *slash = strrchr(base, '/');

    if (path.ptr[0] == '/' || slash == NULL)
        return arena_copy(entry->config->arena, path);
    return arena_format(entry->config->arena, "%.*s/%.*s", (int)(slash - base), base, (int)path.len,
                        path.ptr)
        .ptr;
}

static int read_named(const struct kubeconfig_entry *entry, const char *key, const char *path,
                      size_t max_bytes, struct str *ret_bytes)
{
    struct arena *arena = entry->config->arena;
    struct str name = {0};
    int r = entry->config->read_file(path, max_bytes, arena, ret_bytes);

    if (r == -ENOMEM || r == 0)
        return r;
    name = file_shown_name(path, arena);
    if (!str_present(name))
        return -ENOMEM;
    return kubeconfig_refuse(entry, "%s: %s cannot be read: %s", key, name.ptr, file_error_text(r));
}

static int decode(const struct kubeconfig_entry *entry, const char *key, struct str data,
                  struct str *ret_bytes)
{
    unsigned char *bytes = arena_alloc(entry->config->arena, data.len + 1, 1);
    size_t len = 0;

    if (bytes == NULL)
        return -ENOMEM;
    if (base64_decode(data, data.len, bytes, &len) < 0)
        return kubeconfig_refuse(entry, "%s is not base64", key);
    *ret_bytes = (struct str){.ptr = (const char *)bytes, .len = len};
    return 0;
}

/* Reads the member `key`-data if present, else the file that `key` names. *ret_path is NULL unless
 * a file was read. */
static int read_pem(const struct kubeconfig_entry *entry, const char *key, struct str *ret_pem,
                    const char **ret_path)
{
    struct str data_key = arena_format(entry->config->arena, "%s-data", key);
    struct str data = {0};
    struct str path = {0};
    int r = 0;

    *ret_path = NULL;
    if (!str_present(data_key))
        return -ENOMEM;
    r = kubeconfig_text(entry, data_key.ptr, &data);
    if (r == 0)
        r = kubeconfig_text(entry, key, &path);
    if (r < 0)
        return r;
    if (str_present(data))
        return decode(entry, data_key.ptr, data, ret_pem);
    if (!str_present(path))
        return 0;
    *ret_path = path_from(entry, path);
    if (*ret_path == NULL)
        return -ENOMEM;
    return read_named(entry, key, *ret_path, ACCESS_MAX_FILE_BYTES, ret_pem);
}

static int read_flag(const struct kubeconfig_entry *entry, const char *key, bool *ret_flag)
{
    const cJSON *node = tree_get(entry->body, key);

    if (node != NULL && !tree_is(node, cJSON_True) && !tree_is(node, cJSON_False))
        return kubeconfig_refuse(entry, "%s must be true or false", key);
    *ret_flag = tree_is(node, cJSON_True);
    return 0;
}

static bool is_proxy(struct str url)
{
    static const struct str schemes[] = {STR_INIT("http://"), STR_INIT("https://"),
                                         STR_INIT("socks5://")};

    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        if (str_starts_with_ascii_nocase(url, schemes[i]) && url.len > schemes[i].len)
            return true;
    }
    return false;
}

int kubeconfig_read_cluster(const struct kubeconfig_entry *entry, struct access *access)
{
    const char *problem = NULL;
    const char *path = NULL;
    int r = kubeconfig_text(entry, "server", &access->server);

    if (r == 0)
        r = kubeconfig_text(entry, "tls-server-name", &access->tls_server_name);
    if (r == 0)
        r = kubeconfig_text(entry, "proxy-url", &access->proxy_url);
    if (r == 0)
        r = read_flag(entry, "insecure-skip-tls-verify", &access->insecure);
    if (r == 0)
        r = read_pem(entry, "certificate-authority", &access->ca_pem, &path);
    if (r < 0)
        return r;
    problem = access_address_problem(access->server);
    if (problem != NULL)
        return kubeconfig_refuse(entry, "%s", problem);
    while (access->server.ptr[access->server.len - 1] == '/')
        access->server.len--;
    assert(access->server.len > sizeof("http://") - 1); /* it has a host */
    if (str_present(access->proxy_url) && !is_proxy(access->proxy_url))
        return kubeconfig_refuse(
            entry, "proxy-url must begin with http://, https:// or socks5:// and name a host");
    if (access->insecure && str_present(access->ca_pem))
        return kubeconfig_refuse(entry,
                                 "it has both a certificate authority and "
                                 "insecure-skip-tls-verify; remove insecure-skip-tls-verify");
    return 0;
}

/* ---- users ---- */

/* Refuses credentials that other programs provide: none is run here. */
static int refuse_programs(const struct kubeconfig_entry *entry)
{
    static const char *const methods[] = {"exec", "auth-provider"};

    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (tree_get(entry->body, methods[i]) != NULL)
            return kubeconfig_refuse(
                entry,
                "%s is not supported, because it runs other programs; use a client certificate, a "
                "tokenFile or a token (kubectl create token makes one for a service account)",
                methods[i]);
    }
    return 0;
}

static int read_token(const struct kubeconfig_entry *entry, struct access *access)
{
    struct str path = {0};
    struct str bytes = {0};
    int r = kubeconfig_text(entry, "token", &access->token);

    if (r == 0)
        r = kubeconfig_text(entry, "tokenFile", &path);
    if (r < 0 || !str_present(path))
        return r;
    access->token_file = path_from(entry, path);
    if (access->token_file == NULL)
        return -ENOMEM;
    /* it is read again for requests; here only to report a mistake early, if there is no token */
    r = read_named(entry, "tokenFile", access->token_file, ACCESS_MAX_TOKEN_BYTES, &bytes);
    return r == -EINVAL && str_present(access->token) ? 0 : r;
}

static int read_certificate(const struct kubeconfig_entry *entry, struct access *access)
{
    const char *certificate = NULL;
    const char *key = NULL;
    int r = read_pem(entry, "client-certificate", &access->certificate_pem, &certificate);

    if (r == 0)
        r = read_pem(entry, "client-key", &access->key_pem, &key);
    if (r < 0)
        return r;
    if (str_present(access->certificate_pem) != str_present(access->key_pem))
        return kubeconfig_refuse(entry, str_present(access->key_pem)
                                            ? "it has a client-key but no client-certificate"
                                            : "it has a client-certificate but no client-key");
    if (certificate != NULL && key != NULL) {
        access->certificate_file = certificate;
        access->key_file = key;
    }
    return 0;
}

static int read_groups(const struct kubeconfig_entry *entry, struct access *access)
{
    const cJSON *list = tree_get(entry->body, "as-groups");
    struct str *items = NULL;
    size_t count = 0;

    if (list == NULL)
        return 0;
    if (!tree_is(list, cJSON_Array))
        return kubeconfig_refuse(entry, "as-groups must be a list of text");
    for (const cJSON *item = list->child; item != NULL; item = item->next)
        count++;
    if (count > KUBECONFIG_MAX_ENTRIES)
        return kubeconfig_refuse(entry, "as-groups has more than %d items", KUBECONFIG_MAX_ENTRIES);
    items = arena_alloc(entry->config->arena, count + 1, sizeof(*items));
    if (items == NULL)
        return -ENOMEM;
    count = 0;
    for (const cJSON *item = list->child; item != NULL; item = item->next) {
        items[count] = tree_text(item);
        if (!str_present(items[count++]))
            return kubeconfig_refuse(entry, "as-groups must be a list of text");
    }
    assert(count <= KUBECONFIG_MAX_ENTRIES);
    access->as_groups = (struct str_list){.items = items, .count = count};
    return 0;
}

static int read_impersonation(const struct kubeconfig_entry *entry, struct access *access)
{
    int r = kubeconfig_text(entry, "as", &access->as);

    if (r == 0)
        r = kubeconfig_text(entry, "as-uid", &access->as_uid);
    if (r == 0)
        r = read_groups(entry, access);
    if (r < 0)
        return r;
    if (tree_get(entry->body, "as-user-extra") != NULL)
        return kubeconfig_refuse(entry, "as-user-extra is not supported; remove it");
    if (!str_present(access->as) && (str_present(access->as_uid) || access->as_groups.count > 0))
        return kubeconfig_refuse(entry, "as-uid and as-groups require as, the name of the user");
    return 0;
}

int kubeconfig_read_user(const struct kubeconfig_entry *entry, struct access *access)
{
    int r = refuse_programs(entry);

    if (r == 0)
        r = kubeconfig_text(entry, "username", &access->username);
    if (r == 0)
        r = kubeconfig_text(entry, "password", &access->password);
    if (r == 0)
        r = read_token(entry, access);
    if (r == 0)
        r = read_certificate(entry, access);
    if (r == 0)
        r = read_impersonation(entry, access);
    if (r < 0)
        return r;
    if (str_present(access->token) &&
        (str_present(access->username) || str_present(access->password)))
        return kubeconfig_refuse(entry, "it has both a token and a password; remove one");
    return 0;
}
