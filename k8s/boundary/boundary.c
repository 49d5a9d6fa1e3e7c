/* SPDX-License-Identifier: Apache-2.0 */
/* boundary - the rules in their order, and what they say about each control. */
#include "k8s/boundary/boundary.h"

#include <assert.h>
#include <string.h>

#include "k8s/boundary/internal.h"

/* Which containers a rule is asked about. */
enum which {
    NO_CONTAINER = 0,
    OWN_CONTAINERS,
    ALL_CONTAINERS,
};

/* A row a code, in the order of section 3. The rule about the pod comes first. */
static const struct {
    enum boundary_code code;
    pod_rule *pod;
    enum which which;
    container_rule *container;
} rules[] = {
    {BOUNDARY_CODE_ENV_UNDECLARED, rule_env_undeclared, NO_CONTAINER, NULL},
    {BOUNDARY_CODE_ENV_UNLISTED, NULL, OWN_CONTAINERS, rule_env_unlisted},
    {BOUNDARY_CODE_ENV_UNSEEN, NULL, OWN_CONTAINERS, rule_env_from},
    {BOUNDARY_CODE_ENV_SERVICE_LINKS, rule_service_links, NO_CONTAINER, NULL},
    {BOUNDARY_CODE_FS_ROOT, NULL, OWN_CONTAINERS, rule_root_filesystem},
    {BOUNDARY_CODE_FS_MOUNT, NULL, OWN_CONTAINERS, rule_mount},
    {BOUNDARY_CODE_FS_UNPLACED, NULL, OWN_CONTAINERS, rule_mount},
    {BOUNDARY_CODE_FS_DEVICE, NULL, OWN_CONTAINERS, rule_device},
    {BOUNDARY_CODE_NETWORK_HOST, rule_host_network, NO_CONTAINER, NULL},
    {BOUNDARY_CODE_NETWORK_HOST_PORT, NULL, ALL_CONTAINERS, rule_host_port},
    {BOUNDARY_CODE_NETWORK_SERVES, NULL, OWN_CONTAINERS, rule_serves},
    {BOUNDARY_CODE_EGRESS_UNSEEN, rule_egress, NO_CONTAINER, NULL},
    {BOUNDARY_CODE_EGRESS_OPEN, rule_egress, NO_CONTAINER, NULL},
    {BOUNDARY_CODE_EGRESS_ANY, rule_egress, NO_CONTAINER, NULL},
    {BOUNDARY_CODE_EGRESS_SOME, rule_egress, NO_CONTAINER, NULL},
    {BOUNDARY_CODE_SECCOMP_UNSET, NULL, ALL_CONTAINERS, rule_seccomp_unset},
    {BOUNDARY_CODE_SECCOMP_UNCONFINED, NULL, ALL_CONTAINERS, rule_unconfined},
    {BOUNDARY_CODE_CAPABILITY_PRIVILEGED, NULL, ALL_CONTAINERS, rule_privileged},
    {BOUNDARY_CODE_CAPABILITY_KEPT, NULL, ALL_CONTAINERS, rule_capabilities_kept},
    {BOUNDARY_CODE_CAPABILITY_ADDED, NULL, ALL_CONTAINERS, rule_capability_added},
    {BOUNDARY_CODE_CAPABILITY_ESCALATION, NULL, ALL_CONTAINERS, rule_escalation},
    {BOUNDARY_CODE_CAPABILITY_ROOT, NULL, ALL_CONTAINERS, rule_root_user},
    {BOUNDARY_CODE_RESOURCES_CPU, NULL, ALL_CONTAINERS, rule_cpu_limit},
    {BOUNDARY_CODE_RESOURCES_MEMORY, NULL, ALL_CONTAINERS, rule_memory_limit},
    {BOUNDARY_CODE_HOST_NAMESPACE, rule_host_namespace, NO_CONTAINER, NULL},
    {BOUNDARY_CODE_HOST_PATH, NULL, ALL_CONTAINERS, rule_host_path},
    {BOUNDARY_CODE_HOST_PROC, rule_pod_host_process, ALL_CONTAINERS, rule_proc},
    {BOUNDARY_CODE_HOST_TOKEN, rule_pod_token, OWN_CONTAINERS, rule_token},
};

static_assert(sizeof(rules) / sizeof(rules[0]) == BOUNDARY_CODE_COUNT, "one row a code");

static int run(struct reading *reading, size_t row)
{
    const struct pod *pod = &reading->pod;
    int r = 0;

    reading->code_begin = reading->count;
    if (rules[row].pod != NULL)
        r = rules[row].pod(reading, rules[row].code);

    if (rules[row].which == NO_CONTAINER)
        return r;
    for (size_t i = 0; r == 0 && i < pod->container_count; i++) {
        const struct container *c = &pod->containers[i];

        if (rules[row].which == ALL_CONTAINERS || c->own)
            r = rules[row].container(reading, rules[row].code, c);
    }
    return r;
}

int boundary_read(const struct boundary_question *question, struct arena *arena,
                  struct boundary *ret_boundary)
{
    struct reading reading = {.question = question, .arena = arena};
    struct boundary result = {0};
    int r = pod_read(&reading);

    for (size_t i = 0; r == 0 && i < BOUNDARY_CODE_COUNT; i++)
        r = run(&reading, i);
    if (r < 0)
        return r;
    for (size_t i = 0; i < BOUNDARY_CONTROL_COUNT; i++)
        result.states[i] = BOUNDARY_HELD;
    for (size_t i = 0; i < reading.count; i++) {
        enum boundary_state *state =
            &result.states[boundary_code_control(reading.findings[i].code)];

        if (boundary_code_state(reading.findings[i].code) > *state)
            *state = boundary_code_state(reading.findings[i].code);
    }
    memcpy(result.more, reading.more, sizeof(result.more));
    result.findings = reading.findings;
    result.finding_count = reading.count;
    *ret_boundary = result;
    return 0;
}
