/* SPDX-License-Identifier: Apache-2.0 */
/* pod - finds the fields that the rules read, once, in the tree of a pod. */
#include <errno.h>
#include <string.h>

#include "k8s/boundary/internal.h"
#include "planner/base/tree.h"

/* A field to be picked out of an object. */
struct pick {
    const char *key;
    int type;      /* cJSON_True stands for both booleans */
    size_t offset; /* of the `const cJSON *` in the struct that is filled */
};

static bool has_type(const cJSON *node, int type)
{
    switch (type) {
    case cJSON_True:
        return tree_is(node, cJSON_True) || tree_is(node, cJSON_False);
    case cJSON_String:
        return tree_is(node, cJSON_String) && node->valuestring[0] != '\0';
    default:
        return tree_is(node, type);
    }
}

/* Fills the struct with the members that have the type of their row. The table ends with {0}. */
static void pick(const cJSON *object, const struct pick *rows, void *ret_struct)
{
    const cJSON *member = tree_is(object, cJSON_Object) ? object->child : NULL;

    for (; member != NULL; member = member->next) {
        for (const struct pick *row = rows; row->key != NULL; row++) {
            if (row->key[0] == member->string[0] && strcmp(row->key, member->string) == 0) {
                if (has_type(member, row->type))
                    memcpy((char *)ret_struct + row->offset, &member, sizeof(const cJSON *));
                break;
            }
        }
    }
}

#define ROW(type, member, key, kind)                                                               \
    {                                                                                              \
        key, kind, offsetof(type, member)                                                          \
    }

static const struct pick metadata_rows[] = {
    ROW(struct pod, labels, "labels", cJSON_Object),
    ROW(struct pod, uid, "uid", cJSON_String),
    {0},
};

static const struct pick spec_rows[] = {
    ROW(struct pod, lists[IMAGE_CONTAINERS], "containers", cJSON_Array),
    ROW(struct pod, lists[IMAGE_INIT_CONTAINERS], "initContainers", cJSON_Array),
    ROW(struct pod, lists[IMAGE_EPHEMERAL_CONTAINERS], "ephemeralContainers", cJSON_Array),
    ROW(struct pod, volume_list, "volumes", cJSON_Array),
    ROW(struct pod, security_node, "securityContext", cJSON_Object),
    ROW(struct pod, resources, "resources", cJSON_Object),
    ROW(struct pod, service_links, "enableServiceLinks", cJSON_True),
    ROW(struct pod, automount_token, "automountServiceAccountToken", cJSON_True),
    ROW(struct pod, host_network, "hostNetwork", cJSON_True),
    ROW(struct pod, host_pid, "hostPID", cJSON_True),
    ROW(struct pod, host_ipc, "hostIPC", cJSON_True),
    ROW(struct pod, host_users, "hostUsers", cJSON_True),
    ROW(struct pod, share_process_namespace, "shareProcessNamespace", cJSON_True),
    {0},
};

static const struct pick container_rows[] = {
    ROW(struct container, env, "env", cJSON_Array),
    ROW(struct container, env_from, "envFrom", cJSON_Array),
    ROW(struct container, ports, "ports", cJSON_Array),
    ROW(struct container, mounts, "volumeMounts", cJSON_Array),
    ROW(struct container, devices, "volumeDevices", cJSON_Array),
    ROW(struct container, working_dir, "workingDir", cJSON_String),
    ROW(struct container, resources, "resources", cJSON_Object),
    ROW(struct container, security_node, "securityContext", cJSON_Object),
    ROW(struct container, liveness_probe, "livenessProbe", cJSON_Object),
    ROW(struct container, readiness_probe, "readinessProbe", cJSON_Object),
    ROW(struct container, startup_probe, "startupProbe", cJSON_Object),
    ROW(struct container, lifecycle, "lifecycle", cJSON_Object),
    {0},
};

static const struct pick security_rows[] = {
    ROW(struct security_context, read_only_root, "readOnlyRootFilesystem", cJSON_True),
    ROW(struct security_context, privileged, "privileged", cJSON_True),
    ROW(struct security_context, escalation, "allowPrivilegeEscalation", cJSON_True),
    ROW(struct security_context, run_as_user, "runAsUser", cJSON_Number),
    ROW(struct security_context, run_as_non_root, "runAsNonRoot", cJSON_True),
    ROW(struct security_context, proc_mount, "procMount", cJSON_String),
    ROW(struct security_context, seccomp, "seccompProfile", cJSON_Object),
    ROW(struct security_context, capabilities, "capabilities", cJSON_Object),
    ROW(struct security_context, windows, "windowsOptions", cJSON_Object),
    {0},
};

/* The type of a seccomp profile; absent where it has none. */
static struct str profile_type(const struct security_context *security)
{
    struct str type = tree_get_text(security->seccomp, "type");

    return type.len > 0 ? type : (struct str){0};
}

