/* SPDX-License-Identifier: Apache-2.0 */
/* rules - the rows of the table of section 3 about the pod and its containers, one function each,
 * in the order of the table. */
#include <errno.h>

#include "k8s/boundary/internal.h"
#include "planner/base/array.h"
#include "planner/base/tree.h"

#define MAX_SHOWN_NAME_BYTES 128 /* of a variable, in a message */

/* Whether a further finding is only counted: its place is not made then. */
static bool is_counted(struct reading *reading, enum boundary_code code)
{
    if (reading->count - reading->code_begin < BOUNDARY_MAX_FINDINGS_PER_CODE)
        return false;
    reading->more[code]++;
    return true;
}

static int add(struct reading *reading, enum boundary_code code, struct str place)
{
    int r = array_grow_in(reading->arena, &reading->findings, &reading->capacity,
                          reading->count + 1, sizeof(*reading->findings),
                          (size_t)BOUNDARY_MAX_FINDINGS_PER_CODE * BOUNDARY_CODE_COUNT);

    if (r == 0)
        reading->findings[reading->count++] =
            (struct boundary_finding){.code = code, .place = place};
    return r;
}

int reading_add(struct reading *reading, enum boundary_code code, struct str place)
{
    if (is_counted(reading, code))
        return 0;
    return add(reading, code, place);
}

/* At `<place><field>`. */
static int add_field(struct reading *reading, enum boundary_code code, struct str place,
                     const char *field)
{
    size_t len = strlen(field);
    char *text = arena_alloc_text(reading->arena, place.len + len + 1);

    if (text == NULL)
        return -ENOMEM;
    memcpy(text, place.ptr, place.len);
    memcpy(text + place.len, field, len);
    return reading_add(reading, code, (struct str){.ptr = text, .len = place.len + len});
}

/* At `<place><field>[<index>]<rest>`. */
static int add_entry(struct reading *reading, enum boundary_code code, struct str place,
                     const char *field, size_t index, const char *rest)
{
    struct str s = {0};

    if (is_counted(reading, code))
        return 0;
    s = pod_entry_place(reading->arena, place, field, index, rest);
    return str_present(s) ? add(reading, code, s) : -ENOMEM;
}

/* One finding for each entry of a list of the container. */
static int add_each(struct reading *reading, enum boundary_code code, const struct container *c,
                    const cJSON *list, const char *field)
{
    const cJSON *entry = NULL;
    size_t index = 0;
    int r = 0;

    cJSON_ArrayForEach(entry, list)
    {
        if (r == 0)
            r = add_entry(reading, code, c->place, field, index++, "");
    }
    return r;
}

static bool has_items(const cJSON *list)
{
    return list != NULL && list->child != NULL;
}

/* ---- environment ---- */

int rule_env_undeclared(struct reading *reading, enum boundary_code code)
{
    const struct pod *pod = &reading->pod;

    for (size_t i = 0; !reading->question->declared.env_given && i < pod->container_count; i++) {
        const struct container *c = &pod->containers[i];

        if (c->own && (has_items(c->env) || has_items(c->env_from)))
            return reading_add(reading, code, STR(""));
    }
    return 0;
}

/* The list is in bytewise order. */
static bool is_listed(struct str_list list, struct str name)
{
    size_t begin = 0, end = list.count;

    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        int order = str_compare(list.items[middle], name);

        if (order == 0)
            return true;
        if (order < 0)
            begin = middle + 1;
        else
            end = middle;
    }
    return false;
}

int rule_env_unlisted(struct reading *reading, enum boundary_code code, const struct container *c)
{
    const struct plan_declaration *declared = &reading->question->declared;
    const cJSON *entry = NULL;
    size_t index = 0;
    int r = 0;

    if (!declared->env_given)
        return 0;
    cJSON_ArrayForEach(entry, c->env)
    {
        struct str name = tree_get_text(entry, "name");

        if (name.len == 0 || !is_listed(declared->env_allowlist, name)) {
            r = add_entry(reading, code, c->place, ".env", index, ".name");
            if (r < 0)
                return r;
            if (reading->more[code] == 0 && name.len <= MAX_SHOWN_NAME_BYTES &&
                plan_is_env_name(name))
                reading->findings[reading->count - 1].name = name;
        }
        index++;
    }
    return 0;
}

int rule_env_from(struct reading *reading, enum boundary_code code, const struct container *c)
{
    if (!reading->question->declared.env_given)
        return 0;
    return add_each(reading, code, c, c->env_from, ".envFrom");
}

int rule_service_links(struct reading *reading, enum boundary_code code)
{
    const struct pod *pod = &reading->pod;

    if (!reading->question->declared.env_given || pod_says(pod->service_links, false))
        return 0;
    return add_field(reading, code, pod->prefix, "enableServiceLinks");
}

/* ---- filesystem ---- */

int rule_root_filesystem(struct reading *reading, enum boundary_code code,
                         const struct container *c)
{
    return pod_says(c->security.read_only_root, true) ? 0 : reading_add(reading, code, c->place);
}

