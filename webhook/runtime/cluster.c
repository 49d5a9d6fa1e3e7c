/* SPDX-License-Identifier: Apache-2.0 */
/* cluster - the evidence source `cluster`: an API server (gate-v1, sections 2 and 4). */

#include "webhook/runtime/internal.h"

#include <assert.h>
#include <errno.h>

#include "k8s/access/access.h"
#include "k8s/api/api.h"
#include "k8s/util/clock.h"

/* Adds `what` to the report, or a general reason where it is absent. */
static int refuse(struct runtime_report *report, int r, struct str what)
{
    if (r == -ENOMEM)
        return r;
    report->evidence_failed = true;
    if (!str_present(what))
        what = STR("the cluster cannot be used as a source of evidence");
    r = runtime_report_add(report, what);
    return r != 0 ? r : -EINVAL;
}

static struct fingerprint fingerprint_of(const char *kubeconfig)
{
    struct fingerprint fingerprint = {0};

    fingerprint_add(&fingerprint, kubeconfig, clock_unix_sec());
    return fingerprint;
}

/* A command prefers the kubeconfig of its user, who may work inside a pod, over the service account
 * of that pod. The server prefers its service account. */
static int find_access(const struct runtime *runtime, const struct config *config,
                       struct arena *arena, struct access *ret_access, struct str *reterr_reason)
{
    const struct access_choice choice = {
        .kubeconfig = runtime->overrides.kubeconfig != NULL ? runtime->overrides.kubeconfig
                                                            : config->kubeconfig,
        .context = runtime->overrides.context,
    };
    int r = 0;

    if (runtime->overrides.serving)
        return access_find(&choice, arena, ret_access, reterr_reason);
    r = access_from_kubeconfig(&choice, arena, ret_access, reterr_reason);
    if (r != -ENOENT || choice.kubeconfig != NULL || choice.context != NULL)
        return r;
    return access_find(&choice, arena, ret_access, reterr_reason);
}

static int copy_str(struct arena *arena, struct str s, struct str *ret_copy)
{
    const char *copy = str_present(s) ? arena_copy(arena, s) : NULL;

    if (str_present(s) && copy == NULL)
        return -ENOMEM;
    *ret_copy = (struct str){.ptr = copy, .len = s.len};
    return 0;
}

/* Drops repeated names, and the gate's own namespace, which is always watched. -EINVAL: nothing is
 * left; an empty list would mean all namespaces. */
static int copy_namespaces(struct runtime_cluster *c, struct str_list given)
{
    struct str *items = arena_alloc(&c->arena, given.count + 1, sizeof(*items));
    struct str_list *list = &c->options.namespaces;

    if (items == NULL)
        return -ENOMEM;
    *list = (struct str_list){.items = items};
    for (size_t i = 0; i < given.count; i++) {
        int r = 0;

        if (str_list_has(*list, given.items[i]) ||
            str_equal(given.items[i], c->options.own_namespace))
            continue;
        r = copy_str(&c->arena, given.items[i], &items[list->count]);
        if (r != 0)
            return r;
        list->count++;
    }
    return given.count > 0 && list->count == 0 ? -EINVAL : 0;
}

static int copy_texts(struct runtime_cluster *c, const struct config *config,
                      const struct access *access)
{
    int r = copy_str(&c->arena, config->policy.own_namespace, &c->options.own_namespace);

    if (r == 0)
        r = copy_str(&c->arena, access->namespace_name, &c->context_namespace);
    if (r == 0)
        r = copy_namespaces(c, config->namespaces);
    if (r == 0 && config->kubeconfig != NULL) {
        c->kubeconfig = arena_copy(&c->arena, str_of(config->kubeconfig));
        r = c->kubeconfig != NULL ? 0 : -ENOMEM;
    }
    return r;
}

static int warn_of_access(struct runtime_report *report, const struct access *access)
{
    if (!access->insecure)
        return 0;
    return runtime_report_warn(
        report, "insecure setting in use",
        arena_format(&report->arena,
                     "the certificate of %.*s is not verified (insecure-skip-tls-verify): an "
                     "attacker on the network path can supply evidence and namespaces; set the "
                     "certificate authority in the kubeconfig instead",
                     (int)access->server.len, access->server.ptr));
}

int runtime_open_cluster(struct runtime *runtime, struct config *config,
                         struct runtime_report *report)
{
    struct runtime_cluster *c = &runtime->cluster;
    struct access access = {0};
    struct str reason = {0};
    int r = find_access(runtime, config, &report->arena, &access, &reason);

    if (r == 0)
        r = warn_of_access(report, &access);
    if (r == 0)
        r = api_new(&access, &report->arena, &c->api, &reason);
    if (r == 0)
        r = copy_texts(c, config, &access);
    if (r == -EINVAL && !str_present(reason))
        reason = STR("evidence.namespaces lists only the gate's own namespace, where no pod is "
                     "judged: list the namespaces of the pods, or leave it empty for all");
    if (r != 0)
        return refuse(report, r, reason);
    c->options.api = c->api;
    c->options.store = runtime->store;
    c->options.on_event = runtime->overrides.on_event;
    c->options.event_context = runtime->overrides.event_context;
    c->options.max_stale_sec = config->max_stale_sec;
    c->options.network_policies = config->policy.network_policies;
    c->kubeconfig_read = fingerprint_of(c->kubeconfig);
    r = cluster_new(&c->options, &c->cluster);
    if (r == 0)
        r = cluster_set_rules(c->cluster, runtime->keyring, &config->policy,
                              runtime_hold_config(config));
    return r == 0 ? 0 : refuse(report, r, reason);
}

int runtime_reload_cluster(struct runtime *runtime, struct config *config,
                           struct runtime_report *report)
{
    int r = cluster_set_rules(runtime->cluster.cluster, runtime->keyring, &config->policy,
                              runtime_hold_config(config));

