/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codes - for each code its control, its state, what is wrong and what to write into the spec.
 */
#include <assert.h>
#include <errno.h>

#include "k8s/boundary/internal.h"

static const struct {
    const char *text;
    enum boundary_control control;
    enum boundary_state state;
} codes[BOUNDARY_CODE_COUNT] = {
#define X(name, text, control, state)                                                              \
    [BOUNDARY_CODE_##name] = {text, BOUNDARY_##control, BOUNDARY_##state},
    BOUNDARY_CODES(X)
#undef X
};

/* In a message `{}` is replaced by the name of a variable. */
static const struct {
    const char *message;
    const char *remedy;
} texts[BOUNDARY_CODE_COUNT] = {
    [BOUNDARY_CODE_ENV_UNDECLARED] = {"variables are set, but env_allowlist is not declared",
                                      "declare env_allowlist in the signed requirements"},
    [BOUNDARY_CODE_ENV_UNLISTED] = {"env_allowlist does not have the variable {}",
                                    "remove it, or have it declared and signed"},
    [BOUNDARY_CODE_ENV_UNSEEN] = {"the names of these variables are in a ConfigMap or Secret",
                                  "write each name into env, with valueFrom, instead of envFrom"},
    [BOUNDARY_CODE_ENV_SERVICE_LINKS] =
        {"the kubelet adds variables for each Service of the namespace",
         "set enableServiceLinks: false"},
    [BOUNDARY_CODE_FS_ROOT] = {"the root filesystem is writable",
                               "set the container's securityContext.readOnlyRootFilesystem: "
                               "true, and mount a volume below workingDir at each path of "
                               "writable_paths"},
    [BOUNDARY_CODE_FS_MOUNT] = {"no declared path and no baseline admits this writable mount",
                                "mount it below workingDir at a path of writable_paths, or set "
                                "readOnly: true, or add it to boundary.mounts of the baselines"},
    [BOUNDARY_CODE_FS_UNPLACED] = {"the working directory is not known, so this writable mount "
                                   "cannot be compared with writable_paths",
                                   "set workingDir of the container, to which writable_paths are "
                                   "relative"},
    [BOUNDARY_CODE_FS_DEVICE] = {"the container gets a block device", "remove volumeDevices"},
    [BOUNDARY_CODE_NETWORK_HOST] = {"the pod uses the network of its node", "remove hostNetwork"},
    [BOUNDARY_CODE_NETWORK_HOST_PORT] =
        {"network is declared false, and a port of the node is used",
         "remove hostPort, or have network: true signed"},
    [BOUNDARY_CODE_NETWORK_SERVES] = {"network is declared false, and this makes the container "
                                      "listen",
                                      "remove it, or use an exec handler, or have network: true "
                                      "signed"},
    [BOUNDARY_CODE_EGRESS_UNSEEN] = {"the gate does not read NetworkPolicies",
                                     "set boundary.networkPolicies: true in the gate's "
                                     "configuration, or give check the policies with -f"},
    [BOUNDARY_CODE_EGRESS_OPEN] = {"no NetworkPolicy limits what the pod can reach",
                                   "apply a NetworkPolicy with policyTypes: [Egress] that selects "
                                   "the pod; if it was just applied, try again"},
    [BOUNDARY_CODE_EGRESS_ANY] = {"this NetworkPolicy admits every destination, or cannot be read",
                                  "name the destinations in each of the policy's egress rules"},
    [BOUNDARY_CODE_EGRESS_SOME] = {"network is declared false, and this NetworkPolicy admits "
                                   "destinations, or cannot be read",
                                   "remove the policy's egress rules, or have network: true "
                                   "signed"},
    [BOUNDARY_CODE_SECCOMP_UNSET] = {"no seccomp profile is set",
                                     "set securityContext.seccompProfile.type: RuntimeDefault"},
    [BOUNDARY_CODE_SECCOMP_UNCONFINED] = {"no seccomp profile will be applied",
                                          "set securityContext.seccompProfile.type: "
                                          "RuntimeDefault, and do not set privileged: true"},
    [BOUNDARY_CODE_CAPABILITY_PRIVILEGED] =
        {"the container is privileged", "set the container's securityContext.privileged: false"},
    [BOUNDARY_CODE_CAPABILITY_KEPT] =
        {"not all capabilities are dropped",
         "set the container's securityContext.capabilities.drop: [ALL]"},
    [BOUNDARY_CODE_CAPABILITY_ADDED] = {"a capability is added",
                                        "remove it from securityContext.capabilities.add"},
    [BOUNDARY_CODE_CAPABILITY_ESCALATION] = {"a process can gain privileges",
                                             "set the container's securityContext."
                                             "allowPrivilegeEscalation: false"},
    [BOUNDARY_CODE_CAPABILITY_ROOT] = {"the user may be root",
                                       "set securityContext.runAsNonRoot: true, or runAsUser to "
                                       "another user than 0"},
    [BOUNDARY_CODE_RESOURCES_CPU] = {"no CPU limit is set", "set resources.limits.cpu"},
    [BOUNDARY_CODE_RESOURCES_MEMORY] = {"no memory limit is set", "set resources.limits.memory"},
    [BOUNDARY_CODE_HOST_NAMESPACE] = {"processes or IPC are shared with the node, or between the "
                                      "containers",
                                      "remove hostPID, hostIPC and shareProcessNamespace"},
    [BOUNDARY_CODE_HOST_PATH] = {"a path of the node is mounted",
                                 "use a volume that is no hostPath"},
    [BOUNDARY_CODE_HOST_PROC] = {"procMount or windowsOptions.hostProcess lifts the isolation",
                                 "remove procMount and windowsOptions.hostProcess"},
    [BOUNDARY_CODE_HOST_TOKEN] = {"a credential of the API is mounted",
                                  "set automountServiceAccountToken: false, and mount no "
                                  "projected token or certificate"},
};

static bool is_code(enum boundary_code code)
{
    return (unsigned)code < BOUNDARY_CODE_COUNT;
}

const char *boundary_code_text(enum boundary_code code)
{
    return is_code(code) ? codes[code].text : "boundary.unknown";
}

const char *boundary_code_hint(enum boundary_code code)
{
    assert(is_code(code));
    return texts[code].remedy;
}

const char *boundary_state_text(enum boundary_state state)
{
    static const char *const states[] = {
        [BOUNDARY_UNREAD] = "unread",
        [BOUNDARY_HELD] = "held",
        [BOUNDARY_UNKNOWN] = "unknown",
        [BOUNDARY_OPEN] = "open",
        [BOUNDARY_CONTRADICTED] = "contradicted",
    };

    return (unsigned)state < sizeof(states) / sizeof(states[0]) ? states[state] : "unread";
}

enum boundary_control boundary_code_control(enum boundary_code code)
{
    assert(is_code(code));
    return codes[code].control;
}

enum boundary_state boundary_code_state(enum boundary_code code)
{
    assert(is_code(code));
    return codes[code].state;
}

int boundary_message(const struct boundary_finding *finding, struct arena *arena,
                     struct str *ret_message)
{
    const char *message = NULL, *mark = NULL;
    struct str name = str_present(finding->name) ? finding->name : STR("?");
    struct str s = {0};

    assert(is_code(finding->code) && texts[finding->code].message != NULL);
    message = texts[finding->code].message;
    mark = strstr(message, "{}");
    if (mark == NULL)
        s = arena_format(arena, "%s; %s", message, texts[finding->code].remedy);
    else
        s = arena_format(arena, "%.*s%.*s%s; %s", (int)(mark - message), message, (int)name.len,
                         name.ptr, mark + 2, texts[finding->code].remedy);
    if (!str_present(s))
        return -ENOMEM;
    *ret_message = s;
    return 0;
}