int rule_mount(struct reading *reading, enum boundary_code code, const struct container *c)
{
    enum mount_verdict verdict = code == BOUNDARY_CODE_FS_UNPLACED ? MOUNT_UNPLACED : MOUNT_REFUSED;
    const cJSON *entry = NULL;
    size_t index = 0;
    int r = 0;

    cJSON_ArrayForEach(entry, c->mounts)
    {
        if (r == 0 && c->mount_states[index].verdict == verdict)
            r = add_entry(reading, code, c->place, ".volumeMounts", index, "");
        index++;
    }
    return r;
}

int rule_device(struct reading *reading, enum boundary_code code, const struct container *c)
{
    return add_each(reading, code, c, c->devices, ".volumeDevices");
}

/* ---- network ---- */

int rule_host_network(struct reading *reading, enum boundary_code code)
{
    const struct pod *pod = &reading->pod;

    return pod_says(pod->host_network, true) ? add_field(reading, code, pod->prefix, "hostNetwork")
                                             : 0;
}

int rule_host_port(struct reading *reading, enum boundary_code code, const struct container *c)
{
    const cJSON *entry = NULL;
    size_t index = 0;
    int r = 0;

    if (reading->question->declared.network)
        return 0;
    cJSON_ArrayForEach(entry, c->ports)
    {
        const cJSON *port = tree_get(entry, "hostPort");

        if (r == 0 && tree_is(port, cJSON_Number) && port->valuedouble != 0)
            r = add_entry(reading, code, c->place, ".ports", index, "");
        index++;
    }
    return r;
}

/* The handlers of an object that make the container listen. */
static int add_handlers(struct reading *reading, enum boundary_code code, const struct container *c,
                        const cJSON *object, const char *field)
{
    static const char *const handlers[] = {"httpGet", "tcpSocket", "grpc"};
    int r = 0;

    for (size_t i = 0; r == 0 && i < sizeof(handlers) / sizeof(handlers[0]); i++) {
        struct str place = {0};

        if (!tree_is(tree_get(object, handlers[i]), cJSON_Object))
            continue;
        place = arena_format(reading->arena, "%.*s.%s.%s", (int)c->place.len, c->place.ptr, field,
                             handlers[i]);
        r = str_present(place) ? reading_add(reading, code, place) : -ENOMEM;
    }
    return r;
}

int rule_serves(struct reading *reading, enum boundary_code code, const struct container *c)
{
    const struct {
        const cJSON *object;
        const char *field;
    } rows[] = {
        {c->liveness_probe, "livenessProbe"},
        {c->readiness_probe, "readinessProbe"},
        {c->startup_probe, "startupProbe"},
        {tree_get(c->lifecycle, "postStart"), "lifecycle.postStart"},
        {tree_get(c->lifecycle, "preStop"), "lifecycle.preStop"},
    };
    int r = 0;

    if (reading->question->declared.network)
        return 0;
    r = add_each(reading, code, c, c->ports, ".ports");
    for (size_t i = 0; r == 0 && i < sizeof(rows) / sizeof(rows[0]); i++)
        r = add_handlers(reading, code, c, rows[i].object, rows[i].field);
    return r;
}

/* ---- system calls ---- */

int rule_seccomp_unset(struct reading *reading, enum boundary_code code, const struct container *c)
{
    return str_present(c->seccomp_type) ? 0 : reading_add(reading, code, c->place);
}

int rule_unconfined(struct reading *reading, enum boundary_code code, const struct container *c)
{
    bool confined = str_equal(c->seccomp_type, STR("RuntimeDefault")) ||
                    str_equal(c->seccomp_type, STR("Localhost"));

    if (!str_present(c->seccomp_type) || (confined && !pod_says(c->security.privileged, true)))
        return 0;
    return reading_add(reading, code, c->place);
}

/* ---- capabilities ---- */

int rule_privileged(struct reading *reading, enum boundary_code code, const struct container *c)
{
    return pod_says(c->security.privileged, true) ? reading_add(reading, code, c->place) : 0;
}

static bool drops_all(const struct container *c)
{
    const cJSON *entry = NULL, *drop = tree_get(c->security.capabilities, "drop");

    if (!tree_is(drop, cJSON_Array))
        return false;
    cJSON_ArrayForEach(entry, drop)
    {
        if (str_equal_ascii_nocase(tree_text(entry), STR("ALL")))
            return true;
    }
    return false;
}

int rule_capabilities_kept(struct reading *reading, enum boundary_code code,
                           const struct container *c)
{
    if (pod_says(c->security.privileged, true) || drops_all(c))
        return 0;
    return reading_add(reading, code, c->place);
}

int rule_capability_added(struct reading *reading, enum boundary_code code,
                          const struct container *c)
{
    const cJSON *added = tree_get(c->security.capabilities, "add");

    if (pod_says(c->security.privileged, true) || !tree_is(added, cJSON_Array))
        return 0;
    return add_each(reading, code, c, added, ".securityContext.capabilities.add");
}

