/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_BOUNDARY_INTERNAL_H
#define K8S_BOUNDARY_INTERNAL_H

/*
 * internal - one reading of a pod while it is made; private to this directory.
 *
 * boundary.c    the order of the rules
 * pod.c         from the tree to the structs below
 * mounts.c      volumes and mounts: what each is, and whether something admits it
 * rules.c       rules about the pod and its containers, one function a row
 * egress.c      rules about network policies
 * codes.c       codes, states and messages
 * write.c       the audit annotation
 *
 * Errors     0 or -ENOMEM.
 * Ownership  the arena of the call, or borrowed from the pod's tree.
 */

#include <cjson/cJSON.h>

#include "k8s/boundary/boundary.h"

/* Fields are nodes of the type that they must have; NULL: absent, of another type, or empty text.
 */
struct security_context {
    const cJSON *read_only_root;
    const cJSON *privileged;
    const cJSON *escalation;
    const cJSON *run_as_user;
    const cJSON *run_as_non_root;
    const cJSON *proc_mount;
    const cJSON *seccomp;
    const cJSON *capabilities;
    const cJSON *windows;
};

struct volume {
    struct str name;
    size_t index; /* of several with one name the first counts */
    bool read_only;
    bool host_path;
    bool credential; /* a projected token or certificate */
};

enum mount_verdict {
    MOUNT_ADMITTED = 0, /* or read-only */
    MOUNT_REFUSED,
    MOUNT_UNPLACED,
};

struct mount {
    const struct volume *volume; /* NULL: not listed */
    enum mount_verdict verdict;  /* of own containers */
};

struct container {
    enum image_list list;
    struct str place;
    bool own;
    const cJSON *working_dir;
    const cJSON *env;
    const cJSON *env_from;
    const cJSON *ports;
    const cJSON *mounts;
    const cJSON *devices;
    const cJSON *liveness_probe;
    const cJSON *readiness_probe;
    const cJSON *startup_probe;
    const cJSON *lifecycle;
    const cJSON *resources;
    const cJSON *security_node;
    struct security_context security;
    struct str seccomp_type;    /* its own, else the pod's; absent: none */
    struct mount *mount_states; /* one for each entry of mounts */
};

struct pod {
    struct str prefix; /* of places: `spec.`, `spec.template.spec.` */
    bool is_template;
    const cJSON *labels;
    const cJSON *uid;
    const cJSON *service_links;
    const cJSON *host_network;
    const cJSON *host_pid;
    const cJSON *host_ipc;
    const cJSON *share_process_namespace;
    const cJSON *host_users;
    const cJSON *automount_token;
    const cJSON *security_node;
    const cJSON *resources;
    const cJSON *volume_list;
    const cJSON *lists[IMAGE_LIST_COUNT];
    struct security_context security;
    struct container *containers; /* initContainers, containers, ephemeralContainers */
    size_t container_count;
    struct volume *volumes; /* sorted by name and index */
    size_t volume_count;
};

struct reading {
    const struct boundary_question *question;
    struct arena *arena;
    struct pod pod;
    struct str *needles; /* the declared paths, as mounts.c searches them; NULL: not made yet */
    size_t needle_count;
    struct network_policy_labels
        labels; /* of the pod; made where policies are compared with them */
    struct boundary_finding *findings;
    size_t count;
    size_t capacity;
    size_t code_begin; /* the first finding of the code that is looked for */
    size_t more[BOUNDARY_CODE_COUNT];
};

/* ---- pod.c ---- */

int pod_read(struct reading *reading) __attribute__((warn_unused_result));

/* Whether a boolean field is there and has that value. */
static inline bool pod_says(const cJSON *field, bool value)
{
    return field != NULL && (field->type & 0xFF) == (value ? cJSON_True : cJSON_False);
}

/* `<before><field>[<index>]<rest>`; absent: out of memory. */
struct str pod_entry_place(struct arena *arena, struct str before, const char *field, size_t index,
                           const char *rest);

/* ---- mounts.c ---- */

int mounts_read_volumes(struct reading *reading) __attribute__((warn_unused_result));

/* For each mount of the container its volume, and of own containers whether it is admitted. */
int mounts_read(struct reading *reading, struct container *container)
    __attribute__((warn_unused_result));

/* ---- rules.c, egress.c: each adds the findings of one row ---- */

typedef int pod_rule(struct reading *reading, enum boundary_code code);
typedef int container_rule(struct reading *reading, enum boundary_code code,
                           const struct container *container);

/* At the container, or elsewhere; the place is kept. */
int reading_add(struct reading *reading, enum boundary_code code, struct str place)
    __attribute__((warn_unused_result));

pod_rule rule_env_undeclared, rule_service_links, rule_host_network, rule_host_namespace,
    rule_pod_host_process, rule_pod_token;
container_rule rule_env_unlisted, rule_env_from, rule_root_filesystem, rule_mount, rule_device,
    rule_host_port, rule_serves, rule_seccomp_unset, rule_unconfined, rule_privileged,
    rule_capabilities_kept, rule_capability_added, rule_escalation, rule_root_user, rule_cpu_limit,
    rule_memory_limit, rule_host_path, rule_proc, rule_token;

pod_rule rule_egress;

#endif
