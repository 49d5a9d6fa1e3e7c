/* SPDX-License-Identifier: Apache-2.0 */
/* egress - the rows of section 3 about network policies. */
#include <errno.h>

#include "k8s/boundary/internal.h"

#define POLICY_PLACE "networkpolicy/"

/* The next policy from *index on that selects the pod; NULL: no further one. */
static const struct network_policy *next_policy(const struct reading *reading, size_t *index)
{
    const struct boundary_question *question = reading->question;

    while (*index < question->policy_count) {
        const struct network_policy *policy = question->policies[(*index)++];

        if (network_policy_selects(policy, &reading->labels))
            return policy;
    }
    return NULL;
}

static int add_policies(struct reading *reading, enum boundary_code code)
{
    const struct boundary_question *question = reading->question;
    const struct network_policy *policy = NULL;
    size_t index = 0;

    while ((policy = next_policy(reading, &index)) != NULL) {
        bool found = question->declared.network ? policy->egress_any : policy->egress_rules;
        struct str place = {0};
        int r = 0;

        if (!found)
            continue;
        place = arena_format(reading->arena, POLICY_PLACE "%.*s", (int)policy->name.len,
                             policy->name.ptr);
        r = str_present(place) ? reading_add(reading, code, place) : -ENOMEM;
        if (r < 0)
            return r;
    }
    return 0;
}

int rule_egress(struct reading *reading, enum boundary_code code)
{
    const struct boundary_question *question = reading->question;
    size_t index = 0;

    if (!question->policies_read)
        return code == BOUNDARY_CODE_EGRESS_UNSEEN ? reading_add(reading, code, STR("")) : 0;
    if (code == BOUNDARY_CODE_EGRESS_UNSEEN)
        return 0;
    /* Kubernetes leaves undefined whether policies hold for pods on the network of the node */
    if (pod_says(reading->pod.host_network, true))
        return code == BOUNDARY_CODE_EGRESS_OPEN ? reading_add(reading, code, STR("")) : 0;
    if (code != BOUNDARY_CODE_EGRESS_OPEN &&
        question->declared.network != (code == BOUNDARY_CODE_EGRESS_ANY))
        return 0;
    if (code != BOUNDARY_CODE_EGRESS_OPEN)
        return add_policies(reading, code);
    return next_policy(reading, &index) == NULL ? reading_add(reading, code, STR("")) : 0;
}