int rule_escalation(struct reading *reading, enum boundary_code code, const struct container *c)
{
    if (pod_says(c->security.privileged, true) || pod_says(c->security.escalation, false))
        return 0;
    return reading_add(reading, code, c->place);
}

/* The container's own fields count before the pod's. */
static bool may_be_root(const struct pod *pod, const struct container *c)
{
    const cJSON *user =
        c->security.run_as_user != NULL ? c->security.run_as_user : pod->security.run_as_user;
    const cJSON *non_root = c->security.run_as_non_root != NULL ? c->security.run_as_non_root
                                                                : pod->security.run_as_non_root;

    if (user != NULL)
        return user->valuedouble == 0;
    return !pod_says(non_root, true);
}

int rule_root_user(struct reading *reading, enum boundary_code code, const struct container *c)
{
    const struct pod *pod = &reading->pod;

    if (pod_says(c->security.privileged, true) || pod_says(pod->host_users, false) ||
        !may_be_root(pod, c))
        return 0;
    return reading_add(reading, code, c->place);
}

/* ---- resources ---- */

/* Whether a quantity has a digit other than 0 before its suffix or exponent: Kubernetes takes 0 for
 * no limit. */
static bool is_limit(const cJSON *quantity)
{
    struct str s = tree_text(quantity);

    if (tree_is(quantity, cJSON_Number))
        return quantity->valuedouble != 0;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];

        if (text_is_digit(c) && c != '0')
            return true;
        if (!text_is_digit(c) && c != '.' && c != '+' && c != '-')
            return false;
    }
    return false;
}

static bool has_limit(const cJSON *resources, const char *key)
{
    return is_limit(tree_get(tree_get(resources, "limits"), key));
}

static int add_without_limit(struct reading *reading, enum boundary_code code,
                             const struct container *c, const char *key)
{
    if (c->list == IMAGE_EPHEMERAL_CONTAINERS || has_limit(c->resources, key) ||
        has_limit(reading->pod.resources, key))
        return 0;
    return reading_add(reading, code, c->place);
}

int rule_cpu_limit(struct reading *reading, enum boundary_code code, const struct container *c)
{
    return add_without_limit(reading, code, c, "cpu");
}

int rule_memory_limit(struct reading *reading, enum boundary_code code, const struct container *c)
{
    return add_without_limit(reading, code, c, "memory");
}

/* ---- isolation ---- */

int rule_host_namespace(struct reading *reading, enum boundary_code code)
{
    const struct pod *pod = &reading->pod;
    const struct {
        const cJSON *field;
        const char *name;
    } rows[] = {
        {pod->host_pid, "hostPID"},
        {pod->host_ipc, "hostIPC"},
        {pod->share_process_namespace, "shareProcessNamespace"},
    };
    int r = 0;

    for (size_t i = 0; r == 0 && i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (pod_says(rows[i].field, true))
            r = add_field(reading, code, pod->prefix, rows[i].name);
    }
    return r;
}

/* One finding for each mount whose volume is of that kind. */
static int add_mounts(struct reading *reading, enum boundary_code code, const struct container *c,
                      bool (*is)(const struct volume *volume))
{
    const cJSON *entry = NULL;
    size_t index = 0;
    int r = 0;

    cJSON_ArrayForEach(entry, c->mounts)
    {
        const struct volume *volume = c->mount_states[index].volume;

        if (r == 0 && volume != NULL && is(volume))
            r = add_entry(reading, code, c->place, ".volumeMounts", index, "");
        index++;
    }
    return r;
}

static bool is_host_path(const struct volume *volume)
{
    return volume->host_path;
}

int rule_host_path(struct reading *reading, enum boundary_code code, const struct container *c)
{
    return add_mounts(reading, code, c, is_host_path);
}

static bool is_host_process(const struct security_context *security)
{
    return pod_says(tree_get(security->windows, "hostProcess"), true);
}

int rule_pod_host_process(struct reading *reading, enum boundary_code code)
{
    struct str spec = reading->pod.prefix;

    spec.len--; /* without its dot */
    return is_host_process(&reading->pod.security) ? reading_add(reading, code, spec) : 0;
}

int rule_proc(struct reading *reading, enum boundary_code code, const struct container *c)
{
    struct str proc = tree_text(c->security.proc_mount);

    if ((!str_present(proc) || str_equal(proc, STR("Default"))) && !is_host_process(&c->security))
        return 0;
    return reading_add(reading, code, c->place);
}

/* What no API server has completed yet says by this field whether a token will be mounted. */
int rule_pod_token(struct reading *reading, enum boundary_code code)
{
    const struct pod *pod = &reading->pod;

    if ((!pod->is_template && pod->uid != NULL) || pod_says(pod->automount_token, false))
        return 0;
    return add_field(reading, code, pod->prefix, "automountServiceAccountToken");
}

static bool is_credential(const struct volume *volume)
{
    return volume->credential;
}

int rule_token(struct reading *reading, enum boundary_code code, const struct container *c)
{
    return add_mounts(reading, code, c, is_credential);
}