    report->evidence_failed |= r != 0;
    if (r == 0)
        cluster_set_max_stale(runtime->cluster.cluster, config->max_stale_sec);
    return r;
}

/* The pointer is cleared first, under the lock, so that no thread uses the cluster while it is
 * freed. */
void runtime_stop_cluster(struct runtime *runtime)
{
    struct runtime_cluster *c = &runtime->cluster;
    struct cluster *cluster = NULL;

    (void)pthread_rwlock_wrlock(&c->lock);
    cluster = c->cluster;
    if (cluster != NULL)
        c->was_stale = cluster_is_stale(cluster);
    c->cluster = NULL;
    (void)pthread_rwlock_unlock(&c->lock);
    cluster_free(cluster);
}

void runtime_close_cluster(struct runtime *runtime)
{
    runtime_stop_cluster(runtime);
    api_free(runtime->cluster.api);
    arena_release(&runtime->cluster.arena);
}

int runtime_start(struct runtime *runtime)
{
    return runtime->cluster.cluster != NULL ? cluster_start(runtime->cluster.cluster) : 0;
}

int runtime_read_once(struct runtime *runtime, uint64_t deadline_msec, struct arena *arena,
                      struct str *reterr_reason)
{
    if (runtime->cluster.cluster == NULL)
        return 0;
    return cluster_read_once(runtime->cluster.cluster, deadline_msec, arena, reterr_reason);
}

int runtime_ask(struct runtime *runtime, enum cluster_question question, struct str namespace_name,
                struct cluster_waiter *waiter)
{
    struct runtime_cluster *c = &runtime->cluster;
    int r = -ESHUTDOWN;

    (void)pthread_rwlock_rdlock(&c->lock);
    if (c->cluster != NULL)
        r = cluster_ask(c->cluster, question, namespace_name, waiter);
    (void)pthread_rwlock_unlock(&c->lock);
    return r;
}

bool runtime_is_stale(struct runtime *runtime)
{
    struct runtime_cluster *c = &runtime->cluster;
    bool stale = false;

    (void)pthread_rwlock_rdlock(&c->lock);
    stale = c->cluster != NULL ? cluster_is_stale(c->cluster) : c->was_stale;
    (void)pthread_rwlock_unlock(&c->lock);
    return stale;
}

void runtime_cluster_status(struct runtime *runtime, struct cluster_status *ret_status)
{
    struct runtime_cluster *c = &runtime->cluster;

    *ret_status = (struct cluster_status){0};
    (void)pthread_rwlock_rdlock(&c->lock);
    if (c->cluster != NULL)
        cluster_read_status(c->cluster, ret_status);
    (void)pthread_rwlock_unlock(&c->lock);
}

struct str runtime_api_server(const struct runtime *runtime)
{
    return runtime->cluster.api != NULL ? api_server(runtime->cluster.api) : (struct str){0};
}

struct str runtime_context_namespace(const struct runtime *runtime)
{
    return runtime->cluster.context_namespace;
}

/* ---- settings that need a restart ---- */

static bool same_names(struct str_list a, struct str_list b, struct str own)
{
    for (size_t i = 0; i < a.count; i++) {
        if (!str_list_has(b, a.items[i]) && !str_equal(a.items[i], own))
            return false;
    }
    return (a.count == 0) == (b.count == 0);
}

/* The first setting that differs from the start; NULL: none. */
static const char *changed_key(const struct runtime *runtime, const struct config *config)
{
    const struct runtime_cluster *c = &runtime->cluster;

    if (config->source != runtime->source)
        return "evidence.source";
    if (runtime->source != CONFIG_SOURCE_CLUSTER)
        return NULL;
    if (!str_equal(str_of(config->kubeconfig), str_of(c->kubeconfig)))
        return "evidence.kubeconfig";
    if (c->kubeconfig != NULL && fingerprint_of(c->kubeconfig).value != c->kubeconfig_read.value)
        return "the file of evidence.kubeconfig";
    if (!str_equal(config->policy.own_namespace, c->options.own_namespace))
        return "evidence.namespace";
    if (!same_names(config->namespaces, c->options.namespaces, c->options.own_namespace) ||
        !same_names(c->options.namespaces, config->namespaces, c->options.own_namespace))
        return "evidence.namespaces";
    if (config->policy.network_policies != c->options.network_policies)
        return "boundary.networkPolicies";
    return NULL;
}

static int restore_start_values(const struct runtime *runtime, struct config *config)
{
    assert(runtime->source != CONFIG_SOURCE_UNSET);
    config->source = runtime->source;
    if (runtime->source == CONFIG_SOURCE_CLUSTER) {
        config->policy.network_policies = runtime->cluster.options.network_policies;
        return copy_str(&config->arena, runtime->cluster.options.own_namespace,
                        &config->policy.own_namespace);
    }
    if (config->evidence_directory == NULL)
        config->evidence_directory = arena_copy(&config->arena, str_of(runtime->folder.path));
    return config->evidence_directory != NULL ? 0 : -ENOMEM;
}

int runtime_keep_start_source(struct runtime *runtime, struct config *config,
                              struct runtime_report *report)
{
    const char *changed = changed_key(runtime, config);
    bool warned = runtime->cluster.restart_warned;
    int r = 0;

    runtime->cluster.restart_warned = changed != NULL;
    if (changed == NULL)
        return 0;
    r = restore_start_values(runtime, config);
    if (r != 0 || warned)
        return r;
    return runtime_report_warn(
        report, "a change needs a restart",
        arena_format(&report->arena,
                     "%s has changed: restart the gate to apply it; until then the "
                     "previous value stays in use",
                     changed));
}