static const char *const list_names[IMAGE_LIST_COUNT] = {
    [IMAGE_CONTAINERS] = "containers",
    [IMAGE_INIT_CONTAINERS] = "initContainers",
    [IMAGE_EPHEMERAL_CONTAINERS] = "ephemeralContainers",
};

/* The order of section 1. */
static const enum image_list container_lists[] = {
    IMAGE_INIT_CONTAINERS,
    IMAGE_CONTAINERS,
    IMAGE_EPHEMERAL_CONTAINERS,
};

#define MAX_DIGITS 20 /* of 64 bits */

/* In decimal, at the end of the digits. Places are many, and printf() is slow. */
static struct str write_number(size_t number, char digits[static MAX_DIGITS])
{
    char *p = digits + MAX_DIGITS;

    do {
        *--p = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return (struct str){.ptr = p, .len = (size_t)(digits + MAX_DIGITS - p)};
}

struct str pod_entry_place(struct arena *arena, struct str before, const char *field, size_t index,
                           const char *rest)
{
    struct str number = write_number(index, (char[MAX_DIGITS]){0});
    const struct str parts[] = {before, str_of(field), STR("["), number, STR("]"), str_of(rest)};
    size_t len = 0;
    char *text = NULL;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        len += parts[i].len;
    text = arena_alloc_text(arena, len + 1);
    if (text == NULL)
        return (struct str){0};
    len = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        memcpy(text + len, parts[i].ptr, parts[i].len);
        len += parts[i].len;
    }
    return (struct str){.ptr = text, .len = len};
}

static int read_container(struct reading *reading, enum image_list list, size_t index,
                          const cJSON *node, struct container *ret_container)
{
    struct pod *pod = &reading->pod;
    struct container c = {.list = list};

    c.place = pod_entry_place(reading->arena, pod->prefix, list_names[list], index, "");
    if (!str_present(c.place))
        return -ENOMEM;
    pick(node, container_rows, &c);
    pick(c.security_node, security_rows, &c.security);
    c.seccomp_type = profile_type(&c.security);
    if (!str_present(c.seccomp_type))
        c.seccomp_type = profile_type(&pod->security);
    *ret_container = c;
    return 0;
}

/* Sidecars are not the workload's own, and neither are ephemeral containers. */
static void mark_own(struct reading *reading)
{
    const struct boundary_question *question = reading->question;
    struct pod *pod = &reading->pod;
    size_t begins[IMAGE_LIST_COUNT] = {0}, next = 0;

    for (size_t i = 0; i < sizeof(container_lists) / sizeof(container_lists[0]); i++) {
        begins[container_lists[i]] = next;
        next += tree_count(pod->lists[container_lists[i]]);
    }
    for (size_t i = 0; i < question->pod->image_count; i++) {
        const struct image_use *use = &question->pod->images[i];

        if (use->list == IMAGE_INIT_CONTAINERS || use->list == IMAGE_CONTAINERS)
            pod->containers[begins[use->list] + use->index].own = !question->sidecars[i];
    }
}

static int read_containers(struct reading *reading)
{
    struct pod *pod = &reading->pod;
    size_t count = 0;

    for (size_t i = 0; i < sizeof(container_lists) / sizeof(container_lists[0]); i++)
        count += tree_count(pod->lists[container_lists[i]]);
    pod->containers = arena_alloc(reading->arena, count, sizeof(*pod->containers));
    if (pod->containers == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < sizeof(container_lists) / sizeof(container_lists[0]); i++) {
        const cJSON *node = NULL;
        size_t index = 0;

        cJSON_ArrayForEach(node, pod->lists[container_lists[i]])
        {
            int r = read_container(reading, container_lists[i], index++, node,
                                   &pod->containers[pod->container_count++]);

            if (r < 0)
                return r;
        }
    }
    mark_own(reading);
    return 0;
}

int pod_read(struct reading *reading)
{
    const struct workload *workload = reading->question->pod;
    struct pod *pod = &reading->pod;
    int r = 0;

    pod->is_template = workload->kind != WORKLOAD_POD;
    pod->prefix = workload->root[0] == '\0'
                      ? STR("spec.")
                      : arena_format(reading->arena, "%sspec.", workload->root);
    if (!str_present(pod->prefix))
        return -ENOMEM;
    pick(tree_get(workload->pod, "metadata"), metadata_rows, pod);
    pick(tree_get(workload->pod, "spec"), spec_rows, pod);
    pick(pod->security_node, security_rows, &pod->security);
    if (reading->question->policies_read)
        r = network_policy_labels_make(pod->labels, reading->arena, &reading->labels);
    if (r == 0)
        r = mounts_read_volumes(reading);
    if (r == 0)
        r = read_containers(reading);
    for (size_t i = 0; r == 0 && i < pod->container_count; i++)
        r = mounts_read(reading, &pod->containers[i]);
    return r;
}
