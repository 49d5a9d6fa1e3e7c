/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_BOUNDARY_BOUNDARY_H
#define K8S_BOUNDARY_BOUNDARY_H

/*
 * boundary - reads a pod's own spec back, and puts it beside what was declared for it
 * (boundary-v1).
 *
 * Pure: the pod, the declaration, what baselines admit and the network policies in, states and
 * findings out. It is a reading of what was asked for, not of a running process. Names of variables
 * are read, never their values; arguments and commands are not read.
 *
 * Errors     0 or -ENOMEM. A field that cannot be read counts as absent.
 * Ownership  findings live in the arena of the call; texts are borrowed from the pod, or live in
 *            that arena. The pod must outlive them.
 * Threads    any number, each with its own arena.
 */

#include <stdbool.h>
#include <stddef.h>

#include "k8s/network_policy/network_policy.h"
#include "k8s/policy/boundary_level.h"
#include "k8s/review/workload.h"
#include "planner/base/arena.h"
#include "planner/base/list.h"
#include "planner/base/text.h"
#include "planner/plan.h"

/* From the best to the worst. 0 is not a state: what was not read is not held. */
enum boundary_state {
    BOUNDARY_UNREAD = 0,
    BOUNDARY_HELD,         /* no finding */
    BOUNDARY_UNKNOWN,      /* it cannot be told from here */
    BOUNDARY_OPEN,         /* nobody was asked to hold it */
    BOUNDARY_CONTRADICTED, /* the pod asks for more than was declared */
};

/* In the order of the table of section 3. X(name, text, control, state) */
#define BOUNDARY_CODES(X)                                                                          \
    X(ENV_UNDECLARED, "boundary.env.undeclared", ENVIRONMENT, OPEN)                                \
    X(ENV_UNLISTED, "boundary.env.unlisted", ENVIRONMENT, CONTRADICTED)                            \
    X(ENV_UNSEEN, "boundary.env.unseen", ENVIRONMENT, UNKNOWN)                                     \
    X(ENV_SERVICE_LINKS, "boundary.env.service_links", ENVIRONMENT, OPEN)                          \
    X(FS_ROOT, "boundary.fs.root", FILESYSTEM, OPEN)                                               \
    X(FS_MOUNT, "boundary.fs.mount", FILESYSTEM, CONTRADICTED)                                     \
    X(FS_UNPLACED, "boundary.fs.unplaced", FILESYSTEM, UNKNOWN)                                    \
    X(FS_DEVICE, "boundary.fs.device", FILESYSTEM, CONTRADICTED)                                   \
    X(NETWORK_HOST, "boundary.network.host", NETWORK, CONTRADICTED)                                \
    X(NETWORK_HOST_PORT, "boundary.network.host_port", NETWORK, CONTRADICTED)                      \
    X(NETWORK_SERVES, "boundary.network.serves", NETWORK, CONTRADICTED)                            \
    X(EGRESS_UNSEEN, "boundary.egress.unseen", EGRESS, UNKNOWN)                                    \
    X(EGRESS_OPEN, "boundary.egress.open", EGRESS, OPEN)                                           \
    X(EGRESS_ANY, "boundary.egress.any", EGRESS, OPEN)                                             \
    X(EGRESS_SOME, "boundary.egress.some", EGRESS, OPEN)                                           \
    X(SECCOMP_UNSET, "boundary.seccomp.unset", SYSCALLS, OPEN)                                     \
    X(SECCOMP_UNCONFINED, "boundary.seccomp.unconfined", SYSCALLS, OPEN)                           \
    X(CAPABILITY_PRIVILEGED, "boundary.capability.privileged", CAPABILITIES, OPEN)                 \
    X(CAPABILITY_KEPT, "boundary.capability.kept", CAPABILITIES, OPEN)                             \
    X(CAPABILITY_ADDED, "boundary.capability.added", CAPABILITIES, OPEN)                           \
    X(CAPABILITY_ESCALATION, "boundary.capability.escalation", CAPABILITIES, OPEN)                 \
    X(CAPABILITY_ROOT, "boundary.capability.root", CAPABILITIES, OPEN)                             \
    X(RESOURCES_CPU, "boundary.resources.cpu", RESOURCES, OPEN)                                    \
    X(RESOURCES_MEMORY, "boundary.resources.memory", RESOURCES, OPEN)                              \
    X(HOST_NAMESPACE, "boundary.host.namespace", ISOLATION, OPEN)                                  \
    X(HOST_PATH, "boundary.host.path", ISOLATION, OPEN)                                            \
    X(HOST_PROC, "boundary.host.proc", ISOLATION, OPEN)                                            \
    X(HOST_TOKEN, "boundary.host.token", ISOLATION, OPEN)

enum boundary_code {
#define X(name, text, control, state) BOUNDARY_CODE_##name,
    BOUNDARY_CODES(X)
#undef X
        BOUNDARY_CODE_COUNT
};

/* What the pod is read against. */
struct boundary_question {
    const struct workload *pod;
    /* for each of pod->images: it is of a container whose image a baseline lists and the workload
     * itself does not (section 1) */
    const bool *sidecars;
    struct plan_declaration declared;
    struct str_list mounts; /* at or beneath which baselines admit writable mounts */
    bool policies_read;     /* false: network policies are not read here */
    const struct network_policy *const *policies; /* of the pod's namespace, bytewise by name */
    size_t policy_count;
};

struct boundary_finding {
    enum boundary_code code;
    struct str place; /* the path in the object; never absent, "" where the table has none */
    struct str name;  /* of a variable that the message may show; absent: none */
};

/* Findings of one code that are kept; further ones are only counted. More than the annotation, a
 * message or a person can take: a pod has as many as its author likes. */
#define BOUNDARY_MAX_FINDINGS_PER_CODE 1000

struct boundary {
    enum boundary_state states[BOUNDARY_CONTROL_COUNT];
    const struct boundary_finding *findings; /* in the order of section 3 */
    size_t finding_count;
    size_t more[BOUNDARY_CODE_COUNT]; /* behind those that are kept */
};

int boundary_read(const struct boundary_question *question, struct arena *arena,
                  struct boundary *ret_boundary) __attribute__((warn_unused_result, nonnull));

/* The most bytes of the audit annotation, as buffer_audit_size() counts. */
#define BOUNDARY_MAX_AUDIT_BYTES 6144

/* The audit annotation `boundary` (section 4): compact JSON, shortened to the limit. */
int boundary_write(const struct boundary *boundary, struct arena *arena, struct str *ret_json)
    __attribute__((warn_unused_result, nonnull));

/* The message of a finding: `what is wrong; what to do`. */
int boundary_message(const struct boundary_finding *finding, struct arena *arena,
                     struct str *ret_message) __attribute__((warn_unused_result, nonnull));

/* Static texts, never NULL. A hint is what to do about findings of this code in general. */
const char *boundary_code_text(enum boundary_code code);
const char *boundary_code_hint(enum boundary_code code);
const char *boundary_state_text(enum boundary_state state);

enum boundary_control boundary_code_control(enum boundary_code code);
enum boundary_state boundary_code_state(enum boundary_code code);

#endif
