/* SPDX-License-Identifier: Apache-2.0 */
/* kubeconfig - reads kubeconfig files, and finds the context, cluster and user in use. */
#include "k8s/access/kubeconfig.h"

#include <assert.h>
#include <errno.h>

#include "k8s/access/internal.h"
#include "k8s/document/document.h"
#include "planner/base/tree.h"

/* The lists of a file. */
static const struct {
    const char *list;
    const char *kind; /* of an item; also the name of the member with its content */
} lists[] = {{"contexts", "context"}, {"clusters", "cluster"}, {"users", "user"}};

enum { CONTEXTS, CLUSTERS, USERS, LIST_COUNT };

/* ---- reading a file ---- */

static int refuse_file(struct kubeconfig *config, const char *path, struct str what,
                       struct str *reterr_reason)
{
    if (!str_present(what))
        return -ENOMEM;
    return access_give_reason(-EINVAL,
                              arena_format(config->arena, "%s: %s",
                                           access_shown_name(config->arena, str_of(path)),
                                           what.ptr),
                              reterr_reason);
}

/* Checks that each item has a name, and no two have the same. */
static int check_list(struct kubeconfig *config, const char *path, const cJSON *tree, size_t which,
                      struct str *reterr_reason)
{
    const char *name = lists[which].list;
    const cJSON *list = tree_get(tree, name);
    size_t count = 0;

    if (list != NULL && !tree_is(list, cJSON_Array))
        return refuse_file(config, path, arena_format(config->arena, "%s must be a list", name),
                           reterr_reason);
    for (const cJSON *item = list != NULL ? list->child : NULL; item != NULL; item = item->next) {
        struct str own = tree_get_text(item, "name");

        if (count == KUBECONFIG_MAX_ENTRIES)
            return refuse_file(config, path,
                               arena_format(config->arena, "%s has more than %d items", name,
                                            KUBECONFIG_MAX_ENTRIES),
                               reterr_reason);
        if (!str_present(own))
            return refuse_file(config, path,
                               arena_format(config->arena, "%s[%zu] must have a name", name, count),
                               reterr_reason);
        for (const cJSON *other = list->child; other != item; other = other->next) {
            if (str_equal(own, tree_get_text(other, "name")))
                return refuse_file(
                    config, path,
                    arena_format(config->arena, "%s \"%s\" is defined twice; remove one",
                                 lists[which].kind, access_shown_name(config->arena, own)),
                    reterr_reason);
        }
        count++;
    }
    return 0;
}

/* The problem of the root, as a static text; NULL: none. kind and apiVersion are optional. */
static const char *root_problem(const cJSON *tree)
{
    const cJSON *kind = tree_get(tree, "kind");
    const cJSON *version = tree_get(tree, "apiVersion");
    const cJSON *current = tree_get(tree, "current-context");

    if (!tree_is(tree, cJSON_Object))
        return "not a kubeconfig: it must be an object";
    if (kind != NULL && !str_equal(tree_text(kind), STR("Config")))
        return "not a kubeconfig: kind must be Config";
    if (version != NULL && !str_equal(tree_text(version), STR("v1")))
        return "not a supported kubeconfig: apiVersion must be v1";
    if (current != NULL && !tree_is(current, cJSON_String))
        return "current-context must be text; quote it";
    return NULL;
}

/* Reads the only document of a file. *ret_tree is NULL if the file is empty. */
static int read_tree(struct kubeconfig *config, const char *path, struct str text,
                     const cJSON **ret_tree, struct str *reterr_reason)
{
    struct document_stream stream = document_stream_make(text, DOCUMENT_EITHER, 0);
    const cJSON *found = NULL;

    for (;;) {
        struct document_error error = {0};
        struct str document = {0};
        cJSON *tree = NULL;
        int r = document_next(&stream, config->arena, &tree, &document, &error);

        if (r == -EBADMSG)
            return access_give_reason(-EINVAL,
                                      arena_format(config->arena, "%s:%zu:%zu: %s",
                                                   access_shown_name(config->arena, str_of(path)),
                                                   error.line, error.column, error.what),
                                      reterr_reason);
        if (r == -E2BIG)
            return refuse_file(config, path, STR("it has too many values"), reterr_reason);
        if (r < 0)
            return r;
        if (tree == NULL)
            break;
        if (tree_is(tree, cJSON_NULL))
            continue;
        if (found != NULL)
            return refuse_file(config, path,
                               STR("it has more than one document; use one file for each"),
                               reterr_reason);
        found = tree;
    }
    *ret_tree = found;
    return 0;
}

int kubeconfig_add(struct kubeconfig *config, const char *path, struct str text,
                   struct str *reterr_reason)
{
    const cJSON *tree = NULL;
    const char *problem = NULL;
    int r = 0;

    if (config->file_count == ACCESS_MAX_FILES)
        return refuse_file(
            config, path,
            arena_format(config->arena, "there are more than %d files", ACCESS_MAX_FILES),
            reterr_reason);
    r = read_tree(config, path, text, &tree, reterr_reason);
    if (r < 0)
        return r;
    problem = tree != NULL ? root_problem(tree) : NULL;
    if (problem != NULL)
        return refuse_file(config, path, str_of(problem), reterr_reason);
    assert(config->file_count < ACCESS_MAX_FILES);
    for (size_t i = 0; i < LIST_COUNT; i++) {
        r = check_list(config, path, tree, i, reterr_reason);
        if (r < 0)
            return r;
    }
    config->files[config->file_count++] = (struct kubeconfig_file){.path = path, .tree = tree};
    return 0;
}

