/* SPDX-License-Identifier: Apache-2.0 */
/* overlay - a snapshot that has further NetworkPolicies. */
#include <assert.h>
#include <errno.h>
#include <stdint.h>

#include "k8s/snapshot/index.h"

static void release_base(void *base)
{
    snapshot_unref(base);
}

static int add_all(struct snapshot_builder *builder, const struct snapshot *base)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < base->namespace_count; i++)
        r = snapshot_builder_add_namespace(builder, base->namespaces[i]);
    for (size_t i = 0; r == 0 && i < base->all_count; i++)
        r = snapshot_builder_add_evidence(builder, base->all[i]);
    for (size_t i = 0; r == 0 && i < base->rest_count; i++)
        r = snapshot_builder_add_rest(builder, &base->rests[i]);
    return r;
}

static int add_policies(struct snapshot_builder *builder, const struct snapshot *base,
                        const struct network_policy *const *policies, size_t count)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++)
        r = snapshot_builder_add_network_policy(builder, policies[i]);
    for (size_t i = 0; r == 0 && i < base->network_policy_count; i++) {
        r = snapshot_builder_add_network_policy(builder, base->network_policies[i]);
        if (r == -EEXIST) /* a further one has its name */
            r = 0;
    }
    return r;
}

int snapshot_overlay(const struct snapshot *base, const struct network_policy *const *policies,
                     size_t count, bool read, struct snapshot **ret_snapshot)
{
    const struct snapshot_keep keep = {.object = snapshot_ref(base), .release = release_base};
    struct snapshot_builder *builder = NULL;
    struct snapshot *made = NULL;
    int r = snapshot_builder_new(&base->policy, keep, &builder);

    if (r < 0)
        return r;
    r = add_all(builder, base);
    if (r == 0)
        r = add_policies(builder, base, policies, count);
    if (read || base->network_policies_read)
        snapshot_builder_read_network_policies(builder);
    if (r == 0)
        r = snapshot_builder_finish(builder, &made);
    if (r < 0) {
        snapshot_builder_free(builder);
        return r;
    }
    assert(made != NULL);
    made->own_baseline_objects = base->own_baseline_objects; /* copies are counted in it */
    *ret_snapshot = made;
    return 0;
}