/* ---- finding the entries in use ---- */

static bool find_entry(const struct kubeconfig *config, size_t which, struct str name,
                       struct kubeconfig_entry *ret_entry)
{
    for (size_t i = 0; i < config->file_count; i++) {
        const cJSON *list = tree_get(config->files[i].tree, lists[which].list);

        for (const cJSON *item = list != NULL ? list->child : NULL; item != NULL;
             item = item->next) {
            if (!str_equal(tree_get_text(item, "name"), name))
                continue;
            ret_entry->config = config;
            ret_entry->file = &config->files[i];
            ret_entry->kind = lists[which].kind;
            ret_entry->name = name;
            ret_entry->body = tree_get(item, lists[which].kind);
            return true;
        }
    }
    return false;
}

/* The name of the current context, and the file that sets it. */
static struct str current_context(const struct kubeconfig *config, const char **ret_path)
{
    for (size_t i = 0; i < config->file_count; i++) {
        struct str name = tree_get_text(config->files[i].tree, "current-context");

        if (name.len > 0) {
            *ret_path = config->files[i].path;
            return name;
        }
    }
    return (struct str){0};
}

/* All files, in the form of $KUBECONFIG. */
static const char *paths_of(const struct kubeconfig *config)
{
    struct str all = STR("");

    for (size_t i = 0; i < config->file_count; i++) {
        all = arena_format(config->arena, "%s%s%s", all.ptr, i > 0 ? ":" : "",
                           access_shown_name(config->arena, str_of(config->files[i].path)));
        if (!str_present(all))
            return "?";
    }
    return all.ptr;
}

static int find_context(const struct kubeconfig *config, const char *context,
                        struct kubeconfig_entry *ret_entry, struct str *reterr_reason)
{
    const char *path = paths_of(config);
    struct str name = context != NULL ? str_of(context) : current_context(config, &path);

    ret_entry->reterr_reason = reterr_reason;
    if (name.len == 0)
        return access_give_reason(
            -EINVAL,
            arena_format(config->arena,
                         "%s: no current-context is set; name a context, or set one "
                         "with kubectl config use-context",
                         path),
            reterr_reason);
    if (!find_entry(config, CONTEXTS, name, ret_entry))
        return access_give_reason(-EINVAL,
                                  arena_format(config->arena,
                                               "%s: there is no context \"%s\"; kubectl config "
                                               "get-contexts lists the contexts",
                                               path, access_shown_name(config->arena, name)),
                                  reterr_reason);
    return 0;
}

/* The cluster or user that a context names. Without a user there are no credentials. */
static int find_part(const struct kubeconfig_entry *context, size_t which,
                     struct kubeconfig_entry *ret_entry)
{
    const char *kind = lists[which].kind;
    struct str name = {0};
    int r = kubeconfig_text(context, kind, &name);

    if (r < 0)
        return r;
    *ret_entry = (struct kubeconfig_entry){.reterr_reason = context->reterr_reason};
    if (!str_present(name) && which == USERS)
        return 0;
    if (!str_present(name))
        return kubeconfig_refuse(context, "it has no %s", kind);
    /* find_context() gave the name, so it also set the files to look in */
    assert(context->config != NULL);
    if (!find_entry(context->config, which, name, ret_entry))
        return kubeconfig_refuse(context, "its %s \"%s\" is not defined in any file", kind,
                                 access_shown_name(context->config->arena, name));
    return 0;
}

int kubeconfig_resolve(const struct kubeconfig *config, const char *context,
                       struct access *ret_access, struct str *reterr_reason)
{
    struct kubeconfig_entry chosen = {0};
    struct kubeconfig_entry cluster = {0};
    struct kubeconfig_entry user = {0};
    struct access access = {0};
    int r = find_context(config, context, &chosen, reterr_reason);

    if (r == 0)
        r = kubeconfig_text(&chosen, "namespace", &access.namespace_name);
    if (r == 0)
        r = find_part(&chosen, CLUSTERS, &cluster);
    if (r == 0)
        r = find_part(&chosen, USERS, &user);
    if (r == 0)
        r = kubeconfig_read_cluster(&cluster, &access);
    if (r == 0 && user.config != NULL)
        r = kubeconfig_read_user(&user, &access);
    if (r < 0)
        return r;
    assert(str_present(access.server)); /* kubeconfig_read_cluster() requires it */
    access.context_name = chosen.name;
    if (str_starts_with_ascii_nocase(access.server, STR("http://")) && user.config != NULL &&
        (str_present(access.token) || access.token_file != NULL || str_present(access.username) ||
         str_present(access.password) || str_present(access.key_pem)))
        return kubeconfig_refuse(&cluster,
                                 "its server begins with http://, and credentials are never sent "
                                 "unencrypted; use https://");
    *ret_access = access;
    return 0;
}
